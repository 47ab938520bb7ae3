/** Hours and cost of a number of images: transform jobs, a batch worker, an endpoint, asynchronous inference. */
import { usageError } from '../errors.ts';
import { type Calls, fetchCalls, objectsOf, runCalls } from './calls.ts';
import { missingPrice, type Prices } from './prices.ts';
import { type KeyUse, PACKING_TYPE, type Way, type Workload } from './workload.ts';

/** What is paid for, US dollars. */
export interface Costs {
  readonly instances: number;
  /** The instance that packs the images, of {@link PACKING_TYPE} where its price is known. */
  readonly packing: number;
  /** Calls to S3 of the run. */
  readonly requests: number;
  /** Calls to S3 of whoever reads the answers. */
  readonly fetch: number;
  /** Calls to KMS. */
  readonly keys: number;
  /** What the containers log, in CloudWatch. */
  readonly logs: number;
  /** Data in and out of endpoints, and through a NAT gateway. */
  readonly data: number;
  readonly storage: number;
  /** What failed, once more. */
  readonly again: number;
}

/** One way's answer, US dollars. */
export interface Estimate {
  readonly way: Way;
  readonly instanceType: string;
  readonly instanceCount: number;
  /** Of the run itself, without packing before it and what is done again behind it. */
  readonly hours: number;
  /** Transform jobs; 0 for the others. */
  readonly jobs: number;
  readonly costs: Costs;
  readonly cost: number;
  readonly costPerMillion: number;
}

const GB = 1024 ** 3;

/**
 * Estimates one way.
 * @param instanceHour US dollars
 * @throws CommandError PRICE_UNKNOWN if KMS, NAT or a log is asked for and the price file lacks it
 */
export function estimate(
  way: Way,
  work: Workload,
  instanceType: string,
  instanceHour: number,
  prices: Prices,
): Estimate {
  const { images, instanceCount, objectsPerJob } = work;
  const isJob = way === 'batch' || way === 'packed';
  const jobs = !isJob ? 0 : objectsPerJob > 0 ? Math.ceil(objectsOf(way, work) / objectsPerJob) : 1;
  const use = way === 'endpoint' ? work.endpointUse : 1;
  const busyHours = (images * work.secondsPerImage) / instanceCount / use / 3_600;
  // Each job of a sharded run starts instances of its own; some run at the same time.
  const paidHours = busyHours + (Math.max(1, jobs) * work.startMinutes) / 60;
  const run = runCalls(way, work, jobs);
  const fetch = fetchCalls(way, work);
  const costs: Costs = {
    instances: paidHours * instanceCount * instanceHour,
    packing:
      way === 'packed' ? packingCost(work, prices.instanceHour[PACKING_TYPE] ?? instanceHour) : 0,
    requests: priceOf(run, prices),
    fetch: priceOf(fetch, prices),
    keys: keyCost(run, fetch, work, prices),
    logs: logCost(way, work, prices),
    data: dataCost(way, work, prices),
    storage: storageCost(way, work, prices),
    again: againCost(way, work, instanceHour, prices),
  };
  const cost = Object.values(costs).reduce((sum: number, part: number) => sum + part, 0);
  return {
    way,
    instanceType,
    instanceCount,
    hours: paidHours / Math.max(1, Math.min(jobs, work.concurrentJobs)),
    jobs,
    costs,
    cost,
    costPerMillion: (cost / images) * 1e6,
  };
}

function packingCost({ images, packedPerSecond }: Workload, instanceHour: number): number {
  return (images / packedPerSecond / 3_600) * instanceHour;
}

function priceOf({ gets, puts, lists }: Calls, { s3 }: Prices): number {
  const thousands =
    gets * s3.getRequests1000 + puts * s3.putRequests1000 + lists * s3.listRequests1000;
  return thousands / 1_000;
}

/**
 * Part of the calls that ask KMS. Each key asks for its object; a bucket's own key saves up to 99% of these calls.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-key.html
 */
const KEY_CALLS: Record<KeyUse, number> = { none: 0, bucket: 0.01, object: 1 };

function keyCost(run: Calls, fetch: Calls, { kms }: Workload, prices: Prices): number {
  const part = KEY_CALLS[kms];
  if (part === 0) return 0;
  const price = prices.kmsRequests10000 ?? missingPrice('kmsRequests10000');
  return part * ((run.gets + run.puts + fetch.gets) / 10_000) * price;
}

/** A worker logs nothing of a single input. */
function logCost(way: Way, work: Workload, prices: Prices): number {
  const bytes = way === 'worker' ? 0 : work.images * work.logBytes;
  if (bytes === 0) return 0;
  const { ingestedGB, storedGBMonth } = prices.logs ?? missingPrice('logs');
  return (bytes / GB) * (ingestedGB + storedGBMonth * work.months);
}

function dataCost(way: Way, work: Workload, prices: Prices): number {
  const gigabytes = (work.images * (work.inputBytes + work.outputBytes)) / GB;
  const hosting = way === 'endpoint' || way === 'async' ? gigabytes * prices.hostingDataGB : 0;
  const nat = work.nat ? gigabytes * (prices.natGB ?? missingPrice('natGB')) : 0;
  return hosting + nat;
}

function storageCost(way: Way, work: Workload, { s3 }: Prices): number {
  const bytes = work.outputBytes + (way === 'packed' ? work.inputBytes : 0);
  return ((work.images * bytes) / GB) * s3.storageGBMonth * work.months;
}

/** An endpoint is there already; the others start an instance. */
function againCost(way: Way, work: Workload, instanceHour: number, prices: Prices): number {
  const images = work.images * work.failed;
  if (images === 0) return 0;
  const start = way === 'endpoint' || way === 'async' ? 0 : work.startMinutes / 60;
  const hours = (images * work.secondsPerImage) / 3_600 + start;
  return hours * instanceHour + priceOf({ gets: images, puts: images, lists: 0 }, prices);
}

/**
 * Seconds for each image out of a measurement: the result of `batch local --json`, `batch worker --json` or
 * `tune --json`.
 * @throws CommandError USAGE if it is neither
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
