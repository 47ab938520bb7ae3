/** Addresses in the web console. */
import { Aws, CfnMapping } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/**
 * The console's domain in each partition.
 * @see https://docs.amazonaws.cn/en_us/aws/latest/userguide/endpoints-Beijing.html
 * @see https://docs.aws.amazon.com/govcloud-us/latest/UserGuide/using-govcloud-console.html
 */
const DOMAINS = {
  aws: { domain: 'console.aws.amazon.com' },
  'aws-cn': { domain: 'console.amazonaws.cn' },
  'aws-us-gov': { domain: 'console.amazonaws-us-gov.com' },
};

/** `https://REGION.DOMAIN` of the stack's own region and partition. */
export function consoleUrl(scope: Construct): string {
  const consoles = new CfnMapping(scope, 'Consoles', { mapping: DOMAINS });
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
