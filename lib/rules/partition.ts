/** Partitions of AWS that are known here. */
import { RegionInfo } from 'aws-cdk-lib/region-info';
import type { Problem } from '../problem.ts';

/**
 * The console's domain in each.
 * @see https://docs.amazonaws.cn/en_us/aws/latest/userguide/endpoints-Beijing.html
 * @see https://docs.aws.amazon.com/govcloud-us/latest/UserGuide/using-govcloud-console.html
 */
export const CONSOLES = {
  aws: { domain: 'console.aws.amazon.com' },
  'aws-cn': { domain: 'console.amazonaws.cn' },
  'aws-us-gov': { domain: 'console.amazonaws-us-gov.com' },
};

/**
 * A region of another partition: the European Sovereign Cloud, or one of those that are cut off from the Internet. Their
 * addresses end in names that are not known here. No problem if the CDK does not know the region.
 */
export function partitionProblem(region: string): Problem {
  const { partition } = RegionInfo.get(region);
  if (partition === undefined || partition in CONSOLES) return undefined;
  return {
    problem: `${region} is in the partition '${partition}', which is not supported`,
    fix: `Name a region of ${Object.keys(CONSOLES).join(', ')}`,
  };
}
