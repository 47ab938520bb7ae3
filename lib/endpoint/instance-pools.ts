/** Several instance types of one variant, in order of preference. */
import type { CfnEndpointConfig } from 'aws-cdk-lib/aws-sagemaker';
import type { Construct } from 'constructs';
import type { IModel } from '../model.ts';
import { INSTANCE_TYPES, PROVISIONING_SECONDS } from '../rules/bounds.ts';
import { checkInteger, invalidProp } from '../validation.ts';

/** Instances of one type. */
export interface InstancePool {
  /** SageMaker's name of the instance type. */
  readonly instanceType: string;
  /**
   * A model for this type alone, for example with an image of another architecture.
   * @default - the variant's
   */
  readonly model?: IModel;
}

/**
 * SageMaker's form of the pools: the first is tried first.
 * @param prop place of the variant in the props, for messages
 */
export function renderPools(
  scope: Construct,
  prop: string,
  pools: readonly InstancePool[],
  timeoutSeconds: number | undefined,
): Pick<
  CfnEndpointConfig.ProductionVariantProperty,
  'instancePools' | 'variantInstanceProvisionTimeoutInSeconds'
> {
  const [fewest, most] = INSTANCE_TYPES;
  if (pools.length < fewest || pools.length > most) {
    const fix = `Give ${fewest} to ${most}`;
    invalidProp(scope, `${prop}.instancePools`, `${pools.length} given`, fix);
  }
  checkInteger(
    scope,
    `${prop}.provisioningTimeout`,
    timeoutSeconds,
    ...PROVISIONING_SECONDS,
    'seconds',
  );
  return {
    instancePools: pools.map(({ instanceType, model }, i) => ({
      instanceType,
      priority: i + 1,
      ...(model && { modelNameOverride: model.modelName }),
    })),
    ...(timeoutSeconds !== undefined && {
      variantInstanceProvisionTimeoutInSeconds: timeoutSeconds,
    }),
  };
}
