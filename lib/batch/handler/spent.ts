/** Instance hours that a run has used: one empty object a job, whose name says how long it ran. */
import type { S3Client } from '@aws-sdk/client-s3';
import { listObjects } from '@sagemaker-tfs/batch/s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import { runPlace } from './run-places.ts';
import { writeObject } from './storage.ts';

/** A job that has ended, as SageMaker describes it; times are milliseconds since 1970 or ISO texts. */
export interface Spent {
  readonly TransformJobName?: string;
  /** A job is billed from here on. */
  readonly TransformStartTime?: number | string;
  readonly TransformEndTime?: number | string;
  readonly TransformResources?: { readonly InstanceCount?: number };
}

/** Instance seconds of a job; 0 where it never started. */
function secondsOf(job: Spent): number {
  const [start, end] = [timeOf(job.TransformStartTime), timeOf(job.TransformEndTime)];
  if (start === undefined || end === undefined) return 0;
  return Math.max(
    0,
    Math.round(((end - start) / 1_000) * (job.TransformResources?.InstanceCount ?? 1)),
  );
}

function timeOf(time: number | string | undefined): number | undefined {
  // Seconds or milliseconds, whichever the service integration passes on.
  const value =
    typeof time === 'number' && time < 1e11 ? time * 1_000 : new Date(time ?? Number.NaN).getTime();
  return Number.isNaN(value) ? undefined : value;
}

/** Keeps what a job used; the same job again changes nothing. */
export async function writeSpent(
  s3: S3Client,
  settings: TransformSettings,
  shard: string,
  job: Spent,
): Promise<void> {
  const seconds = secondsOf(job);
  if (seconds === 0) return;
  const name = job.TransformJobName ?? shard.slice(shard.lastIndexOf('/') + 1);
  await writeObject(s3, runPlace(settings, `spent/${name}=${seconds}`), new Uint8Array());
}

/** True where the run's jobs that have ended used up its budget. */
export async function overBudget(s3: S3Client, settings: TransformSettings): Promise<boolean> {
  if (settings.budgetInstanceHours === 0) return false;
  let seconds = 0;
  for await (const { key } of listObjects(s3, runPlace(settings, 'spent/'))) {
    seconds += Number(key.slice(key.lastIndexOf('=') + 1));
  }
  return seconds >= settings.budgetInstanceHours * 3_600;
}
