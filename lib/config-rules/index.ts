/** AWS's rules as data, each with its source. docs/aws-rules.md is written from them. */
import type { ServingConfig } from '../config.ts';
import { APP_RULES } from './app-rules.ts';
import { COMPONENT_RULES } from './component-rules.ts';
import { ENDPOINT_RULES } from './endpoint-rules.ts';
import type { Finding, Rule } from './rule.ts';

export type { Finding, Rule } from './rule.ts';

/** Every rule, in the order of the documents. */
export const AWS_RULES: readonly Rule[] = [...APP_RULES, ...ENDPOINT_RULES, ...COMPONENT_RULES];

/** A finding with the rule that it breaks. */
export type BrokenRule = Finding & { readonly rule: Rule };

/** What AWS would refuse of a configuration. */
export function brokenRules(config: ServingConfig): BrokenRule[] {
  return AWS_RULES.flatMap((rule) => rule.check(config).map((finding) => ({ ...finding, rule })));
}
