/** The function behind a batch transform. */
import { S3Client } from '@aws-sdk/client-s3';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { unendedJobs } from '@sagemaker-tfs/batch/jobs';
import { jobLogs, readJobLog } from '@sagemaker-tfs/batch/logs';
import { guarded } from '@sagemaker-tfs/batch/s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import {
  type BeginRequest,
  type BeginResult,
  beginRun,
  type HoldRequest,
  type HoldResult,
  holdLease,
  type ReleaseRequest,
  type ReleaseResult,
  releaseLease,
  type Since,
} from './begin.ts';
import type { LogReader } from './dead-letters.ts';
import { findPending, type PendingRequest, type PendingResult } from './pending.ts';
import { type PlanPosition, type PlanResult, planShards } from './plan.ts';
import { countProgress, type ProgressRequest, type ProgressResult } from './progress.ts';
import { withShardSize } from './shard-size.ts';
import { type StopReason, type StopRequest, stopRun, type WhyRequest, whyStopped } from './stop.ts';
import { type Summary, type SummaryRequest, summarizeRun } from './summary.ts';

export type { PendingResult };

/** Of work before which the lease is looked at; runs of earlier definitions do not always say who they are. */
type MayHold = Partial<Pick<HoldRequest, 'execution'>>;

/** What the state machine asks. */
export type ShardRequest =
  | ({ readonly action: 'begin' } & BeginRequest)
  | ({ readonly action: 'hold' } & HoldRequest)
  | ({ readonly action: 'release' } & ReleaseRequest)
  | ({
      readonly action: 'plan';
      readonly settings: TransformSettings;
      readonly since: Since;
      readonly position?: PlanPosition;
    } & MayHold)
  | ({ readonly action: 'pending' } & PendingRequest & MayHold)
  | ({ readonly action: 'progress' } & ProgressRequest)
  | ({ readonly action: 'summary' } & SummaryRequest & MayHold)
  | ({ readonly action: 'stop' } & StopRequest)
  | ({ readonly action: 'why' } & WhyRequest);

type PlanRequest = Extract<ShardRequest, { readonly action: 'plan' }>;

/** Kept back for writing what was found, milliseconds. */
const RESERVE_MS = 60_000;
/** The same while a log is read, whose pages may be throttled for minutes. */
const LOG_RESERVE_MS = 240_000;

/** Lambda's entry. */
export async function handler(
  request: ShardRequest,
  context: { getRemainingTimeInMillis(): number },
): Promise<
  | BeginResult
  | HoldResult
  | ReleaseResult
  | PlanResult
  | PendingResult
  | ProgressResult
  | Summary
  | StopReason
> {
  const s3 = guarded(new S3Client({}));
  const isLeft = (milliseconds: number) => context.getRemainingTimeInMillis() >= milliseconds;
  const outOfTime = () => !isLeft(RESERVE_MS);
  const logOf = logReader(() => !isLeft(LOG_RESERVE_MS));
  try {
    switch (request.action) {
      case 'begin':
        return await beginRun(s3, leftBy, request);
      case 'hold':
        return await holdLease(s3, request);
      case 'release':
        return await releaseLease(s3, leftBy, request);
      case 'plan':
        return await whileHeld(s3, request, () => plan(s3, request, outOfTime));
      case 'pending':
        return await whileHeld(s3, request, () => findPending(s3, request, outOfTime, logOf));
      case 'progress':
        return await countProgress(s3, request);
      case 'summary':
        return await whileHeld(s3, request, () => summarizeRun(s3, request, outOfTime, logOf));
      case 'stop':
        return await stopRun(s3, request);
      case 'why':
        return await whyStopped(s3, request);
    }
  } finally {
    s3.destroy();
  }
}

/** Jobs of an execution that have not ended. Runs that end together share the rate of a listing. */
async function leftBy(execution: string): Promise<string[]> {
  const sagemaker = new SageMakerClient({ retryMode: 'adaptive', maxAttempts: 8 });
  try {
    return await unendedJobs(sagemaker, execution);
  } finally {
    sagemaker.destroy();
  }
}

/** Works unless another execution has the outputs by now. */
async function whileHeld<Result>(
  s3: S3Client,
  { settings, execution }: { readonly settings: TransformSettings } & MayHold,
  work: () => Promise<Result>,
): Promise<Result | HoldResult> {
  const { lost } = execution === undefined ? {} : await holdLease(s3, { settings, execution });
  return lost === undefined ? work() : { lost };
}

/** Reads a job's log once, however many shards ask. */
function logReader(outOfTime: () => boolean): LogReader {
  const known = new Map<string, ReturnType<typeof readJobLog>>();
  return (job) => {
    const log = known.get(job) ?? readOnce(job, outOfTime);
    known.set(job, log);
    return log;
  };
}

async function readOnce(job: string, outOfTime: () => boolean) {
  const logs = jobLogs();
  try {
    return await readJobLog(logs, job, outOfTime);
  } finally {
    logs.destroy();
  }
}

async function plan(
  s3: S3Client,
  { settings, since, position }: PlanRequest,
  outOfTime: () => boolean,
): Promise<PlanResult> {
  const sized = await withShardSize(s3, settings, since, position);
  return planShards(s3, settings, sized, outOfTime);
}
