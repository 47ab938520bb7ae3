/**
 * What SageMaker offers in a region, out of AWS's price list and CloudFormation's registry
 * (`test/service-models/extract_cloudformation.py` writes the table). Regions get new types every month: what the
 * table lacks may be there by now, so it warns and refuses nothing.
 */
import { nearestName } from '@sagemaker-tfs/manifest';
import { Annotations, Stack, Token } from 'aws-cdk-lib/core';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import type { Construct } from 'constructs';
import type { InstanceUse } from './instance-type.ts';
import table from './regions.json';

/** What is known of one region. */
interface RegionFacts {
  /** Types for endpoints and transform jobs, SageMaker's names. */
  readonly types: Readonly<Record<InstanceUse, readonly string[]>>;
  /** Whether CloudFormation makes endpoints; undefined: not known. */
  readonly endpoints?: boolean;
  /** Whether CloudFormation makes inference components; undefined: not known. */
  readonly inferenceComponents?: boolean;
}

type Row = (typeof table.regions)[keyof typeof table.regions];

/** When the table was read, and from what. */
export const REGIONS_SOURCE = table.source;

/** Every region of the table. */
export const REGIONS: readonly string[] = Object.keys(table.regions);

/** What is known of a region; undefined for a region that the table lacks. */
export function regionFacts(region: string): RegionFacts | undefined {
  const row = (table.regions as Readonly<Record<string, Row>>)[region];
  if (!row) return undefined;
  const { endpoint, transform, ...facts } = row;
  return { types: { endpoint: full(endpoint), transform: full(transform) }, ...facts };
}

const full = (names: string) =>
  names
    .split(' ')
    .filter(Boolean)
    .map((name) => `ml.${name}`);

/** What to take instead: types that are there in the most regions. */
const ALTERNATIVES = ['ml.g4dn.xlarge', 'ml.g5.xlarge', 'ml.g6.xlarge', 'ml.c6i.xlarge'];

const USES = { endpoint: 'endpoints', transform: 'transform jobs' } as const;

/** Why a type may not be had in a region; undefined if it is in the table, or the region is not. */
export function regionDoubt(
  region: string,
  use: InstanceUse,
  instanceType: string,
): string | undefined {
  const types = regionFacts(region)?.types[use];
  if (!types || types.includes(instanceType)) return undefined;
  const others = ALTERNATIVES.filter((type) => types.includes(type));
  const instead = others.length > 0 ? `It has ${others.join(', ')}` : 'Use another region';
  return `AWS's price list of ${REGIONS_SOURCE.asOf} has no ${instanceType} for ${USES[use]} in ${region}, so the deployment may be refused. ${instead}`;
}

/** What to say of a region that neither the table nor the CDK knows; undefined if one of them does. */
function misspelledRegion(region: string): string | undefined {
  const known = RegionInfo.regions.map(({ name }) => name);
  if (REGIONS.includes(region) || known.includes(region)) return undefined;
  const meant = nearestName(region, [...REGIONS, ...known]);
  const advice = meant === undefined ? 'Check its name' : `Did you mean ${meant}?`;
  return `no region is named '${region}', unless it is newer than this version of the CDK. ${advice}`;
}

/**
 * Says at synth where a stack's region may not have a type, or where nothing is known of the region.
 * @param isLast whether nothing else is tried: a warning then, else a remark
 */
export function checkRegion(
  scope: Construct,
  prop: string,
  use: InstanceUse,
  instanceType: string,
  isLast = true,
): void {
  const { region } = Stack.of(scope);
  if (Token.isUnresolved(region) || Token.isUnresolved(instanceType)) return;
  const annotations = Annotations.of(scope);
  const facts = regionFacts(region);
  if (!facts) {
    const misspelled = misspelledRegion(region);
    if (misspelled) annotations.addWarningV2('@sagemaker-tfs/cdk:unknownRegion', misspelled);
    else annotations.addInfo(`${prop}: which instance types ${region} has is not known here`);
    return;
  }
  const doubt = regionDoubt(region, use, instanceType);
  if (doubt && isLast) {
    annotations.addWarningV2('@sagemaker-tfs/cdk:typeInRegion', `${prop}: ${doubt}`);
  } else if (doubt) annotations.addInfo(`${prop}: ${doubt}`);
  if (use === 'endpoint' && facts.endpoints === false) {
    annotations.addWarningV2(
      '@sagemaker-tfs/cdk:endpointsInRegion',
      `CloudFormation's registry of ${REGIONS_SOURCE.asOf} has no AWS::SageMaker::EndpointConfig in ${region}, so the deployment may be refused. Use another region`,
    );
  }
}
