/** Reads `serving.config.ts`: its fields by the schema, their combinations by AWS's rules. */
import type * as z from 'zod';
import { configSchema, type ServingConfig } from './config.ts';
import { configWords } from './config-words.ts';
import { ConfigurationError } from './errors.ts';
import { type BrokenRule, brokenRules } from './rules/index.ts';

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
  const result = configSchema.safeParse(config, { error: configWords });
  const lines = result.success
    ? brokenRules(result.data).map(explainRule)
    : result.error.issues.flatMap((issue) => explain(issue, []));
  if (result.success && lines.length === 0) {
    sources.set(result.data, source);
    return result.data;
  }
  throw new ConfigurationError(`${source} is wrong:\n${lines.join('\n')}`);
}

/** A line for an issue; of a union, the lines of the variant that is wrong in the fewest places. */
function explain(issue: z.core.$ZodIssue, parents: readonly PropertyKey[]): string[] {
  const path = [...parents, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const [closest = []] = [...issue.errors].sort((a, b) => weight(a) - weight(b));
    return closest.flatMap((inner) => explain(inner, path));
  }
  // The rule of names says what is wrong with a field's name.
  const rules = issue.code === 'invalid_key' ? issue.issues : [issue];
  return rules.map(({ message }) => `  ${fieldName(path)}: ${message}`);
}

/** Unknown fields weigh more than wrong values: they mean that another variant was intended. */
function weight(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, { code }) => sum + (code === 'unrecognized_keys' ? 2 : 1), 0);
}

function fieldName(path: readonly PropertyKey[]): string {
  const text = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('');
  return text.replace(/^\./, '') || '(the configuration)';
}

function explainRule({ path, problem, fix, rule }: BrokenRule): string {
  return `  ${path}: ${problem}. ${fix} (${rule.source})`;
}
