/** Reads `serving.config.ts`: its fields by the schema, their combinations by AWS's rules. */
import { fieldWords, wrongFields } from '@sagemaker-tfs/manifest';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { configSchema, type ServingConfig } from './config.ts';
import { type BrokenRule, brokenRules } from './config-rules/index.ts';
import { ConfigurationError } from './errors.ts';

const sources = new WeakMap<ServingConfig, string>();

/** Where a configuration came from; undefined for one that was not parsed. */
export function sourceOf(config: ServingConfig): string | undefined {
  return sources.get(config);
}

/**
 * Checks a configuration, by the schema and by AWS's rules.
 * @param source where it came from, for the message
 * @throws with a line for each field that is wrong
 */
export function parseConfig(config: unknown, source: string): ServingConfig {
  const result = configSchema.safeParse(config, { error: fieldWords });
  const lines = result.success
    ? brokenRules(result.data).map(explainRule)
    : wrongFields(result.error, '(the configuration)').map((line) => `  ${sentence(line)}`);
  if (result.success && lines.length === 0) {
    sources.set(result.data, source);
    return result.data;
  }
  throw new ConfigurationError(`${source} is wrong:\n${lines.join('\n')}`);
}

function explainRule({ path, problem, fix, rule }: BrokenRule): string {
  return `  ${path}: ${problem}. ${fix} (${rule.source})`;
}
