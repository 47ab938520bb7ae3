/** The jobs that run batch workers: a Processing job of SageMaker, or a job of AWS Batch with its children. */
import { Readable } from 'node:stream';
import {
  type BatchClient,
  DescribeJobsCommand,
  type JobDefinition,
  type JobDetail,
  paginateDescribeJobDefinitions,
} from '@aws-sdk/client-batch';
import { DescribeProcessingJobCommand, type SageMakerClient } from '@aws-sdk/client-sagemaker';
import { CommandError } from '../../errors.ts';
import { isUnknownJob, type JobStatus } from './described-job.ts';

/** A worker's job, as its service describes it. */
export interface WorkerJob {
  readonly status: JobStatus;
  readonly failureReason: string | undefined;
  /** Prefix of the answers. */
  readonly outputUri: string;
  /** SageMaker's name; undefined if AWS Batch chooses among several. */
  readonly instanceType: string | undefined;
  /** Hours that instances have run, all together; of AWS Batch, hours of the containers. */
  readonly instanceHours: number;
  /** Workers by their status, in the words of AWS Batch. */
  readonly workers?: Readonly<Record<string, number>>;
}

const HOUR = 3_600_000;

/**
 * Describes a Processing job.
 * @param now milliseconds, for tests
 * @throws CommandError JOB_NOT_FOUND if there is none, or it runs no worker
 */
export async function describeProcessing(
  sagemaker: SageMakerClient,
  name: string,
  now = Date.now(),
): Promise<WorkerJob> {
  const job = await sagemaker
    .send(new DescribeProcessingJobCommand({ ProcessingJobName: name }))
    .catch((cause: Error) => {
      if (!isUnknownJob(cause)) throw cause;
      throw notFound(`there is no Processing job ${name} in this region.`, cause);
    });
  const { InstanceCount = 1, InstanceType } = job.ProcessingResources?.ClusterConfig ?? {};
  const args = job.AppSpecification?.ContainerArguments ?? [];
  const from = job.ProcessingStartTime?.getTime();
  const to = job.ProcessingEndTime?.getTime() ?? now;
  return {
    status: (job.ProcessingJobStatus ?? 'InProgress') as JobStatus,
    failureReason: job.ExitMessage ?? job.FailureReason,
    outputUri: outputOf(args, {}) ?? noWorker(`the Processing job ${name}`),
    instanceType: InstanceType,
    instanceHours: from === undefined ? 0 : (InstanceCount * Math.max(0, to - from)) / HOUR,
  };
}

/** Jobs that one call describes. */
const DESCRIBED = 100;
/** Calls at once. */
const CALLS = 4;

/**
 * Describes a job of AWS Batch by its id, with all children of an array.
 * @param now milliseconds, for tests
 * @throws CommandError JOB_NOT_FOUND if there is none, or it runs no worker
 */
export async function describeBatchJob(
  batch: BatchClient,
  id: string,
  now = Date.now(),
): Promise<WorkerJob> {
  const [job] = await describeJobs(batch, [id]);
  if (!job) throw notFound(`AWS Batch has no job ${id} in this region. Give its id, not its name.`);
  const children = await childrenOf(batch, id, job);
  const workers: Record<string, number> = {};
  for (const { status = '' } of children) workers[status] = (workers[status] ?? 0) + 1;
  return {
    status: STATUS[job.status ?? ''] ?? 'InProgress',
    failureReason: reasonOf([job, ...children]),
    outputUri: (await outputOfBatch(batch, job)) ?? noWorker(`the job ${id}`),
    instanceType: undefined,
    instanceHours: children.reduce((sum, child) => sum + hoursOf(child, now), 0),
    workers,
  };
}

/** All others continue. */
const STATUS: Readonly<Record<string, JobStatus>> = { SUCCEEDED: 'Completed', FAILED: 'Failed' };

async function describeJobs(batch: BatchClient, ids: readonly string[]): Promise<JobDetail[]> {
  const { jobs = [] } = await batch.send(new DescribeJobsCommand({ jobs: [...ids] }));
  return jobs;
}

async function childrenOf(batch: BatchClient, id: string, job: JobDetail): Promise<JobDetail[]> {
  const size = job.arrayProperties?.size;
  if (size === undefined) return [job];
  const starts = Array.from({ length: Math.ceil(size / DESCRIBED) }, (_, call) => call * DESCRIBED);
  const idsFrom = (start: number) =>
    Array.from({ length: Math.min(DESCRIBED, size - start) }, (_, at) => `${id}:${start + at}`);
  const calls: JobDetail[][] = await Readable.from(starts)
    .map((start: number) => describeJobs(batch, idsFrom(start)), { concurrency: CALLS })
    .toArray();
  return calls.flat();
}

/** Hours of all attempts, those that were taken back by the spot market included. */
function hoursOf({ attempts = [], startedAt, stoppedAt }: JobDetail, now: number): number {
  const spans = attempts.map((attempt) => [attempt.startedAt, attempt.stoppedAt]);
  // The attempt that runs is not among them.
  if (!spans.some(([from]) => from === startedAt)) spans.push([startedAt, stoppedAt]);
  const milliseconds = spans.map(([from, to = now]) => (from === undefined ? 0 : to - from));
  return milliseconds.reduce((sum, span) => sum + Math.max(0, span), 0) / HOUR;
}

/** What a failed child says is more than that a child has failed. */
function reasonOf(jobs: readonly JobDetail[]): string | undefined {
  const failed = jobs.filter(({ status }) => status === 'FAILED');
  const { statusReason, container } = failed.at(-1) ?? {};
  return container?.reason ?? statusReason;
}

/** Parameters of a job replace those of its definition. */
async function outputOfBatch(batch: BatchClient, job: JobDetail): Promise<string | undefined> {
  const { parameters = {}, container, jobDefinition } = job;
  const own = outputOf(container?.command ?? [], parameters);
  if (own !== undefined || jobDefinition === undefined) return own;
  return outputOfDefinition(batch, jobDefinition, parameters);
}

/**
 * Where workers of a definition write.
 * @param named name or ARN, with or without a revision
 * @param parameters of a job, which replace the definition's
 * @returns undefined if there is no such definition, or nothing says so
 */
export async function outputOfDefinition(
  batch: BatchClient,
  named: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  const definition = await findDefinition(batch, named);
  const command = definition?.containerProperties?.command ?? [];
  return outputOf(command, { ...definition?.parameters, ...parameters });
}

/**
 * Without a revision it is the latest active one, as for a job that is submitted. AWS Batch describes no more than a name then.
 * @see https://docs.aws.amazon.com/batch/latest/APIReference/API_DescribeJobDefinitions.html
 */
async function findDefinition(
  batch: BatchClient,
  named: string,
): Promise<JobDefinition | undefined> {
  const [jobDefinitionName = '', revision] = named.slice(named.lastIndexOf('/') + 1).split(':');
  const asked =
    revision === undefined ? { jobDefinitionName, status: 'ACTIVE' } : { jobDefinitions: [named] };
  let latest: JobDefinition | undefined;
  for await (const { jobDefinitions = [] } of paginateDescribeJobDefinitions(
    { client: batch },
    asked,
  )) {
    for (const definition of jobDefinitions) {
      if ((definition.revision ?? 0) > (latest?.revision ?? -1)) latest = definition;
    }
  }
  return latest;
}

/** The worker's `--output`; undefined for a command of something else, or with a parameter that is not known. */
function outputOf(
  command: readonly string[],
  parameters: Readonly<Record<string, string>>,
): string | undefined {
  if (command[0] !== 'batch-worker') return parameters.output;
  const value = command[command.indexOf('--output') + 1] ?? '';
  const name = /^Ref::(.+)$/.exec(value)?.[1];
  return name === undefined ? value : parameters[name];
}

function notFound(message: string, cause?: Error): CommandError {
  return new CommandError('JOB_NOT_FOUND', message, { cause });
}

function noWorker(what: string): never {
  throw notFound(`${what} runs no batch worker. Name one that batch start has started.`);
}
