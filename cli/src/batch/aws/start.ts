/** Starts a transform job. */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import {
  CreateTransformJobCommand,
  type CreateTransformJobCommandInput,
  DescribeTransformJobCommand,
  type SageMakerClient,
  StopTransformJobCommand,
  type TransformInstanceType,
} from '@aws-sdk/client-sagemaker';
import type { AssembleWith, BatchStrategy, Existing, SplitType } from '@sagemaker-tfs/batch';
import { asDirectory, formatS3Uri, parseS3Uri } from '@sagemaker-tfs/batch';
import { hasLocalStorage } from '@sagemaker-tfs/batch/instance-types';
import { listPage } from '@sagemaker-tfs/batch/s3';
import { noInput } from '../../errors.ts';
import { awaitInstances, type Patience } from './await-instances.ts';
import type { AwsClients } from './clients.ts';
import { createJob, isRefusal } from './create-job.ts';
import { type NameJob, whileHeld } from './hold-outputs.ts';
import { type JobInstances, onFirstType } from './instance-types.ts';
import { claimOutputs } from './origin.ts';
import { describeJob } from './transform-job.ts';
import type { TransformPlaces } from './transform-places.ts';
import { verifyOutputs } from './verify.ts';

/** A job to start; names and meaning are those of CreateTransformJob. */
export interface StartOptions extends TransformPlaces, JobInstances {
  readonly jobName: string;
  readonly modelName: string;
  /** Types to continue with, in turn, where `instanceType` is refused or at its quota. */
  readonly fallbacks: readonly JobInstances[];
  readonly instanceCount: number;
  readonly contentType: string;
  readonly accept: string;
  readonly splitType: SplitType;
  readonly assembleWith: AssembleWith;
  readonly batchStrategy: BatchStrategy;
  readonly maxConcurrentTransforms: number;
  readonly maxPayloadInMB: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly kmsKeyId?: string | undefined;
  readonly invocationsTimeoutInSeconds: number;
  readonly invocationsMaxRetries: number;
  /** Waits until the job has its instances; by default nothing is waited for. */
  readonly patience?: Patience | undefined;
}

/** What is done again. */
export interface Again {
  /** True for the inputs without an output that counts; false for all. */
  readonly missingOnly: boolean;
  /** Outputs that count where only missing ones are made. */
  readonly existing: Exclude<Existing, 'replace'>;
}

/** What was started. */
export type Started =
  | { readonly started: false; readonly missing: 0 }
  | ({
      readonly started: true;
      readonly jobName: string;
      readonly instanceType: string;
    } & Partial<Missing>);

/**
 * Starts a job that alone writes these outputs, and writes down what makes them before the first of them.
 * A job that was taken and then finds no capacity fails; with `patience` the next type is tried then, too, by a job of another name.
 * @throws CommandError INPUT_EMPTY, before SageMaker starts instances for nothing
 * @throws CommandError OUTPUTS_IN_USE while another job or run writes them
 * @throws CommandError INSTANCE_TYPES_REFUSED; JOB_NOT_WATCHED, with what makes its outputs written down: the job may continue
 */
export async function startJob(
  clients: Pick<AwsClients, 's3' | 'sagemaker' | 'sfn'>,
  options: StartOptions,
  again: Again,
): Promise<Started> {
  const { inputUri, outputUri, jobName: name } = options;
  const { objects } = await listPage(clients.s3, parseS3Uri(inputUri), { maxKeys: 1 });
  if (objects.length === 0) {
    throw noInput(inputUri);
  }
  return whileHeld(clients, { outputUri, type: 'transform', name }, (nameJob) =>
    startHeld(clients, options, again, nameJob),
  );
}

async function startHeld(
  { s3, sagemaker }: Pick<AwsClients, 's3' | 'sagemaker'>,
  options: StartOptions,
  { missingOnly, existing }: Again,
  nameJob: NameJob,
): Promise<Started> {
  const claim = await claimOutputs(s3, options, missingOnly ? existing : 'replace');
  const create = async (job: StartOptions) => {
    try {
      return await onTypes(sagemaker, job, nameJob);
    } catch (error) {
      if (isRefusal(error)) await claim.undo();
      throw error;
    }
  };
  if (!missingOnly) return { started: true, ...(await create(options)) };
  const counted =
    existing === 'skip' ? options : { ...options, existing: 'older' as const, since: claim.since };
  const left = await findMissing(s3, counted, options.jobName);
  if (!left) return { started: false, missing: 0 };
  const missing = { ...options, inputUri: left.manifestUri, dataType: 'ManifestFile' } as const;
  return { started: true, ...(await create(missing)), ...left };
}

/** Creates the job on the first type that SageMaker takes and, with patience, has. */
async function onTypes(
  sagemaker: SageMakerClient,
  job: StartOptions,
  nameJob: NameJob,
): Promise<{ readonly jobName: string; readonly instanceType: string }> {
  const { patience } = job;
  const types = [job, ...job.fallbacks];
  let { jobName } = job;
  let made = 0;
  const instanceType = await onFirstType(types, async (instances) => {
    const { instanceType, transformAmiVersion } = instances;
    // A name that a job has had is taken.
    jobName = made === 0 ? job.jobName : numbered(job.jobName, made + 1);
    const input = request({ ...job, jobName, instanceType, transformAmiVersion });
    await nameJob(jobName);
    await create(sagemaker, input);
    made++;
    if (!patience) return;
    const TransformJobName = jobName;
    const waiting = {
      jobName,
      look: () => describeJob(sagemaker, TransformJobName),
      stop: () => sagemaker.send(new StopTransformJobCommand({ TransformJobName })),
    };
    await awaitInstances(waiting, patience, instances === types.at(-1));
  });
  return { jobName, instanceType };
}

async function create(
  sagemaker: SageMakerClient,
  input: CreateTransformJobCommandInput,
): Promise<void> {
  const name = input.TransformJobName ?? '';
  await createJob({
    name,
    create: () => sagemaker.send(new CreateTransformJobCommand(input)),
    describe: async () => {
      const job = await sagemaker.send(new DescribeTransformJobCommand({ TransformJobName: name }));
      const isSame = isDeepStrictEqual(placesOf(job), placesOf(input));
      return { createdAt: job.CreationTime, isSame };
    },
  });
}

/** What tells jobs of one name apart. */
function placesOf({
  ModelName,
  TransformInput,
  TransformOutput,
}: Partial<CreateTransformJobCommandInput>) {
  const { S3Uri } = TransformInput?.DataSource?.S3DataSource ?? {};
  return [ModelName, S3Uri, TransformOutput?.S3OutputPath?.replace(/\/$/, '')];
}

/** Characters of a job's name. */
const MAX_NAME = 63;

function numbered(name: string, number: number): string {
  const end = `-${number}`;
  return `${name.slice(0, MAX_NAME - end.length)}${end}`;
}

function request(options: StartOptions): CreateTransformJobCommandInput {
  const { kmsKeyId, transformAmiVersion } = options;
  return {
    TransformJobName: options.jobName,
    ModelName: options.modelName,
    BatchStrategy: options.batchStrategy,
    MaxConcurrentTransforms: options.maxConcurrentTransforms,
    MaxPayloadInMB: options.maxPayloadInMB,
    Environment: options.environment,
    ModelClientConfig: {
      InvocationsTimeoutInSeconds: options.invocationsTimeoutInSeconds,
      InvocationsMaxRetries: options.invocationsMaxRetries,
    },
    TransformInput: {
      ContentType: options.contentType,
      SplitType: options.splitType,
      CompressionType: 'None',
      DataSource: { S3DataSource: { S3DataType: options.dataType, S3Uri: options.inputUri } },
    },
    TransformOutput: {
      S3OutputPath: options.outputUri,
      Accept: options.accept,
      AssembleWith: options.assembleWith,
      ...(kmsKeyId && { KmsKeyId: kmsKeyId }),
    },
    TransformResources: {
      InstanceType: options.instanceType as TransformInstanceType,
      InstanceCount: options.instanceCount,
      // SageMaker refuses a key for disks of the instance, which its hardware encrypts.
      ...(kmsKeyId && !hasLocalStorage(options.instanceType) && { VolumeKmsKeyId: kmsKeyId }),
      ...(transformAmiVersion && { TransformAmiVersion: transformAmiVersion }),
    },
    Tags: Object.entries(options.tags).map(([Key, Value]) => ({ Key, Value })),
  };
}

/** Inputs without an output that counts. */
export interface Missing {
  readonly missing: number;
  /** Of these, inputs with an output that does not count. */
  readonly stale: number;
  readonly manifestUri: string;
}

/**
 * Puts a manifest of the inputs that have no output below the output prefix, where the model may read it.
 * @returns undefined if none is missing
 */
async function findMissing(
  s3: S3Client,
  places: TransformPlaces,
  jobName: string,
): Promise<Missing | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'sagemaker-tfs-'));
  try {
    const redriveManifest = join(directory, 'redrive.manifest');
    const { missing, stale } = await verifyOutputs(s3, places, { redriveManifest, samples: 0 });
    if (missing === 0) return undefined;
    const { bucket, key } = asDirectory(parseS3Uri(places.outputUri));
    const target = { bucket, key: `${key}_redrive/${jobName}.manifest` };
    await s3.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: target.key,
        Body: createReadStream(redriveManifest),
        ContentLength: (await stat(redriveManifest)).size,
        ContentType: 'application/json',
      }),
    );
    return { missing, stale, manifestUri: formatS3Uri(target) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
