/** Whether the holder of a lease still writes: a run of a state machine, or a job of SageMaker. */
import {
  DescribeProcessingJobCommand,
  DescribeTransformJobCommand,
  type SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { DescribeExecutionCommand, type SFNClient } from '@aws-sdk/client-sfn';
import { holderOf, JOB_TO_COME, type LeaseJob, type RunLease } from '@sagemaker-tfs/batch';
import type { FoundLease } from '@sagemaker-tfs/batch/s3';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { CommandError } from '../../errors.ts';
import type { AwsClients } from './clients.ts';
import { isUnknownJob } from './described-job.ts';

/** What a message is about. */
interface LeaseNames {
  readonly outputUri: string;
  readonly leaseUri: string;
  /** Where this command looks. */
  readonly region: string;
}

/** @throws CommandError OUTPUTS_IN_USE if the holder writes, is about to, or cannot be looked at */
export async function refuseHeld(
  clients: Pick<AwsClients, 'sagemaker' | 'sfn'>,
  { lease, modified }: FoundLease,
  names: LeaseNames,
): Promise<void> {
  if (!lease || lease.returned) return;
  const region = lease.job?.region ?? lease.execution?.split(':')[3];
  if (region && region !== names.region) {
    throw hidden(lease, names, `region ${region} is another one`);
  }
  const state = await stateOf(clients, lease).catch((problem: Error) => {
    throw hidden(lease, names, problem.message, problem);
  });
  if (state === 'writes') throw inUse(lease, names);
  if (state === 'absent' && Date.now() - modified < JOB_TO_COME) throw toCome(lease, names);
}

type HolderState = 'writes' | 'ended' | 'absent';

async function stateOf(
  { sagemaker, sfn }: Pick<AwsClients, 'sagemaker' | 'sfn'>,
  { execution = '', job }: RunLease,
): Promise<HolderState> {
  return job ? stateOfJob(sagemaker, job) : stateOfExecution(sfn, execution);
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
  { outputUri }: Pick<LeaseNames, 'outputUri'>,
): CommandError {
  const { execution, job } = lease ?? {};
  if (execution !== undefined) {
    return error(
      `a run of a state machine writes to ${outputUri}: ${execution}. Wait for its end, stop it with sagemaker-tfs batch stop, or give another --output-uri.`,
    );
  }
  if (!job) return error(`another start writes to ${outputUri}. Try again in a minute.`);
  const name = job.type === 'processing' ? `${job.name} --engine processing` : job.name;
  return error(
    `${holderOf({ job })} writes to ${outputUri}. Follow it with sagemaker-tfs batch watch ${name}, stop it with sagemaker-tfs batch stop ${name}, or give another --output-uri.`,
  );
}

function toCome(lease: RunLease, { outputUri }: LeaseNames): CommandError {
  return error(
    `${holderOf(lease)} is about to write to ${outputUri}: another start makes it, or was interrupted. Try again in ${JOB_TO_COME / 60_000} minutes, or give another --output-uri.`,
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
