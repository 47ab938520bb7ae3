/** Starts the image's batch worker as a Processing job of SageMaker. */
import { posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  CreateProcessingJobCommand,
  type CreateProcessingJobCommandInput,
  DescribeModelCommand,
  type DescribeModelOutput,
  DescribeProcessingJobCommand,
  type ProcessingInstanceType,
  type SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { workerArguments } from '@sagemaker-tfs/batch';
import { hasLocalStorage } from '@sagemaker-tfs/batch/instance-types';
import { CommandError, usageError } from '../../errors.ts';
import type { AwsClients } from './clients.ts';
import { createJob } from './create-job.ts';
import { whileHeld } from './hold-outputs.ts';
import { onFirstType } from './instance-types.ts';
import type { StartOptions } from './start.ts';

/** A job to start. */
interface ProcessingOptions
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
/** Five days, the longest that SageMaker lets a Processing job run; started again, it continues. */
const LONGEST_SECONDS = 5 * 24 * 3_600;
/** For the archive, and what it unpacks to. */
const VOLUME_GB = 50;

/**
 * Starts a job with the image, the archive, the role, the variables and the network of a model. It alone writes its outputs.
 * @returns the instance type
 * @throws CommandError MODEL_UNSUITABLE, USAGE, OUTPUTS_IN_USE, INSTANCE_TYPES_REFUSED, JOB_NOT_WATCHED
 */
export async function startProcessing(
  clients: Pick<AwsClients, 's3' | 'sagemaker' | 'sfn'>,
  options: ProcessingOptions,
): Promise<string> {
  const { sagemaker } = clients;
  const { modelName, instanceType, fallbacks, outputUri, jobName: name } = options;
  const model = await sagemaker.send(new DescribeModelCommand({ ModelName: modelName }));
  return whileHeld(clients, { outputUri, type: 'processing', name }, (nameJob) =>
    onFirstType([{ instanceType }, ...fallbacks], async (type) => {
      const request = requestOf(model, { ...options, ...type });
      checkTexts(request, modelName);
      await nameJob(name);
      await create(sagemaker, request);
    }),
  );
}

async function create(
  sagemaker: SageMakerClient,
  request: CreateProcessingJobCommandInput,
): Promise<void> {
  const { ProcessingJobName, AppSpecification } = request;
  await createJob({
    name: ProcessingJobName ?? '',
    create: () => sagemaker.send(new CreateProcessingJobCommand(request)),
    describe: async () => {
      const job = await sagemaker.send(new DescribeProcessingJobCommand({ ProcessingJobName }));
      const isSame = isDeepStrictEqual(job.AppSpecification, AppSpecification);
      return { createdAt: job.CreationTime, isSame };
    },
  });
}

/**
 * What a Processing job takes of variables and arguments; a model takes longer ones.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateProcessingJob.html
 */
const LONGEST_TEXT = 256;
const MAX_VARIABLES = 100;

/** @throws CommandError MODEL_UNSUITABLE, USAGE */
function checkTexts(
  { Environment = {}, AppSpecification }: CreateProcessingJobCommandInput,
  modelName: string,
): void {
  const variables = Object.entries(Environment);
  if (variables.length > MAX_VARIABLES) {
    throw new CommandError(
      'MODEL_UNSUITABLE',
      `the model ${modelName} and --env have ${variables.length} variables together, and a Processing job takes ${MAX_VARIABLES}. Use --engine transform or --engine batch.`,
    );
  }
  for (const [name, value] of variables) {
    const [what, { length }] = name.length > LONGEST_TEXT ? ['name', name] : ['value', value];
    if (length <= LONGEST_TEXT) continue;
    throw new CommandError(
      'MODEL_UNSUITABLE',
      `the variable ${name.slice(0, LONGEST_TEXT)} of the model ${modelName} has a ${what} of ${length} characters, and a Processing job takes ${LONGEST_TEXT}. Give a shorter one with --env, or use --engine transform or --engine batch.`,
    );
  }
  const long = AppSpecification?.ContainerArguments?.find((text) => text.length > LONGEST_TEXT);
  if (long === undefined) return;
  throw usageError(
    `the argument ${long.slice(0, 60)}... of the worker has ${long.length} characters, and a Processing job takes ${LONGEST_TEXT}. Give a shorter one, or use --engine batch.`,
  );
}

function requestOf(
  model: DescribeModelOutput,
  options: ProcessingOptions,
): CreateProcessingJobCommandInput {
  const container = model.PrimaryContainer ?? model.Containers?.[0];
  const source = container?.ModelDataSource?.S3DataSource;
  const archive = source?.S3Uri ?? container?.ModelDataUrl;
  if (!container?.Image || !archive || container.Mode === 'MultiModel') {
    throw new CommandError(
      'MODEL_UNSUITABLE',
      `the model ${options.modelName} has no image with one archive. Give a model of this project that serves one archive.`,
    );
  }
  const { tags, kmsKeyId, instanceCount, instanceType } = options;
  // A prefix: SageMaker brings every object whose key begins with the archive's.
  const isFolder = source?.S3DataType === 'S3Prefix';
  const modelPath = isFolder ? MODEL_PATH : `${MODEL_PATH}/${posix.basename(archive)}`;
  return {
    ProcessingJobName: options.jobName,
    RoleArn: model.ExecutionRoleArn,
    AppSpecification: {
      ImageUri: container.Image,
      ContainerArguments: argumentsOf(options, modelPath),
    },
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
        // Disks of the instance are encrypted by its hardware, and SageMaker refuses a key for them.
        ...(kmsKeyId && !hasLocalStorage(instanceType) && { VolumeKmsKeyId: kmsKeyId }),
      },
    },
    ...(model.VpcConfig && { NetworkConfig: { VpcConfig: model.VpcConfig } }),
    StoppingCondition: { MaxRuntimeInSeconds: LONGEST_SECONDS },
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  };
}

function argumentsOf(options: ProcessingOptions, modelPath: string): string[] {
  const { contentType, accept, keySuffix, maxFailurePercent } = options;
  const { noticesAt, noticeTopic, budgetHours, kmsKeyId } = options;
  return workerArguments({
    modelPath,
    input: options.inputUri,
    output: options.outputUri,
    contentType,
    accept,
    inFlight: options.maxConcurrentTransforms,
    keySuffix,
    maxFailurePercent,
    kmsKeyId,
    budgetHours,
    noticesAt,
    noticeTopic,
  });
}
