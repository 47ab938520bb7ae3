/** Calls to S3 of each way to answer a number of images, and of whoever reads the answers behind it. */
import { WORKER_DEFAULTS } from '@sagemaker-tfs/batch';
import type { Way, Workload } from './workload.ts';

/** Calls by their kind, which differ in price. */
export interface Calls {
  readonly gets: number;
  readonly puts: number;
  readonly lists: number;
}

/** Keys that one LIST request brings. */
const KEYS_PER_LIST = 1_000;
/** Times that a sharded run lists each key: its plan, and inputs and outputs before and behind each job. */
const SHARDED_LISTS = 5;
/** Times that a worker's run lists each key: it, and `verify` behind it. */
const WORKER_LISTS = 2;

const listed = (keys: number, times = 1) => (times * keys) / KEYS_PER_LIST;

/** Objects that hold the inputs. */
export function objectsOf(way: Way, { images, imagesPerObject }: Workload): number {
  return way === 'packed' ? Math.ceil(images / imagesPerObject) : images;
}

/**
 * Calls of the run: each object is listed, read and answered with one. Packing reads each image once more; a worker
 * writes its answers many to an object.
 */
export function runCalls(way: Way, work: Workload, jobs: number): Calls {
  if (way === 'worker') return workerCalls(work.images);
  const objects = objectsOf(way, work);
  const run = {
    gets: objects,
    puts: objects,
    lists: listed(objects, jobs > 1 ? SHARDED_LISTS : 1),
  };
  if (way !== 'packed') return run;
  // Beside each file packing writes one of its keys.
  return {
    gets: run.gets + work.images,
    puts: run.puts + 2 * objects,
    lists: run.lists + listed(work.images),
  };
}

/** Calls of a worker's run. */
export function workerCalls(images: number): Calls {
  const { ranges } = WORKER_DEFAULTS;
  // A part is two objects, and each range has one for its end.
  return {
    gets: images,
    puts: 2 * workerParts(images) + ranges,
    lists: listed(images, WORKER_LISTS),
  };
}

function workerParts(images: number): number {
  const { ranges, partKeys } = WORKER_DEFAULTS;
  return ranges * Math.ceil(images / ranges / partKeys);
}

/** Calls of `batch fetch`, or of whoever else reads all answers. An endpoint's callers have them already. */
export function fetchCalls(way: Way, work: Workload): Calls {
  if (way === 'endpoint') return { gets: 0, puts: 0, lists: 0 };
  const objects = way === 'worker' ? 2 * workerParts(work.images) : objectsOf(way, work);
  return { gets: objects, puts: 0, lists: listed(objects) };
}
