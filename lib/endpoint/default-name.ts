/** Names of endpoints that nobody has named, and the ARNs of those that somebody has. */
import { Names, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { shortDigest } from '../hashing/short-digest.ts';

/** Longest name of an endpoint. */
export const MAX_ENDPOINT_NAME = 63;

/**
 * A name from the stack's and the construct's path, wholly in lower case: IAM compares ARNs by letter case, and AWS says
 * nowhere whether ARNs keep the capitals of names. Names of earlier releases ended in another hash, in capitals, and
 * differ in more than case: SageMaker may take two cases of a name for one.
 * @param most characters of the name, with the suffix
 */
export function defaultName(scope: Construct, most: number, suffix: string): string {
  const separator = '-';
  const whole = Names.uniqueResourceName(scope, { maxLength: 256, separator });
  const maxLength = most - suffix.length;
  const start = Names.uniqueResourceName(scope, { maxLength, separator });
  const path = start.replace(/-?[0-9A-F]{8}$/, '').slice(0, maxLength - 9);
  return `${path}-${shortDigest(whole)}${suffix}`.toLowerCase();
}

/**
 * The ARN with the name as it is, and in lower case, once if they are alike. Endpoints' ARNs were seen in lower case, and
 * with capitals, too.
 * @see https://github.com/philschmid/cdk-samples/issues/2
 * @see https://github.com/prometheus-community/yet-another-cloudwatch-exporter/pull/1793
 * @param arn which ends in the name, in any case
 */
export function spellings(arn: string, name: string): string[] {
  if (Token.isUnresolved(name)) return [arn];
  const before = arn.slice(0, arn.length - name.length);
  return [...new Set([name.toLowerCase(), name])].map((one) => before + one);
}
