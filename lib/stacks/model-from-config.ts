/** A configuration's model as constructs. */
import { SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Annotations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { ENVIRONMENT_VARIABLES } from '../../container/src/environment-variables.ts';
import type { ModelConfig, ServingConfig } from '../config.ts';
import type { RuntimeEnvironment } from '../environment.ts';
import { ModelData } from '../model-data/index.ts';
import type { IServingImage } from '../serving-image.ts';
import { TensorFlowModel } from '../tensorflow-model.ts';
import type { VpcAttachmentProps } from '../vpc-attachment.ts';
import { definedOnly } from './defined-only.ts';

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

/** The model of `config` in `scope`. @param archiveName see `FromDirectoryOptions` */
export function modelFromConfig(
  scope: Construct,
  config: ModelConfig,
  image: IServingImage,
  network: VpcAttachmentProps,
  archiveName: string | undefined,
): TensorFlowModel {
  const { handler, preprocess, postprocess, compression } = config;
  const samples = config.endpoint?.smokeTest.samples.map(
    ({ file, contentType, accept, customAttributes }) => ({
      file,
      contentType,
      ...definedOnly({ accept, customAttributes }),
    }),
  );
  return new TensorFlowModel(scope, 'Model', {
    image,
    modelData: ModelData.fromDirectory(config.model, {
      ...(handler && { handler }),
      ...(preprocess && { preprocess }),
      ...(postprocess && { postprocess }),
      ...(compression && { compression }),
      ...(samples && { samples }),
      ...(archiveName !== undefined && { archiveName }),
    }),
    ...splitEnvironment(config.environment),
    networkIsolation: config.networkIsolation ?? !config.endpoint?.serverless,
    ...network,
  });
}
