/** Live progress of a batch worker, counted on S3 by the parts that it has written. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { rideOut } from './ride-out.ts';
import { hasEnded } from './transform-job.ts';
import type { JobView, WatchOptions } from './watch.ts';
import type { WorkerJob } from './worker-job.ts';
import { workerProgress } from './worker-progress.ts';

/** Looks at a worker until its job has ended. @param describe asked at every look */
export async function* watchWorker(
  s3: S3Client,
  describe: () => Promise<WorkerJob>,
  { intervalSeconds, once, onTrouble }: WatchOptions,
): AsyncGenerator<JobView> {
  const every = intervalSeconds * 1_000;
  let progress: ReturnType<typeof workerProgress> | undefined;
  const look = async (): Promise<JobView> => {
    // Described first: what is written until its end is counted then.
    const job = await describe();
    progress ??= workerProgress(s3, job.outputUri);
    return { job, ...(await progress()), instanceHours: job.instanceHours };
  };
  for (let view = await look(); ; view = await rideOut(look, { every, onTrouble })) {
    yield view;
    if (once || hasEnded(view.job)) return;
    await sleep(every);
  }
}
