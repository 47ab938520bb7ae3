/**
 * Families of instances that EC2 has in a region, out of AWS's price list (`test/service-models/extract_cloudformation.py`
 * writes the table). AWS Batch refuses a whole compute environment for one type that its region lacks.
 * @see https://github.com/aws/amazon-genomics-cli/issues/209
 */
import { Annotations, Stack, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import table from './ec2-regions.json';

/** Families that a stack's region has; undefined if the region is not known. */
function familiesIn(scope: Construct): readonly string[] | undefined {
  const { region } = Stack.of(scope);
  if (Token.isUnresolved(region)) return undefined;
  return (table.regions as Readonly<Record<string, string>>)[region]?.split(' ');
}

const familyOf = (type: string) => type.split('.')[0] ?? '';

/**
 * The first of these types that the stack's region has; if there is none, or the region is not known, the first of `anywhere`.
 * @param most types
 */
export function typesThere(
  scope: Construct,
  types: readonly string[],
  anywhere: readonly string[],
  most: number,
): readonly string[] {
  const families = familiesIn(scope);
  const there = types.filter((type) => families?.includes(familyOf(type)));
  return there.length > 0 ? there.slice(0, most) : anywhere;
}

/** Warns of a type that the stack's region may not have. Regions get new types every month, so nothing is refused. */
export function checkTypeThere(scope: Construct, prop: string, type: string): void {
  const families = familiesIn(scope);
  if (!families || families.includes(familyOf(type))) return;
  const { region } = Stack.of(scope);
  Annotations.of(scope).addWarningV2(
    '@sagemaker-tfs/cdk:workerTypeInRegion',
    `${prop}: EC2's price list of ${table.source.asOf} has no ${type} in ${region}, and AWS Batch refuses all types if one is not there. Name types that aws ec2 describe-instance-type-offerings --region ${region} lists`,
  );
}
