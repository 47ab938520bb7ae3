/** Runs the pictures of one request, in this thread or in the pool, whichever is faster. */
import { takeBytes, takeSharedBytes } from '../byte-pool.ts';
import { ServingError } from '../errors.ts';
import { decodeInThread, type ImagePool, imagePool } from './image-pool.ts';
import { type ImageElements, type ImageTask, runImageTask } from './image-task.ts';

/** Rough estimates of what an element of the tensor and a byte of JPEG cost the thread that does them. */
const NANOSECONDS = { element: 1.5, jpegByte: 20 };
/** Handing a picture to a thread and taking it back costs some tenths of a millisecond in all. */
const POOL_PAYS_FROM_MS = 3;

/** How to run tasks. */
export interface RunOptions {
  /** What messages call a picture, by its index. */
  readonly name: (index: number) => string;
  readonly signal?: AbortSignal | undefined;
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
  // Threads write their rows into the same memory: nothing is copied or handed over.
  const batch = poolFor(tasks) ? takeSharedBytes(size) : takeBytes(size);
  const rows = tasks.map((task, index) => ({
    ...task,
    row: batch.subarray(index * rowBytes, (index + 1) * rowBytes),
  }));
  await runImageTasks(rows, options);
  return batch;
}

/**
 * Decodes and converts pictures; the first that fails ends the others.
 * @throws ServingError naming the picture
 */
export async function runImageTasks(
  tasks: readonly ImageTask[],
  { name, signal }: RunOptions,
): Promise<ImageElements[]> {
  const failed = new AbortController();
  const stop = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  const pool = poolFor(tasks);
  const runOne = async (task: ImageTask, index: number): Promise<ImageElements> => {
    try {
      if (pool) return await decodeInThread(pool, task, stop);
      if (index > 0) await nextTurn();
      stop.throwIfAborted();
      return await runImageTask(task);
    } catch (error) {
      failed.abort(error);
      throw error instanceof ServingError ? withName(error, name(index)) : error;
    }
  };
  return Promise.all(tasks.map(runOne));
}

/** The threads, where they pay. */
function poolFor(tasks: readonly ImageTask[]): ImagePool | undefined {
  return blockingMilliseconds(tasks) >= POOL_PAYS_FROM_MS ? imagePool() : undefined;
}

/** Roughly how long this thread would be kept from other work if it did everything. */
function blockingMilliseconds(tasks: readonly ImageTask[]): number {
  const total = tasks.reduce((sum, { input, bytes }) => {
    const channels = input.channels === 'gray' ? 1 : 3;
    const elements = (input.width ?? 0) * (input.height ?? 0) * channels;
    // One picture alone is decoded in a thread of its own if it is large: only a batch adds up.
    const decode = tasks.length > 1 ? bytes.length * NANOSECONDS.jpegByte : 0;
    return sum + elements * NANOSECONDS.element + decode;
  }, 0);
  return total / 1e6;
}

/** Lets other requests have their turn between two pictures of a batch. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function withName(error: ServingError, name: string): ServingError {
  if (name === '') return error;
  return new ServingError(error.code, `${name}: ${error.message}`, { cause: error });
}
