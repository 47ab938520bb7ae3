/** A configuration's model as constructs. */
import { parseS3Uri } from '@sagemaker-tfs/batch';
import { ENVIRONMENT_VARIABLES } from '@sagemaker-tfs/container/environment-variables';
import { SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Annotations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { BakedImage } from '../baked-image.ts';
import type { ModelConfig, ServingConfig } from '../config.ts';
import { definedOnly } from '../defined-only.ts';
import { encryptionKeyOf } from '../encryption.ts';
import type { RuntimeEnvironment } from '../environment.ts';
import type { IModel } from '../model.ts';
import { ModelData } from '../model-data/index.ts';
import { type IServingImage, ServingImage } from '../serving-image.ts';
import { TensorFlowModel } from '../tensorflow-model.ts';
import type { VpcAttachmentProps } from '../vpc-attachment.ts';

/** The existing VPC of a configuration. */
export function vpcFromConfig(scope: Construct, vpc: ServingConfig['vpc']): VpcAttachmentProps {
  if (!vpc) return {};
  const imported = Vpc.fromVpcAttributes(scope, 'Vpc', {
    vpcId: vpc.vpcId,
    availabilityZones: vpc.availabilityZones,
    privateSubnetIds: vpc.subnetIds,
  });
  // Nothing here looks at route tables.
  Annotations.of(imported).acknowledgeWarning('@aws-cdk/aws-ec2:noSubnetRouteTableId');
  return {
    vpc: imported,
    securityGroups: vpc.securityGroupIds.map((id) =>
      SecurityGroup.fromSecurityGroupId(scope, id, id),
    ),
  };
}

/** Splits variables into the runtime's, which are checked, and the handler's. */
function splitEnvironment(environment: ModelConfig['environment']) {
  const runtimeNames = new Set<string>(ENVIRONMENT_VARIABLES.map(({ name }) => name));
  const entries = Object.entries(environment);
  return {
    environment: Object.fromEntries(
      entries.filter(([name]) => runtimeNames.has(name)),
    ) as RuntimeEnvironment,
    handlerEnvironment: Object.fromEntries(
      entries
        .filter(([name]) => !runtimeNames.has(name))
        .map(([name, value]) => [name, String(value)]),
    ),
  };
}

/** Where the model's files are: on this machine, or in S3 already. */
function dataFromConfig(
  scope: Construct,
  config: ModelConfig,
  archiveName: string | undefined,
): ModelData {
  const { model, compression } = config;
  if (model === undefined) return existingData(scope, config);
  return ModelData.fromDirectory(model, {
    ...packagingOf(config),
    ...(compression && { compression }),
    ...(archiveName !== undefined && { archiveName }),
  });
}

/** What is packaged with a model, and tried. */
function packagingOf(config: ModelConfig) {
  const { handler, preprocess, postprocess } = config;
  const samples = config.endpoint?.smokeTest.samples.map(
    ({ file, contentType, accept, customAttributes }) => ({
      file,
      contentType,
      ...definedOnly({ accept, customAttributes }),
    }),
  );
  return definedOnly({ handler, preprocess, postprocess, samples });
}

function existingData(
  scope: Construct,
  {
    archive,
    archiveKeyArn,
    archives,
    multiModel = '',
    modelPackage,
    fingerprint,
    baked,
  }: ModelConfig,
): ModelData {
  if (baked && !modelPackage && !archive && !multiModel) {
    return ModelData.inImage(definedOnly({ fingerprint }));
  }
  const keyArn = modelPackage?.keyArn ?? archiveKeyArn;
  const options = {
    ...definedOnly({ fingerprint }),
    ...(keyArn !== undefined && { encryptionKey: Key.fromKeyArn(scope, 'ModelKey', keyArn) }),
  };
  const { bucket: name, key } = parseS3Uri(modelPackage?.archives ?? archive ?? multiModel);
  // What is there already may be under the key of the stack, whose policy lets this account's roles in.
  const bucket = Bucket.fromBucketAttributes(scope, 'ModelBucket', {
    bucketName: name,
    ...definedOnly({ encryptionKey: encryptionKeyOf(scope) }),
  });
  if (modelPackage) {
    return ModelData.fromModelPackage(modelPackage.arn, { bucket, prefix: key, ...options });
  }
  if (archive === undefined) return ModelData.multiModel(bucket, key, options);
  const all = archives === undefined ? {} : { releasesPrefix: parseS3Uri(archives).key };
  return key.endsWith('/')
    ? ModelData.fromPrefix(bucket, key, { ...options, ...all })
    : ModelData.fromArchive(bucket, key, { ...options, ...all });
}

/** Whether the container is cut off from networks. */
function isIsolated({ networkIsolation, endpoint }: ModelConfig): boolean {
  return networkIsolation ?? !endpoint?.serverless;
}

/** The model of `config` in `scope`. @param archiveName see `FromDirectoryOptions` */
export function modelFromConfig(
  scope: Construct,
  config: ModelConfig,
  image: IServingImage,
  network: VpcAttachmentProps,
  archiveName: string | undefined,
): IModel {
  const { modelName, fingerprint } = config;
  if (modelName !== undefined) {
    const { variant, platform } = image;
    return TensorFlowModel.fromModelAttributes(scope, 'Model', {
      modelName,
      networkIsolation: isIsolated(config),
      variant,
      ...definedOnly({ fingerprint, cuda: platform.cuda }),
      architecture: platform.architecture,
    });
  }
  return newModelFromConfig(scope, config, image, network, archiveName);
}

/** The image, and where the model is: in it, or in S3. */
function withModel(
  scope: Construct,
  config: ModelConfig,
  image: IServingImage,
  archiveName: string | undefined,
) {
  const { model, baked } = config;
  if (model === undefined || !baked || !(image instanceof ServingImage)) {
    return { image, modelData: dataFromConfig(scope, config, archiveName) };
  }
  const inside = new BakedImage(scope, 'Baked', { image, model, ...packagingOf(config) });
  return { image: inside, modelData: inside.modelData };
}

/** The same of a model that is not in SageMaker yet. */
export function newModelFromConfig(
  scope: Construct,
  config: ModelConfig,
  image: IServingImage,
  network: VpcAttachmentProps,
  archiveName: string | undefined,
): TensorFlowModel {
  return new TensorFlowModel(scope, 'Model', {
    ...withModel(scope, config, image, archiveName),
    ...splitEnvironment(config.environment),
    networkIsolation: isIsolated(config),
    ...network,
  });
}
