/** Whether the holder of a lease still writes: a run of a state machine, or a job of SageMaker. */
import {
  DescribeProcessingJobCommand,
  DescribeTransformJobCommand,
  type SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { DescribeExecutionCommand, type SFNClient } from '@aws-sdk/client-sfn';
import {
  formatS3Uri,
  holderOf,
  JOB_TO_COME,
  jobsLeftBy,
  type LeaseJob,
  type RunLease,
} from '@sagemaker-tfs/batch';
import { unendedJobs } from '@sagemaker-tfs/batch/jobs';
import type { FoundLease, NeighborLease, WritingWorkers } from '@sagemaker-tfs/batch/s3';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { CommandError } from '../../errors.ts';
import type { AwsClients } from './clients.ts';
import { isUnknownJob } from './described-job.ts';

/** What a message is about. */
interface LeaseNames {
  /** The outputs, as the message names them. */
  readonly outputs: string;
  readonly leaseUri: string;
  /** Where this command looks. */
  readonly region: string;
}

type Clients = Pick<AwsClients, 'sagemaker' | 'sfn'>;

/** @throws CommandError OUTPUTS_IN_USE if the holder writes, is about to, or cannot be looked at */
export async function refuseHeld(
  clients: Clients,
  found: FoundLease,
  names: LeaseNames,
): Promise<void> {
  await refuseWriting(clients, found, names, (lease, why, cause) => {
    throw hidden(lease, names, why, cause);
  });
}

/**
 * For outputs above or below: a holder that cannot be looked at keeps nobody out, as nothing says that both write the same keys.
 * @throws CommandError OUTPUTS_IN_USE if the holder writes, or is about to
 */
export async function refuseNeighbor(
  clients: Clients,
  found: NeighborLease,
  { outputUri, region }: { readonly outputUri: string; readonly region: string },
): Promise<void> {
  const outputs = `${found.outputUri}, ${found.side} ${outputUri}`;
  const names = { outputs, leaseUri: formatS3Uri(found.place), region };
  await refuseWriting(clients, found, names, () => 'ended');
}

/** @param onHidden receives a lease whose holder cannot be looked at, and why */
async function refuseWriting(
  clients: Clients,
  { lease, modified }: FoundLease,
  names: LeaseNames,
  onHidden: (lease: RunLease, why: string, cause?: Error) => HolderState,
): Promise<void> {
  if (!lease || lease.returned) return;
  const region = lease.job?.region ?? lease.execution?.split(':')[3];
  const state =
    region && region !== names.region
      ? onHidden(lease, `region ${region} is another one`)
      : await stateOf(clients, lease).catch((error: Error) =>
          onHidden(lease, error.message, error),
        );
  if (state === 'writes') throw inUse(lease, names);
  if (typeof state === 'object') throw leftBehind(lease, state.left, names);
  if (state === 'absent' && Date.now() - modified < JOB_TO_COME) throw toCome(lease, names);
}

/** `left` are jobs of an execution that has ended. */
type HolderState = 'writes' | 'ended' | 'absent' | { readonly left: readonly string[] };

async function stateOf(
  { sagemaker, sfn }: Clients,
  { execution = '', job }: RunLease,
): Promise<HolderState> {
  if (job) return stateOfJob(sagemaker, job);
  const state = await stateOfExecution(sfn, execution);
  if (state !== 'ended') return state;
  const left = await unendedJobs(sagemaker, execution);
  return left.length > 0 ? { left } : 'ended';
}

/** What Step Functions answers for an execution that it no longer has. */
const FORGOTTEN: ReadonlySet<string> = new Set(['ExecutionDoesNotExist', 'InvalidArn']);

async function stateOfExecution(sfn: SFNClient, executionArn: string): Promise<HolderState> {
  try {
    const { status } = await sfn.send(
      new DescribeExecutionCommand({ executionArn, includedData: 'METADATA_ONLY' }),
    );
    return status === 'RUNNING' || status === 'PENDING_REDRIVE' ? 'writes' : 'ended';
  } catch (error) {
    if (FORGOTTEN.has((error as Error).name)) return 'ended';
    throw error;
  }
}

/** States of both kinds of jobs after which nothing is written. */
const ENDED: ReadonlySet<string> = new Set(['Completed', 'Failed', 'Stopped']);

async function stateOfJob(sagemaker: SageMakerClient, job: LeaseJob): Promise<HolderState> {
  try {
    return ENDED.has((await statusOf(sagemaker, job)) ?? '') ? 'ended' : 'writes';
  } catch (error) {
    if (isUnknownJob(error as Error)) return 'absent';
    throw error;
  }
}

async function statusOf(
  sagemaker: SageMakerClient,
  { type, name }: LeaseJob,
): Promise<string | undefined> {
  if (type === 'transform') {
    const look = new DescribeTransformJobCommand({ TransformJobName: name });
    return (await sagemaker.send(look)).TransformJobStatus;
  }
  const look = new DescribeProcessingJobCommand({ ProcessingJobName: name });
  return (await sagemaker.send(look)).ProcessingJobStatus;
}

/** The error for a holder that writes. @param lease undefined if another one is as fast as this start, again and again */
export function inUse(
  lease: RunLease | undefined,
  { outputs }: Pick<LeaseNames, 'outputs'>,
): CommandError {
  const { execution, job } = lease ?? {};
  if (execution !== undefined) {
    return error(
      `a run of a state machine writes to ${outputs}: ${execution}. Wait for its end, stop it with sagemaker-tfs batch stop, or give another --output-uri.`,
    );
  }
  if (!job) return error(`another start writes to ${outputs}. Try again in a minute.`);
  const name = job.type === 'processing' ? `${job.name} --engine processing` : job.name;
  return error(
    `${holderOf({ job })} writes to ${outputs}. Follow it with sagemaker-tfs batch watch ${name}, stop it with sagemaker-tfs batch stop ${name}, or give another --output-uri.`,
  );
}

/** The error for workers of AWS Batch, which hold a lease of their own. */
export function inUseByWorkers({ run }: WritingWorkers, outputUri: string): CommandError {
  return error(
    `workers of AWS Batch write to ${outputUri}: those of the job ${run}. Follow them with sagemaker-tfs batch watch ${run} --engine batch, wait until three minutes after their end, or give another --output-uri.`,
  );
}

function leftBehind(
  { execution = '' }: RunLease,
  left: readonly string[],
  { outputs }: LeaseNames,
): CommandError {
  return error(
    `${jobsLeftBy(execution, left)}, still writes to ${outputs}. Wait for its end, stop it with sagemaker-tfs batch stop ${left[0]}, or give another --output-uri.`,
  );
}

function toCome(lease: RunLease, { outputs }: LeaseNames): CommandError {
  return error(
    `${holderOf(lease)} is about to write to ${outputs}: another start makes it, or was interrupted. Try again in ${JOB_TO_COME / 60_000} minutes, or give another --output-uri.`,
  );
}

function hidden(
  lease: RunLease,
  { leaseUri }: LeaseNames,
  why: string,
  cause?: Error,
): CommandError {
  return error(
    `the lease ${leaseUri} is that of ${holderOf(lease)}, which cannot be looked at: ${sentence(why)} Wait for its end; if it has ended, delete the lease.`,
    cause,
  );
}

function error(message: string, cause?: Error): CommandError {
  return new CommandError('OUTPUTS_IN_USE', message, { cause });
}
