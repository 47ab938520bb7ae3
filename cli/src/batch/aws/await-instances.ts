/** Waits until a job that SageMaker has taken has its instances: it may find later that there are none. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NO_CAPACITY } from '@sagemaker-tfs/batch';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { CommandError } from '../../errors.ts';
import type { TransformJob } from './described-job.ts';
import { hasEnded } from './transform-job.ts';

const IS_NO_CAPACITY = new RegExp(NO_CAPACITY, 'i');

/** How long a type is waited for. */
export interface Patience {
  /** Minutes after which the job is stopped, and the next type tried; the last type is waited for without a limit. */
  readonly minutes: number;
  /** Milliseconds between two looks. @default 15,000 */
  readonly every?: number;
}

type Ended = Pick<TransformJob, 'status' | 'startedAt' | 'failureReason'>;

/** The job, to be looked at and to be stopped. */
interface Waiting {
  readonly jobName: string;
  look(): Promise<Ended>;
  stop(): Promise<unknown>;
}

/** Looks, and stops, that may fail one after another: the job is there and costs, whatever they say. */
const MAX_FAILURES = 8;

/**
 * Returns when the job has its instances, or has ended for a reason that is none of capacity.
 * @throws CommandError NO_CAPACITY if it has failed for want of capacity, or was stopped because none came;
 *   JOB_NOT_WATCHED if it can be neither looked at nor stopped
 */
export async function awaitInstances(
  { jobName, look, stop }: Waiting,
  { minutes, every = 15_000 }: Patience,
  isLast: boolean,
): Promise<void> {
  const until = Date.now() + minutes * 60_000;
  let isStopped = false;
  let failures = 0;
  for (;;) {
    let job: Ended | undefined;
    try {
      job = await look();
      const isWaiting = !hasEnded(job) && job.startedAt === undefined;
      if (isWaiting && !isStopped && !isLast && Date.now() >= until) {
        // Refused where it has ended since: the next look tells.
        await stop();
        isStopped = true;
      }
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures === MAX_FAILURES) throw notWatched(jobName, error);
    }
    if (job && hasEnded(job)) return checkEnd(job, isStopped ? minutes : undefined);
    if (job?.startedAt !== undefined && !isStopped) return;
    await sleep(every);
  }
}

/** @param stoppedAfter minutes, where it was asked to stop @throws CommandError NO_CAPACITY */
function checkEnd(
  { status, startedAt, failureReason = '' }: Ended,
  stoppedAfter: number | undefined,
): void {
  if (stoppedAfter !== undefined && status === 'Stopped') {
    throw noCapacity(`there was no capacity within ${stoppedAfter} minutes`);
  }
  if (startedAt === undefined && IS_NO_CAPACITY.test(failureReason))
    throw noCapacity(failureReason);
}

function notWatched(jobName: string, cause: unknown): CommandError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CommandError(
    'JOB_NOT_WATCHED',
    `the job ${jobName} was made and continues, but whether it has instances cannot be seen: ${sentence(reason)} The credentials need sagemaker:DescribeTransformJob and StopTransformJob. Look at it with sagemaker-tfs batch watch ${jobName}.`,
    { cause },
  );
}

function noCapacity(reason: string): CommandError {
  return new CommandError('NO_CAPACITY', `no capacity: ${sentence(reason)} Try again later.`);
}

/** Whether a job was made that nobody looks at. */
export function isNotWatched(error: unknown): boolean {
  return error instanceof CommandError && error.code === 'JOB_NOT_WATCHED';
}

/** Whether a job has ended because no instances came, so that it has made nothing. */
export function hasNoCapacity(error: unknown): boolean {
  return error instanceof CommandError && error.code === 'NO_CAPACITY';
}
