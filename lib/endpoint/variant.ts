/** One production or shadow variant of an endpoint: a model on instances, or serverless. */
import { SAGEMAKER_NAME } from '@sagemaker-tfs/batch';
import { hasLocalStorage } from '@sagemaker-tfs/batch/instance-types';
import { nearestName } from '@sagemaker-tfs/manifest';
import type { CfnEndpointConfig } from 'aws-cdk-lib/aws-sagemaker';
import { type Duration, type Size, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { InvalidProp } from '../errors.ts';
import { warnOfIdleGpu } from '../image-platform.ts';
import { chooseAmi } from '../inference-ami.ts';
import { hasGpu } from '../instance-types/index.ts';
import { checkRegion } from '../instance-types/regions.ts';
import type { IModel } from '../model.ts';
import { typesProblem } from '../rules/combinations.ts';
import { archiveProblem, serverlessProblem } from '../rules/serverless.ts';
import { checkInteger, checkRange, invalidProp, refuseProblem } from '../validation.ts';
import type { ScalingProps } from './autoscaling.ts';
import { type InstancePool, renderPools } from './instance-pools.ts';
import { renderServerless, type ServerlessProps } from './serverless.ts';
import { type StartTimes, startTimes } from './start-times.ts';

/** Props of a variant. */
export interface VariantProps extends StartTimes {
  /** The model that this variant serves. */
  readonly model: IModel;
  /**
   * Name of the variant, used by requests that address it and as a dimension of metrics.
   * @default - 'AllTraffic' for a single variant; required for several
   */
  readonly variantName?: string;
  /**
   * Share of the requests, relative to the other variants' weights.
   * @default 1
   */
  readonly weight?: number;
  /**
   * SageMaker's name of the instance type. Not with `serverless`.
   * @default 'ml.g4dn.xlarge'
   */
  readonly instanceType?: string;
  /**
   * Instance types in order of preference, at most five, in place of `instanceType`. SageMaker takes the next where it has
   * no instances of one, at the start and whenever it adds instances.
   * @see https://docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints-heterogeneous.html
   * @default - one type
   */
  readonly instancePools?: readonly InstancePool[];
  /**
   * How long SageMaker looks for instances, in all pools together, 5-60 minutes. Loading is not counted.
   * @default - SageMaker's own
   */
  readonly provisioningTimeout?: Duration;
  /**
   * ARN of a reservation; the variant then uses no other instances.
   * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProductionVariantCapacityReservationConfig.html
   * @default - any instances
   */
  readonly capacityReservationArn?: string;
  /**
   * Instances at the start; autoscaling changes the number later, and updates keep what it chose.
   * If another variant scales, this count stays: updates keep all counts.
   * @default - scaling.minInstances, and at least 1
   */
  readonly instanceCount?: number;
  /**
   * Autoscaling.
   * @default - a fixed number of instances
   */
  readonly scaling?: ScalingProps;
  /**
   * No instances at all: SageMaker starts compute by request.
   * @default - instances
   */
  readonly serverless?: ServerlessProps;
  /**
   * How requests are spread over instances: to the one with the fewest in flight, or any.
   * @default 'least-outstanding-requests'
   */
  readonly routing?: 'least-outstanding-requests' | 'random';
  /**
   * Host image, which decides the GPU driver.
   * @default - chosen to suit the image's CUDA and the instance type
   */
  readonly inferenceAmiVersion?: string;
  /**
   * Volume of each instance, 1-512 GiB. Not for types with disks of their own, such as ml.g4dn.
   * @default - SageMaker's default for the instance type
   */
  readonly volumeSize?: Size;
}

/** A variant whose props have been checked. */
export interface BoundVariant {
  readonly name: string;
  readonly props: VariantProps;
  readonly instanceCount: number;
  readonly rendered: CfnEndpointConfig.ProductionVariantProperty;
}

/** Name of a single variant, as the SageMaker Python SDK has it. */
const DEFAULT_VARIANT = 'AllTraffic';
/** Instance type of endpoints. */
export const DEFAULT_INSTANCE_TYPE = 'ml.g4dn.xlarge';

const START_TIMES = ['modelDataDownloadTimeout', 'containerStartupHealthCheckTimeout'] as const;
/** @see https://docs.aws.amazon.com/sagemaker/latest/dg/serverless-endpoints.html */
const SERVERLESS_START = [60, 180] as const;

const ROUTING = { 'least-outstanding-requests': 'LEAST_OUTSTANDING_REQUESTS', random: 'RANDOM' };

/** Refuses variants without a model, before anything is read of it: JavaScript and tsx know no types. */
export function requireModels(
  scope: Construct,
  {
    variants,
    shadowVariant,
  }: { readonly variants: readonly VariantProps[]; readonly shadowVariant?: VariantProps },
): void {
  const given = [
    ...(variants ?? []).map((variant, i) => [`variants[${i}]`, variant] as const),
    ...(shadowVariant ? [['shadowVariant', shadowVariant] as const] : []),
  ];
  for (const [prop, variant] of given) requireModel(scope, prop, variant);
}

/** Refuses props without a model. @param prop their place, for messages */
export function requireModel(scope: Construct, prop: string, props: { readonly model?: IModel }) {
  const { model, ...others } = props;
  if (model !== undefined) return;
  const meant = nearestName('model', Object.keys(others));
  const problem = meant === undefined ? 'missing' : `missing, and there is '${meant}'`;
  invalidProp(scope, `${prop}.model`, problem, 'Give a TensorFlowModel');
}

/** Checks a variant and renders it. `prop` is its place in the endpoint's props, for messages. */
export function bindVariant(
  scope: Construct,
  prop: string,
  props: VariantProps,
  onlyOne: boolean,
): BoundVariant {
  const name = props.variantName ?? DEFAULT_VARIANT;
  if (!onlyOne && props.variantName === undefined) {
    invalidProp(scope, `${prop}.variantName`, 'missing', 'Several variants need a name each');
  }
  if (!SAGEMAKER_NAME.test(name)) {
    const fix = 'Use letters, digits and single hyphens, at most 63 characters';
    invalidProp(scope, `${prop}.variantName`, `'${name}' is not a variant name`, fix);
  }
  const weight = props.weight ?? 1;
  checkRange(scope, `${prop}.weight`, weight, 0, Number.MAX_SAFE_INTEGER);
  const common = {
    variantName: name,
    modelName: props.model.modelName,
    initialVariantWeight: weight,
    ...startTimes(scope, prop, props),
  };
  if (props.serverless) {
    checkServerlessVariant(scope, prop, props);
    const serverlessConfig = renderServerless(scope, `${prop}.serverless`, props.serverless);
    return { name, props, instanceCount: 0, rendered: { ...common, serverlessConfig } };
  }
  const instanceCount = props.instanceCount ?? Math.max(1, props.scaling?.minInstances ?? 1);
  checkInteger(scope, `${prop}.instanceCount`, instanceCount, 1, 1000);
  return {
    name,
    props,
    instanceCount,
    rendered: { ...common, initialInstanceCount: instanceCount, ...instances(scope, prop, props) },
  };
}

/** A type that a variant may run on, with its place in the props. */
interface PlacedPool extends InstancePool {
  readonly prop: string;
}

function poolsOf(prop: string, props: VariantProps): PlacedPool[] {
  const { instancePools, instanceType = DEFAULT_INSTANCE_TYPE } = props;
  if (!instancePools) return [{ instanceType, prop: `${prop}.instanceType` }];
  return instancePools.map((pool, i) => ({
    ...pool,
    prop: `${prop}.instancePools[${i}].instanceType`,
  }));
}

/** Every type that a variant may run on; none for a serverless one. */
export function instanceTypesOf(props: VariantProps): string[] {
  if (props.serverless) return [];
  return poolsOf('', props).map(({ instanceType }) => instanceType);
}

function instances(scope: Construct, prop: string, props: VariantProps) {
  const { instancePools, instanceType, provisioningTimeout, capacityReservationArn } = props;
  const pools = poolsOf(prop, props);
  const timeout = provisioningTimeout?.toSeconds();
  const known = instancePools?.flatMap((pool) =>
    Token.isUnresolved(pool.instanceType) ? [] : [pool.instanceType],
  );
  const [of, problem] = typesProblem(instanceType, known, timeout) ?? [];
  const field = of === 'types' ? 'instancePools' : 'provisioningTimeout';
  refuseProblem(scope, `${prop}.${field}`, problem);
  const types = instancePools
    ? renderPools(scope, prop, instancePools, timeout)
    : { instanceType: instanceType ?? DEFAULT_INSTANCE_TYPE };
  const inferenceAmiVersion = sharedAmi(scope, pools, props);
  for (const pool of pools) checkPool(scope, pool, props);
  return {
    ...types,
    ...(inferenceAmiVersion && { inferenceAmiVersion }),
    ...(capacityReservationArn !== undefined && {
      capacityReservationConfig: {
        capacityReservationPreference: 'capacity-reservations-only',
        mlReservationArn: capacityReservationArn,
      },
    }),
    routingConfig: { routingStrategy: ROUTING[props.routing ?? 'least-outstanding-requests'] },
    ...volume(scope, prop, pools, props.volumeSize),
  };
}

/** The host image of a variant, which has one for all its types. */
function sharedAmi(
  scope: Construct,
  pools: readonly PlacedPool[],
  props: VariantProps,
): string | undefined {
  const chosen = props.inferenceAmiVersion;
  const choose = ({ prop, instanceType, model = props.model }: PlacedPool, ami = chosen) =>
    chooseAmi(scope, prop, 'endpoint', instanceType, model.image.platform, ami);
  const best = new Set(pools.map((pool) => choose(pool)));
  if (best.size <= 1) return [...best][0];
  const forAll = [...best].find(
    (ami) => ami !== undefined && pools.every((pool) => isFine(() => choose(pool, ami))),
  );
  return (
    forAll ??
    invalidProp(
      scope,
      pools.at(-1)?.prop ?? '',
      `no host image suits ${pools.map(({ instanceType }) => instanceType).join(' and ')}`,
      'Leave the types out that need another driver',
    )
  );
}

function isFine(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof InvalidProp) return false;
    throw error;
  }
}

function checkPool(
  scope: Construct,
  { prop, instanceType, model }: PlacedPool,
  props: VariantProps,
): void {
  checkRegion(scope, prop, 'endpoint', instanceType);
  const { platform, variant } = (model ?? props.model).image;
  if (platform.accelerator !== 'cpu' || !hasGpu(instanceType)) return;
  warnOfIdleGpu(scope, prop, instanceType, variant);
}

function volume(
  scope: Construct,
  prop: string,
  pools: readonly PlacedPool[],
  size: Size | undefined,
) {
  const volumeSizeInGb = size?.toGibibytes();
  if (volumeSizeInGb === undefined) return {};
  checkInteger(scope, `${prop}.volumeSize`, volumeSizeInGb, 1, 512, 'GiB');
  const local = pools.find(({ instanceType }) => hasLocalStorage(instanceType));
  if (local) {
    const problem = `${local.instanceType} has local disks, whose size cannot be chosen`;
    invalidProp(scope, `${prop}.volumeSize`, problem, 'Leave it out, or use a larger type');
  }
  return { volumeSizeInGb };
}

/** Serverless endpoints know no instances, GPUs, VPCs or multi-model containers. */
function checkServerlessVariant(scope: Construct, prop: string, props: VariantProps): void {
  const refuse = (problem: string, fix: string) =>
    invalidProp(scope, `${prop}.serverless`, problem, fix);
  refuseProblem(scope, `${prop}.serverless`, serverlessProblem(props));
  for (const field of START_TIMES) {
    checkRange(
      scope,
      `${prop}.${field}`,
      props[field]?.toSeconds(),
      ...SERVERLESS_START,
      'seconds',
    );
  }
  const { image, data, inVpc, networkIsolation } = props.model;
  if (image.platform.accelerator === 'gpu') {
    refuse('serverless endpoints have no GPU', `Use a 'cpu' or 'in-process' image`);
  }
  if (data.multiModel) {
    refuse('serverless endpoints do not take multi-model data', 'Use instances, or one model');
  }
  const problem = archiveProblem('a serverless endpoint', data.compression);
  refuseProblem(scope, `${prop}.serverless`, problem);
  if (inVpc) refuse('serverless endpoints cannot join a VPC', `Leave 'vpc' out of the model`);
  if (networkIsolation) {
    refuse(
      'serverless endpoints do not offer network isolation',
      `Give the model networkIsolation: false`,
    );
  }
}
