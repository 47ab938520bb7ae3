/** ARNs of a configuration, and the partition of AWS that they are of. */
import { RegionInfo } from 'aws-cdk-lib/region-info';
import type { ServingConfig } from '../config.ts';
import { partitionProblem } from '../rules/partition.ts';
import { at, type Rule } from './rule.ts';

/** Fields whose texts are the user's own, and no policy names them. */
const FREE: ReadonlySet<string> = new Set(['environment', 'tags']);

/** Every ARN below a value, with its path. */
function* arnsOf(value: unknown, path: string): Generator<readonly [path: string, arn: string]> {
  if (typeof value === 'string') {
    if (/^arn:[a-z-]+:/.test(value)) yield [path, value];
  } else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield* arnsOf(item, `${path}[${i}]`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      if (!FREE.has(name)) yield* arnsOf(item, path === '' ? name : `${path}.${name}`);
    }
  }
}

/** What is deployed to each environment: its own fields stand in place of those for all. */
function* placesOf({ environments = [], ...all }: ServingConfig) {
  for (const [i, environment] of environments.entries()) {
    const others = Object.entries(all).filter(
      ([field]) => (environment as Readonly<Record<string, unknown>>)[field] === undefined,
    );
    const shared = [...arnsOf(Object.fromEntries(others), '')];
    yield { environment, arns: [...shared, ...arnsOf(environment, `environments[${i}]`)] };
  }
}

export const PARTITION_RULE: Rule = {
  id: 'arns-of-the-partition',
  says: 'ARNs begin with the partition of their region: aws, aws-cn in China, aws-us-gov in GovCloud.',
  source: 'https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html',
  check: (config) =>
    [...placesOf(config)].flatMap(({ environment: { name, region }, arns }) => {
      const partition = RegionInfo.get(region).partition;
      if (partition === undefined || partitionProblem(region)) return [];
      return arns.flatMap(([path, arn]) => {
        const own = arn.split(':')[1];
        if (own === partition) return [];
        return at(path, {
          problem: `the ARN is of the partition '${own}', and '${name}' is in ${region}, in '${partition}'`,
          fix: `Give an ARN that begins with arn:${partition}:`,
        });
      });
    }),
};

export const PARTITIONS_RULE: Rule = {
  id: 'partitions',
  says: 'Regions are of AWS itself, of its China regions or of GovCloud (US), not of the European Sovereign Cloud or another partition.',
  source:
    'https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html',
  check: ({ environments = [] }) =>
    environments.flatMap(({ region }, i) =>
      at(`environments[${i}].region`, partitionProblem(region)),
    ),
};
