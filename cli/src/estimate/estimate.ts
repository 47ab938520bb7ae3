/** Hours and cost of a number of images: batch transform, a batch worker, an endpoint, asynchronous inference. */
import { WORKER_DEFAULTS } from '@sagemaker-tfs/batch';
import { usageError } from '../errors.ts';
import type { Prices } from './prices.ts';

/** The ways to do it. */
export const WAYS = ['batch', 'worker', 'endpoint', 'async'] as const;
export type Way = (typeof WAYS)[number];

/** What is to be done. */
export interface Workload {
  readonly images: number;
  /** Bytes of one image, and of the answer to it. */
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** Seconds that one instance, fully loaded, needs for an image: 1 / its images a second. */
  readonly secondsPerImage: number;
  readonly instanceCount: number;
  /** Images in one S3 object. 1 where they are not packed into shards. */
  readonly imagesPerObject: number;
  /** Objects of one transform job, 0 for one job over all. */
  readonly objectsPerJob: number;
  /** Jobs at once of a sharded run, each with all its instances. */
  readonly concurrentJobs: number;
  /** Minutes that instances are paid for before the first image: start, image pull, model. */
  readonly startMinutes: number;
  /** Part of an endpoint's time in which it is busy, as its callers keep no queue. */
  readonly endpointUse: number;
}

/** One way's answer, US dollars. */
export interface Estimate {
  readonly way: Way;
  readonly instanceType: string;
  readonly instanceCount: number;
  readonly hours: number;
  /** Transform jobs; 0 for endpoints. */
  readonly jobs: number;
  readonly instanceCost: number;
  /**
   * Requests to S3: each object is read and answered with one, and listed; packing reads each image once more. A worker
   * reads images that are not packed, and writes its answers many to an object.
   */
  readonly requestCost: number;
  /** Data in and out of endpoints. */
  readonly dataCost: number;
  readonly cost: number;
  readonly costPerMillion: number;
}

const GB = 1024 ** 3;
/** Keys that one LIST request brings. */
const KEYS_PER_LIST = 1_000;
/** Times that a sharded run lists each key: its plan, and inputs and outputs before and behind each job. */
const SHARDED_LISTS = 5;
/** Times that a worker's run lists each key: it, and `verify` behind it. */
const WORKER_LISTS = 2;

/**
 * Estimates one way.
 * @param instanceHour US dollars
 */
export function estimate(
  way: Way,
  work: Workload,
  instanceType: string,
  instanceHour: number,
  prices: Prices,
): Estimate {
  const { images, instanceCount } = work;
  const objects = Math.ceil(images / work.imagesPerObject);
  const jobs =
    way !== 'batch' ? 0 : work.objectsPerJob > 0 ? Math.ceil(objects / work.objectsPerJob) : 1;
  const use = way === 'endpoint' ? work.endpointUse : 1;
  const busyHours = (images * work.secondsPerImage) / instanceCount / use / 3_600;
  // Each job of a sharded run starts instances of its own; some run at the same time.
  const paidHours = busyHours + (Math.max(1, jobs) * work.startMinutes) / 60;
  const hours = paidHours / Math.max(1, Math.min(jobs, work.concurrentJobs));
  const instanceCost = paidHours * instanceCount * instanceHour;
  const { s3 } = prices;
  const requestCost =
    way === 'worker'
      ? workerRequests(images, prices)
      : (objects / 1_000) * (s3.getRequests1000 + s3.putRequests1000) +
        ((objects * (jobs > 1 ? SHARDED_LISTS : 1)) / KEYS_PER_LIST / 1_000) * s3.listRequests1000 +
        packingCost(work, prices);
  const dataCost =
    way === 'batch' || way === 'worker'
      ? 0
      : ((images * (work.inputBytes + work.outputBytes)) / GB) * prices.hostingDataGB;
  const cost = instanceCost + requestCost + dataCost;
  return {
    way,
    instanceType,
    instanceCount,
    hours,
    jobs,
    instanceCost,
    requestCost,
    dataCost,
    cost,
    costPerMillion: (cost / images) * 1e6,
  };
}

/** Calls of a worker's run to S3. */
export function workerCalls(images: number): { gets: number; puts: number; lists: number } {
  const { ranges, partKeys } = WORKER_DEFAULTS;
  // A part is two objects, and each range has one for its end.
  const parts = ranges * Math.ceil(images / ranges / partKeys);
  return {
    gets: images,
    puts: 2 * parts + ranges,
    lists: (WORKER_LISTS * images) / KEYS_PER_LIST,
  };
}

function workerRequests(images: number, { s3 }: Prices): number {
  const { gets, puts, lists } = workerCalls(images);
  const thousands =
    gets * s3.getRequests1000 + puts * s3.putRequests1000 + lists * s3.listRequests1000;
  return thousands / 1_000;
}

/** Listing and reading every image, and writing the objects that hold them. */
function packingCost({ images, imagesPerObject }: Workload, { s3 }: Prices): number {
  if (imagesPerObject === 1) return 0;
  const objects = Math.ceil(images / imagesPerObject);
  return (
    (images / 1_000) * s3.getRequests1000 +
    (images / KEYS_PER_LIST / 1_000) * s3.listRequests1000 +
    (objects / 1_000) * s3.putRequests1000
  );
}

/**
 * Seconds for each image out of a measurement: the result of `batch local --json`, `batch worker --json` or
 * `tune --json`.
 * @throws CommandError USAGE where it is neither
 */
export function measuredSeconds(measurement: unknown, source: string): number {
  const { done, now, seconds, knee } = measurement as {
    done?: unknown;
    now?: unknown;
    seconds?: unknown;
    knee?: { imagesPerSecond?: unknown };
  };
  // A worker counts ranges as done, and the inputs of this run as now.
  if (now === 0) {
    throw usageError(
      `${source} measures nothing: its worker found every input answered. Measure a run with inputs to answer.`,
    );
  }
  if (typeof now === 'number' && typeof seconds === 'number' && now > 0) return seconds / now;
  if (typeof done === 'number' && typeof seconds === 'number' && done > 0) return seconds / done;
  if (typeof knee?.imagesPerSecond === 'number') return 1 / knee.imagesPerSecond;
  throw usageError(
    `${source} is not a measurement. Give the output of batch local --json, of batch worker --json or of tune --json.`,
  );
}

/** The instance type that a measurement of `tune --recommend` names; undefined for every other machine. */
export function measuredOn(measurement: unknown): string | undefined {
  const { knee } = measurement as { knee?: { where?: unknown } };
  const where = knee?.where;
  return typeof where === 'string' && /^ml\./.test(where) ? where : undefined;
}
