/** What SageMaker refuses only after minutes of deployment, refused at once. */
import { SAGEMAKER_NAME } from '@sagemaker-tfs/batch';
import { hasLocalStorage } from '@sagemaker-tfs/batch/instance-types';
import { Annotations, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { twinIndex } from '../problem.ts';
import { ASYNC_CAPTURE, SHADOW_SCALING, shadowProblem } from '../rules/combinations.ts';
import { serverlessProblem } from '../rules/serverless.ts';
import { invalidProp, refuseProblem } from '../validation.ts';
import type { RealtimeEndpointProps } from './props.ts';
import { instanceTypesOf } from './variant.ts';

const MAX_VARIANTS = 10;

/** Refuses combinations of props that no endpoint can have. */
export function checkCombination(scope: Construct, props: RealtimeEndpointProps): void {
  const { variants } = props;
  if (variants.length === 0 || variants.length > MAX_VARIANTS) {
    invalidProp(scope, 'variants', `${variants.length} given`, `Give 1 to ${MAX_VARIANTS}`);
  }
  const names = [...variants, ...(props.shadowVariant ? [props.shadowVariant] : [])].map(
    ({ variantName }) => variantName,
  );
  const twin = names[twinIndex(names)];
  if (twin !== undefined) {
    invalidProp(scope, 'variants', `two are named '${twin}'`, 'Give each a name of its own');
  }
  if (variants.length > 1 && variants.every(({ weight }) => weight === 0)) {
    invalidProp(scope, 'variants', 'every weight is 0', 'Give one variant a weight above 0');
  }
  checkName(scope, props.endpointName);
  checkServerless(scope, props);
  checkMultiModel(scope, props);
  checkShadow(scope, props);
  checkAsync(scope, props);
  checkVolumeKey(scope, props);
}

function checkName(scope: Construct, name: string | undefined): void {
  if (name === undefined || Token.isUnresolved(name) || SAGEMAKER_NAME.test(name)) return;
  const fix = 'Use letters, digits and hyphens between them, at most 63 characters';
  invalidProp(scope, 'endpointName', `'${name}' is not a name of an endpoint`, fix);
}

function checkServerless(scope: Construct, props: RealtimeEndpointProps): void {
  const { variants, ...others } = props;
  if (!variants.some(({ serverless }) => serverless)) return;
  const given = variants.length > 1 ? props : others;
  refuseProblem(scope, 'variants[0].serverless', serverlessProblem(given));
}

function checkShadow(scope: Construct, { shadowVariant, ...props }: RealtimeEndpointProps): void {
  if (!shadowVariant) return;
  const problem = shadowProblem(props.asyncInference !== undefined, props.variants.length);
  refuseProblem(scope, 'shadowVariant', problem);
  if (shadowVariant.serverless) {
    const problem = 'a shadow cannot be serverless';
    invalidProp(scope, 'shadowVariant', problem, 'Give it an instanceType');
  }
  if (shadowVariant.scaling) refuseProblem(scope, 'shadowVariant.scaling', SHADOW_SCALING);
}

function checkMultiModel(scope: Construct, props: RealtimeEndpointProps): void {
  const { variants, asyncInference, shadowVariant } = props;
  if (!variants.some(({ model }) => model.data.multiModel)) return;
  if (asyncInference) {
    const problem = `given with a multi-model 'modelData'`;
    invalidProp(scope, 'asyncInference', problem, 'Use one model, or answer at once');
  }
  if (shadowVariant) {
    const problem = `given with a multi-model 'modelData'`;
    invalidProp(scope, 'shadowVariant', problem, 'Use one model for each variant');
  }
}

function checkAsync(scope: Construct, props: RealtimeEndpointProps): void {
  if (props.asyncInference && props.dataCapture) refuseProblem(scope, 'dataCapture', ASYNC_CAPTURE);
}

function typesOf({ variants, shadowVariant }: RealtimeEndpointProps): string[] {
  return [...variants, ...(shadowVariant ? [shadowVariant] : [])].flatMap(instanceTypesOf);
}

/** The first instance type with local disks: SageMaker accepts no key for any variant then. */
function typeWithDisks(props: RealtimeEndpointProps): string | undefined {
  return typesOf(props).find(hasLocalStorage);
}

/** Says which volumes the key of all is not for, because other types beside them take none. */
export function warnOfVolumesWithoutKey(scope: Construct, props: RealtimeEndpointProps): void {
  const local = typeWithDisks(props);
  const others = [...new Set(typesOf(props).filter((type) => !hasLocalStorage(type)))];
  if (!local || others.length === 0) return;
  Annotations.of(scope).addWarningV2(
    '@sagemaker-tfs/cdk:volumesWithoutKey',
    `encryptionKey: the volumes of ${others.join(', ')} are not under it, as ${local} beside them has local disks, and SageMaker refuses a KMS key for all of an endpoint then. Take types of one kind if they must be`,
  );
}

/**
 * Whether the instances have volumes that a key can be named for.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpointConfig.html
 */
export function takesVolumeKey(props: RealtimeEndpointProps): boolean {
  return !props.variants.some(({ serverless }) => serverless) && !typeWithDisks(props);
}

function checkVolumeKey(scope: Construct, props: RealtimeEndpointProps): void {
  if (!props.volumeKey) return;
  const local = typeWithDisks(props);
  if (!local) return;
  invalidProp(
    scope,
    'volumeKey',
    `${local} has local disks, which the hardware encrypts; SageMaker refuses a KMS key`,
    'Leave it out, or use a type without local disks, such as ml.p3.2xlarge',
  );
}
