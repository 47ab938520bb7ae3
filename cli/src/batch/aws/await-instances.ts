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

/** The job, to be looked at and to be stopped. */
interface Waiting {
  look(): Promise<Pick<TransformJob, 'status' | 'startedAt' | 'failureReason'>>;
  stop(): Promise<unknown>;
}

/**
 * Returns when the job has its instances, or has ended for a reason that is none of capacity.
 * @throws CommandError NO_CAPACITY if it has failed for want of capacity, or was stopped because none came
 */
export async function awaitInstances(
  { look, stop }: Waiting,
  { minutes, every = 15_000 }: Patience,
  isLast: boolean,
): Promise<void> {
  const until = Date.now() + minutes * 60_000;
  let isStopped = false;
  for (;;) {
    const job = await look();
    if (hasEnded(job)) {
      const reason = job.failureReason ?? '';
      if (isStopped && job.status === 'Stopped') {
        throw noCapacity(`there was no capacity within ${minutes} minutes`);
      }
      if (job.startedAt === undefined && IS_NO_CAPACITY.test(reason)) throw noCapacity(reason);
      return;
    }
    if (job.startedAt !== undefined && !isStopped) return;
    if (!isStopped && !isLast && Date.now() >= until) {
      isStopped = true;
      await stop();
    }
    await sleep(every);
  }
}

function noCapacity(reason: string): CommandError {
  return new CommandError('NO_CAPACITY', `no capacity: ${sentence(reason)} Try again later.`);
}

/** Whether a job has ended because no instances came, so that it has made nothing. */
export function hasNoCapacity(error: unknown): boolean {
  return error instanceof CommandError && error.code === 'NO_CAPACITY';
}
