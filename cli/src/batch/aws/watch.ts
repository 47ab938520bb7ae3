/** Live progress of a job, counted on S3: SageMaker itself tells only whether it has ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { PLANNED_FOLDER, PLANNED_MARKER, type S3Location } from '@sagemaker-tfs/batch';
import { isAbsent, readText } from '@sagemaker-tfs/batch/s3';
import * as z from 'zod';
import type { AwsClients } from './clients.ts';
import { CLOCKS } from './clocks.ts';
import { count } from './count.ts';
import type { TransformJob } from './described-job.ts';
import { rideOut } from './ride-out.ts';
import { runFailures } from './run-failures.ts';
import { describe, hasEnded } from './transform-job.ts';
import { openKeys, outputRanges, type TransformPlaces } from './transform-places.ts';
import type { WorkerJob } from './worker-job.ts';

/** One look at a job. */
export interface JobView {
  readonly job: TransformJob | WorkerJob;
  readonly total: number;
  /** Outputs written since the job was made; of a sharded run, all that are there. Of a worker, inputs dealt with. */
  readonly done: number;
  /** Hours that the instances have run, all together. */
  readonly instanceHours: number;
  /** Inputs that failed, by the reason; of a transform job alone none is known. */
  readonly failures: Readonly<Record<string, number>>;
}

/** How to look. */
export interface WatchOptions {
  readonly intervalSeconds: number;
  readonly once?: boolean;
  /** Receives why AWS does not answer; it is asked again. */
  readonly onTrouble?: (error: Error) => void;
}

/** A listing may take this share of the time: 120 million keys are 120,000 requests. */
const LISTING_SHARE = 0.1;

/** Looks at a job until it has ended. The inputs are counted once, the outputs each time. */
export async function* watchJob(
  clients: AwsClients,
  name: string,
  { intervalSeconds, once, onTrouble }: WatchOptions,
): AsyncGenerator<JobView> {
  const every = intervalSeconds * 1_000;
  const look = looks(clients, name);
  for (let seen = await look(); ; seen = await rideOut(look, { every, onTrouble })) {
    yield seen.view;
    if (once || hasEnded(seen.view.job)) return;
    await sleep(Math.max(every, seen.listed / LISTING_SHARE));
  }
}

/** Looks at a job; what is known of it for good is asked once. */
function looks({ s3, ...clients }: AwsClients, name: string) {
  const failuresOf = runFailures(s3);
  let [total, planned] = [0, false];
  return async () => {
    const job = await describe(clients, name);
    if (!planned) {
      // The shards that are planned meanwhile bring more inputs.
      const isComplete = await isPlanned(s3, job);
      total = await countInputs(s3, job);
      planned = isComplete;
    }
    const started = performance.now();
    const done = await countOutputs(s3, job);
    const listed = performance.now() - started;
    const failures = await failuresOf(job);
    const view: JobView = { job, total, done, instanceHours: instanceHours(job), failures };
    return { view, listed };
  };
}

/** False while a run's shards are being planned: its inputs are not all known. */
async function isPlanned(s3: S3Client, { shards }: TransformPlaces): Promise<boolean> {
  return shards === undefined || (await plannedInputs(s3, shards)) !== undefined;
}

const marker = z.object({ inputs: z.number() });

/** What the plan's marker says. */
async function plannedInputs(s3: S3Client, { bucket, key }: S3Location) {
  const place = { bucket, key: `${key.slice(0, -PLANNED_FOLDER.length)}${PLANNED_MARKER}` };
  const text = await readText(s3, place).catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw error;
  });
  return text === undefined ? undefined : marker.parse(JSON.parse(text)).inputs;
}

async function countInputs(s3: S3Client, places: TransformPlaces): Promise<number> {
  if (places.shards) return (await plannedInputs(s3, places.shards)) ?? 0;
  const { parts } = await openKeys(s3, places);
  return count(parts.map(({ inputs }) => inputs));
}

async function countOutputs(s3: S3Client, job: TransformJob): Promise<number> {
  const since = job.continues ? (job.since ?? 0) : job.createdAt.getTime() - CLOCKS;
  const { parts, outputs } = await openKeys(s3, job);
  // The inputs of a manifest tell nothing of the ranges that its outputs are best listed in.
  const isListed = job.shards === undefined && job.dataType === 'S3Prefix';
  const listings = isListed ? parts.map((part) => part.outputs) : await outputRanges(s3, outputs);
  return count(listings, ({ modified }) => modified >= since);
}

/** Of an execution, its jobs' hours from their creation on. @param now milliseconds, for tests */
function instanceHours(job: TransformJob, now = Date.now()): number {
  const spans = job.jobs
    ? job.jobs.map(({ createdAt, endedAt }) => [createdAt, endedAt] as const)
    : job.startedAt
      ? [[job.startedAt, job.endedAt] as const]
      : [];
  const milliseconds = spans
    .map(([from, to]) => Math.max(0, (to?.getTime() ?? now) - from.getTime()))
    .reduce((sum, span) => sum + span, 0);
  return (job.instanceCount * milliseconds) / 3_600_000;
}
