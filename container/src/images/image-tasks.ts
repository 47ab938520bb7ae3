/** Runs the pictures of one request, in this thread or in the pool, whichever is faster. */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import type { Size } from '@sagemaker-tfs/tensors/letterbox';
import { ServingError } from '../errors.ts';
import { takeBytes, takeSharedBytes } from '../memory/byte-pool.ts';
import { nextTurn } from '../waiting/next-turn.ts';
import { RequestSignal } from '../waiting/request-signal.ts';
import { declaredSize } from './declared-size.ts';
import { type ImageFormat, imageFormat } from './image-format.ts';
import { decodeInThread, type ImagePool, imagePool } from './image-pool.ts';
import { type ImageElements, type ImageTask, runImageTask } from './image-task.ts';
import { readJpegHeader } from './jpeg-header.ts';

/** Rough estimates of what an element of the tensor and a byte of JPEG cost the thread that does them. */
const NANOSECONDS = { element: 1.5, jpegByte: 20, filteredByte: 15 };
/** Handing a picture to a thread and taking it back costs some tenths of a millisecond in all. */
const POOL_PAYS_FROM_MS = 3;

/**
 * A picture of this size goes to a thread: to sort its channels, to turn it or to filter it takes ten milliseconds or
 * more, besides what the decoder does in threads of its own.
 */
const LARGE_PIXELS = 2 ** 20;
/** Even the header of such a file may take as long. */
const LARGE_BYTES = 2 ** 20;

/** Pictures of one request that wait for a thread at the same time: enough for every thread, however many there are. */
const LANES = 64;

/** How to run tasks. */
export interface RunOptions {
  /** What messages call a picture, by its index. */
  readonly name: (index: number) => string;
  readonly signal?: AbortSignalLike | undefined;
}

/**
 * Decodes and converts pictures of the input's own size into one batch.
 * @param rowBytes bytes of one picture's elements
 * @throws ServingError naming the picture
 */
export async function runImageBatch(
  tasks: readonly ImageTask[],
  rowBytes: number,
  options: RunOptions,
): Promise<Uint8Array> {
  const size = rowBytes * tasks.length;
  const pool = poolFor(tasks);
  // Threads write their rows into the same memory: nothing is copied or handed over.
  const batch = pool ? takeSharedBytes(size) : takeBytes(size);
  const rows = tasks.map(({ bytes, input, limits }, index) => ({
    bytes,
    input,
    limits,
    row: batch.subarray(index * rowBytes, (index + 1) * rowBytes),
  }));
  await runIn(pool, rows, options);
  return batch;
}

/**
 * Decodes and converts pictures; the first that fails ends the others.
 * @throws ServingError naming the picture
 */
export function runImageTasks(
  tasks: readonly ImageTask[],
  options: RunOptions,
): Promise<ImageElements[]> {
  return runIn(poolFor(tasks), tasks, options);
}

function runIn(
  pool: ImagePool | undefined,
  tasks: readonly ImageTask[],
  options: RunOptions,
): Promise<ImageElements[]> {
  return pool ? runInPool(pool, tasks, options) : runHere(tasks, options);
}

async function runHere(
  tasks: readonly ImageTask[],
  { name, signal }: RunOptions,
): Promise<ImageElements[]> {
  const done: ImageElements[] = [];
  for (const [index, task] of tasks.entries()) {
    // Other requests have their turn between two pictures.
    if (index > 0) await nextTurn();
    signal?.throwIfAborted();
    done.push(await runImageTask(task, signal).catch(naming(name, index)));
  }
  return done;
}

async function runInPool(
  pool: ImagePool,
  tasks: readonly ImageTask[],
  { name, signal }: RunOptions,
): Promise<ImageElements[]> {
  const stop = new RequestSignal();
  const onAbort = () => stop.abort(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener('abort', onAbort, { once: true });
  const runOne = (task: ImageTask, index: number) =>
    decodeInThread(pool, task, stop).catch((error: unknown) => {
      stop.abort(error);
      return naming(name, index)(error);
    });
  const done: ImageElements[] = [];
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < tasks.length; index = next++) {
      done[index] = await runOne(tasks[index] as ImageTask, index);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(LANES, tasks.length) }, lane));
    return done;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** The threads, where they pay. */
function poolFor(tasks: readonly ImageTask[]): ImagePool | undefined {
  const pays =
    tasks.some(({ bytes }) => isLargePicture(bytes)) ||
    blockingMilliseconds(tasks) >= POOL_PAYS_FROM_MS;
  return pays ? imagePool() : undefined;
}

/** By what the picture says of itself. One that nobody can tell the size of may have any. */
export function isLargePicture(bytes: Uint8Array): boolean {
  if (bytes.byteLength >= LARGE_BYTES) return true;
  const format = imageFormat(bytes);
  if (!format) return false;
  const size = format === 'jpeg' ? readJpegHeader(bytes) : sizeOf(bytes, format);
  return !size || size.width * size.height >= LARGE_PIXELS;
}

/** Undefined if the header cannot be read: what is wrong with it is said where it is decoded. */
function sizeOf(bytes: Uint8Array, format: ImageFormat): Size | undefined {
  try {
    return declaredSize(bytes, format);
  } catch {
    return undefined;
  }
}

/** Roughly how long this thread would be kept from other work if it did everything. */
function blockingMilliseconds(tasks: readonly ImageTask[]): number {
  const total = tasks.reduce((sum, { input, bytes }) => {
    const channels = input.channels === 'gray' ? 1 : 3;
    const elements = (input.width ?? 0) * (input.height ?? 0) * channels;
    // One picture alone is decoded in a thread of its own if it is large: only a batch adds up.
    const decode = tasks.length > 1 ? bytes.length * NANOSECONDS.jpegByte : 0;
    // These read every pixel of the picture; the others only some for each of the tensor's.
    const readsAll = input.antialias || input.interpolation === 'area';
    const filter = readsAll ? bytes.length * NANOSECONDS.filteredByte : 0;
    return sum + elements * NANOSECONDS.element + decode + filter;
  }, 0);
  return total / 1e6;
}

/** Throws the error, with the number of the picture if it is about one. */
function naming(name: RunOptions['name'], index: number): (error: unknown) => never {
  return (error) => {
    const shown = name(index);
    if (!(error instanceof ServingError) || shown === '') throw error;
    throw new ServingError(error.code, `${shown}: ${error.message}`, { cause: error });
  };
}
