/** A configuration as stacks. */

import { DEFAULT_SETTINGS } from '@sagemaker-tfs/batch/settings';
import { type Environment, Stage, Tags } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { DEFAULT_TYPES, ec2Family } from '../batch-worker/instance-types.ts';
import type { BatchWorkerConfig, EndpointConfig, ModelConfig, ServingConfig } from '../config.ts';
import { definedOnly } from '../defined-only.ts';
import { DEFAULT_INSTANCE_TYPE } from '../endpoint/variant.ts';
import { type PlannedVariant, plannedVariants } from '../endpoint-variants.ts';
import { ConfigurationError } from '../errors.ts';
import { architectureOf, hasGpu } from '../instance-types/index.ts';
import { sourceOf } from '../parse-config.ts';
import { type ExistingImageProps, type IServingImage, ServingImage } from '../serving-image.ts';
import { STACK_NAMES } from '../stack-names.ts';
import { BatchStack } from './batch-stack.ts';
import { BatchWorkerStack } from './batch-worker-stack.ts';
import { ComponentStack } from './component-stack.ts';
import { fromConfig } from './config-path.ts';
import { ImageStack } from './image-stack.ts';
import { claimStack } from './one-owner.ts';
import { RegistryStack } from './registry-stack.ts';
import { ServingStack } from './serving-stack.ts';

/** Adds the stacks of every environment, or one set of stacks for the credentials in use. */
export function addServingStacks(scope: Construct, config: ServingConfig): void {
  try {
    addAll(scope, config);
  } catch (error) {
    const source = sourceOf(config);
    if (!(error instanceof ConfigurationError) || source === undefined) throw error;
    throw new ConfigurationError(`${source} is wrong:\n  ${error.message}`, { cause: error });
  }
}

function addAll(scope: Construct, config: ServingConfig): void {
  if (!config.environments) {
    addStacks(scope, config);
    addRegistry(scope, config);
  }
  for (const [i, environment] of (config.environments ?? []).entries()) {
    const { name, account, region, ...own } = environment;
    const env: Environment = { account, region };
    const { vpc = config.vpc, image = config.image } = own;
    const { encryptionKeyArn = config.encryptionKeyArn } = own;
    const { formerEncryptionKeyArns = config.formerEncryptionKeyArns } = own;
    const keys = { encryptionKeyArn, formerEncryptionKeyArns };
    const stage = new Stage(scope, name, { env });
    addStacks(stage, { ...config, image, vpc, ...keys });
    if (i === 0) addRegistry(stage, { ...config, ...keys });
  }
}

/** The stack of the Model Registry and of what starts deployments. */
function addRegistry(scope: Construct, config: ServingConfig): void {
  const { registry, redeploy, encryptionKeyArn } = config;
  if (!registry && !redeploy?.length) return;
  const stack = new RegistryStack(scope, STACK_NAMES.registry(config.name), {
    ...definedOnly({ registry, redeploy, encryptionKeyArn }),
    description: 'Versions of models, and what starts their deployment',
  });
  claimStack(stack, [scope.node.path, config.name, '', 'registry']);
}

function addStacks(scope: Construct, config: ServingConfig): void {
  // Here, because tags do not pass from an app into its stages.
  for (const [key, value] of Object.entries(config.tags)) Tags.of(scope).add(key, value);
  const models = Object.entries(config.models);
  const images = imagesOf(scope, config);
  const wrong: string[] = [];
  for (const [name, model] of models) {
    const { endpoint, batch, batchWorker } = model;
    const id = STACK_NAMES.endpoint(config.name, name);
    const common = commonProps(config, model, `${scope.node.path}/${id}`);
    const stacks = {
      endpoint:
        endpoint &&
        fromConfig(
          { name, kind: 'endpoint', model, wrong },
          () =>
            new (endpoint.components ? ComponentStack : ServingStack)(scope, id, {
              ...common,
              endpoint,
              ...imagesOfVariants(config, images, model, endpoint),
              description: `${name}: a TensorFlow model behind a SageMaker endpoint`,
            }),
        ),
      batch:
        batch &&
        fromConfig(
          { name, kind: 'batch', model, wrong },
          () =>
            new BatchStack(scope, STACK_NAMES.batch(config.name, name), {
              ...common,
              batch,
              image: images.of(model, batchKind(config, model)),
              description: `${name}: a TensorFlow model for SageMaker batch transform`,
            }),
        ),
      'batch-worker':
        batchWorker &&
        fromConfig(
          { name, kind: 'batchWorker', model, wrong },
          () =>
            new BatchWorkerStack(scope, STACK_NAMES.batchWorker(config.name, name), {
              ...common,
              batchWorker,
              image: images.of(model, workerKind(config, batchWorker)),
              description: `${name}: a TensorFlow model for batch inference on AWS Batch`,
            }),
        ),
    };
    for (const [kind, stack] of Object.entries(stacks)) {
      if (!stack) continue;
      claimStack(stack, [scope.node.path, config.name, name, kind]);
      if (images.stack) stack.addStackDependency(images.stack, 'the image comes first');
    }
  }
  if (wrong.length > 0) throw new ConfigurationError([...new Set(wrong)].join('\n  '));
}

/** Props that all stacks of a model have. */
function commonProps(config: ServingConfig, model: ModelConfig, archiveName: string) {
  const { vpc, encryptionKeyArn, formerEncryptionKeyArns } = config;
  const keys = definedOnly({ encryptionKeyArn, formerEncryptionKeyArns });
  return { model, archiveName, ...(vpc && { vpcConfig: vpc }), ...keys };
}

/** Which of the images that are built. */
type ImageKind = Required<Pick<ExistingImageProps, 'variant' | 'architecture'>>;

/** Where stacks take their images from. */
interface Images {
  /** The image of a model. Of one that is in SageMaker already only the facts are known. */
  of(model: ModelConfig, kind: ImageKind): IServingImage;
  /** Builds them; absent if nothing is built. */
  readonly stack?: ImageStack;
}

function imagesOf(scope: Construct, config: ServingConfig): Images {
  const { image } = config;
  if ('uri' in image) {
    const { uri, variant, ...facts } = image;
    const existing = ServingImage.fromUri(uri, { variant, ...definedOnly(facts) });
    return { of: (model, kind) => packagedImage(model, kind) ?? existing };
  }
  const kinds = Object.values(config.models).flatMap((model) => builtKinds(config, model));
  const named = (kind: ImageKind) => ServingImage.fromUri('', kind);
  if (kinds.length === 0) {
    return { of: (model, kind) => packagedImage(model, kind) ?? named(kind) };
  }
  const variantsFor = (architecture: ImageKind['architecture']) => [
    ...new Set(
      kinds.filter((kind) => kind.architecture === architecture).map(({ variant }) => variant),
    ),
  ];
  const stack = new ImageStack(scope, STACK_NAMES.image(config.name), {
    description: 'Images that serve TensorFlow models on SageMaker',
    variants: variantsFor('x86_64'),
    arm64Variants: variantsFor('arm64'),
    ...(image.directory && { directory: image.directory }),
    ...(image.buildArgs && { buildArgs: image.buildArgs }),
  });
  claimStack(stack, [scope.node.path, config.name, '', 'image']);
  const of: Images['of'] = (model, kind) =>
    packagedImage(model, kind) ??
    (model.modelName === undefined ? stack.image(kind.variant, kind.architecture) : named(kind));
  return { stack, of };
}

/** The image of a version of the Model Registry. */
function packagedImage({ modelPackage }: ModelConfig, kind: ImageKind) {
  return modelPackage && ServingImage.fromUri(modelPackage.image, kind);
}

/** Whether a model runs on an image that is built here. */
function needsImage({ modelName, modelPackage }: ModelConfig): boolean {
  return modelName === undefined && modelPackage === undefined;
}

/** The image of the first variant, and of each. */
function imagesOfVariants(
  config: ServingConfig,
  images: Images,
  model: ModelConfig,
  endpoint: EndpointConfig,
) {
  const imageOf = (one: Pick<PlannedVariant, 'model' | 'endpoint'>) =>
    images.of(one.model, endpointKind(config, one.endpoint));
  const [first = { model, endpoint }] = plannedVariants(model, endpoint);
  return { image: imageOf(first), imageOf };
}

/** Images that a model's endpoint, batch and workers need built. */
function builtKinds(config: ServingConfig, model: ModelConfig): ImageKind[] {
  const { endpoint, batch, batchWorker } = model;
  const variants = endpoint ? plannedVariants(model, endpoint) : [];
  return [
    ...variants.flatMap((one: PlannedVariant) =>
      needsImage(one.model) ? [endpointKind(config, one.endpoint)] : [],
    ),
    ...(batch && needsImage(model) ? [batchKind(config, model)] : []),
    ...(batchWorker && needsImage(model) ? [workerKind(config, batchWorker)] : []),
  ];
}

function endpointKind(config: ServingConfig, endpoint: EndpointConfig): ImageKind {
  if (endpoint.serverless) {
    return { variant: config.image.variant ?? 'cpu', architecture: 'x86_64' };
  }
  return kindFor(
    config,
    endpoint.instanceTypes?.[0] ?? endpoint.instanceType ?? DEFAULT_INSTANCE_TYPE,
  );
}

function batchKind(config: ServingConfig, { batch }: ModelConfig): ImageKind {
  return kindFor(config, batch?.instanceType ?? DEFAULT_SETTINGS.instanceType);
}

/**
 * The image asked for, else one that suits the instance type. Types that are unknown or that the image
 * has no code for are refused later, with their place in the configuration.
 */
function kindFor(config: ServingConfig, instanceType: string): ImageKind {
  return kindOf(config, hasGpu(instanceType), architectureOf(instanceType));
}

/** The same of a type of EC2. */
function workerKind(config: ServingConfig, { instanceTypes }: BatchWorkerConfig): ImageKind {
  const { gpu, architecture = 'x86_64' } = ec2Family(instanceTypes?.[0] ?? DEFAULT_TYPES.gpu[0]);
  return kindOf(config, gpu !== undefined, architecture);
}

function kindOf(
  { image }: ServingConfig,
  onGpu: boolean,
  architecture: ImageKind['architecture'],
): ImageKind {
  const onCpu = architecture === 'arm64' ? 'in-process' : 'cpu';
  const variant = image.variant ?? (onGpu ? 'gpu' : onCpu);
  return { variant, architecture: variant === 'in-process' ? architecture : 'x86_64' };
}
