/** Addresses in the web console. */
import { Aws, CfnMapping, Stack, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { CONSOLES, partitionProblem } from '../rules/partition.ts';
import { refuseProblem } from '../validation.ts';

/** `https://REGION.DOMAIN` of the stack's own region and partition. */
export function consoleUrl(scope: Construct): string {
  const { region } = Stack.of(scope);
  if (!Token.isUnresolved(region)) refuseProblem(scope, 'env.region', partitionProblem(region));
  const consoles = new CfnMapping(scope, 'Consoles', { mapping: CONSOLES });
  return `https://${Aws.REGION}.${consoles.findInMap(Aws.PARTITION, 'domain')}`;
}

/**
 * The console's page of a log group. The page encodes the name twice, and writes `$` for the `%` of the result.
 * @param console as {@link consoleUrl} returns it
 */
export function logsUrl(console: string, logGroupName: string): string {
  const name = encodeURIComponent(encodeURIComponent(logGroupName)).replaceAll('%', '$');
  return `${console}/cloudwatch/home?region=${Aws.REGION}#logsV2:log-groups/log-group/${name}`;
}
