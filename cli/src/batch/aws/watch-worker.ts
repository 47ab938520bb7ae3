/** Live progress of a batch worker, counted on S3 by the parts that it has written. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { hasEnded } from './transform-job.ts';
import type { JobView, WatchOptions } from './watch.ts';
import type { WorkerJob } from './worker-job.ts';
import { workerProgress } from './worker-progress.ts';

/** Looks at a worker until its job has ended. @param describe asked at every look */
export async function* watchWorker(
  s3: S3Client,
  describe: () => Promise<WorkerJob>,
  { intervalSeconds, once }: WatchOptions,
): AsyncGenerator<JobView> {
  let job = await describe();
  const look = workerProgress(s3, job.outputUri);
  for (;;) {
    const progress = await look();
    yield { job, ...progress, instanceHours: job.instanceHours };
    if (once || hasEnded(job)) return;
    await sleep(intervalSeconds * 1_000);
    // Described first: what is written until its end is counted then.
    job = await describe();
  }
}
