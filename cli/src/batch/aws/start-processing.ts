/** Starts the image's batch worker as a Processing job of SageMaker. */
import {
  CreateProcessingJobCommand,
  type CreateProcessingJobCommandInput,
  DescribeModelCommand,
  type DescribeModelOutput,
  type ProcessingInstanceType,
  type SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { workerArguments } from '@sagemaker-tfs/batch';
import { CommandError } from '../../errors.ts';
import { onFirstType } from './instance-types.ts';
import type { StartOptions } from './start.ts';

/** A job to start. */
export interface ProcessingOptions
  extends Pick<
    StartOptions,
    | 'jobName'
    | 'modelName'
    | 'inputUri'
    | 'outputUri'
    | 'contentType'
    | 'accept'
    | 'maxConcurrentTransforms'
    | 'instanceType'
    | 'instanceCount'
    | 'fallbacks'
    | 'environment'
    | 'tags'
    | 'kmsKeyId'
  > {
  readonly keySuffix?: string | undefined;
  readonly maxFailurePercent?: number | undefined;
  readonly budgetHours?: number | undefined;
  readonly noticesAt?: string | undefined;
  readonly noticeTopic?: string | undefined;
}

/** Where SageMaker puts the model; Processing jobs have their inputs below `/opt/ml/processing`. */
const MODEL_PATH = '/opt/ml/processing/model';
/** Five days, the longest that SageMaker lets a Processing job run; started again, it goes on. */
const LONGEST_SECONDS = 5 * 24 * 3_600;
/** For the archive, and what it unpacks to. */
const VOLUME_GB = 50;

/**
 * Starts a job with the image, the archive, the role, the variables and the network of a model.
 * @returns the instance type
 * @throws CommandError MODEL_UNSUITABLE, INSTANCE_TYPES_REFUSED
 */
export async function startProcessing(
  sagemaker: SageMakerClient,
  options: ProcessingOptions,
): Promise<string> {
  const { modelName, instanceType, fallbacks } = options;
  const model = await sagemaker.send(new DescribeModelCommand({ ModelName: modelName }));
  return onFirstType([{ instanceType }, ...fallbacks], (type) =>
    sagemaker.send(new CreateProcessingJobCommand(requestOf(model, { ...options, ...type }))),
  );
}

function requestOf(
  model: DescribeModelOutput,
  options: ProcessingOptions,
): CreateProcessingJobCommandInput {
  const container = model.PrimaryContainer ?? model.Containers?.[0];
  const archive = container?.ModelDataSource?.S3DataSource?.S3Uri ?? container?.ModelDataUrl;
  if (!container?.Image || !archive || container.Mode === 'MultiModel') {
    throw new CommandError(
      'MODEL_UNSUITABLE',
      `the model ${options.modelName} has no image with one archive. Give a model of this project that serves one archive.`,
    );
  }
  const { tags, kmsKeyId, instanceCount, instanceType } = options;
  return {
    ProcessingJobName: options.jobName,
    RoleArn: model.ExecutionRoleArn,
    AppSpecification: { ImageUri: container.Image, ContainerArguments: argumentsOf(options) },
    Environment: { ...container.Environment, ...options.environment },
    ProcessingInputs: [
      {
        InputName: 'model',
        S3Input: {
          S3Uri: archive,
          LocalPath: MODEL_PATH,
          S3DataType: 'S3Prefix',
          S3InputMode: 'File',
          S3DataDistributionType: 'FullyReplicated',
        },
      },
    ],
    ProcessingResources: {
      ClusterConfig: {
        InstanceType: instanceType as ProcessingInstanceType,
        InstanceCount: instanceCount,
        VolumeSizeInGB: VOLUME_GB,
        ...(kmsKeyId && { VolumeKmsKeyId: kmsKeyId }),
      },
    },
    ...(model.VpcConfig && { NetworkConfig: { VpcConfig: model.VpcConfig } }),
    StoppingCondition: { MaxRuntimeInSeconds: LONGEST_SECONDS },
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  };
}

function argumentsOf(options: ProcessingOptions): string[] {
  const { contentType, accept, keySuffix, maxFailurePercent } = options;
  const { noticesAt, noticeTopic, budgetHours } = options;
  return workerArguments({
    ...{ modelPath: MODEL_PATH, input: options.inputUri, output: options.outputUri },
    ...{ contentType, accept, inFlight: options.maxConcurrentTransforms },
    ...{ keySuffix, maxFailurePercent, budgetHours, noticesAt, noticeTopic },
  });
}
