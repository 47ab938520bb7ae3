/**
 * Threads that decode and convert pictures, so that a large batch neither blocks the event loop nor waits
 * for one core.
 */

import { availableParallelism } from 'node:os';
import { lazyPool, type StopSign, type ThreadPool } from '../threads/thread-pool.ts';
import type { ImageElements, ImageTask } from './image-task.ts';

/** A pool whose threads run `image-worker.ts`. */
export type ImagePool = ThreadPool<ImageTask, ImageElements>;

let threads = availableParallelism();

/** Sets the number of threads; heeded until the first picture is decoded. */
export function setDecodeThreads(count: number): void {
  threads = count;
}

/** The process's pool, or undefined if the thread's module is not beside the program. */
export const imagePool: () => ImagePool | undefined = lazyPool('image-worker', () => threads);

/**
 * Decodes and converts one picture in a thread. `task.bytes` are copied; `task.row` must be shared memory.
 * @throws ServingError as `runImageTask`, and as {@link ThreadPool.run}
 */
export function decodeInThread(
  pool: ImagePool,
  task: ImageTask,
  signal: StopSign | undefined,
): Promise<ImageElements> {
  const bytes = new Uint8Array(task.bytes);
  return pool.run({ ...task, bytes }, [bytes.buffer], signal);
}
