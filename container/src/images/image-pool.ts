/**
 * Threads that decode and convert pictures, so that a large batch neither blocks the event loop nor waits
 * for one core.
 */
import { lazyPool, type ThreadPool } from '../threads/thread-pool.ts';
import type { ImageElements, ImageTask } from './image-task.ts';

/** A pool whose threads run `image-worker.ts`. */
export type ImagePool = ThreadPool<ImageTask, ImageElements>;

/** The process's pool, or undefined where the thread's module is not beside the program. */
export const imagePool: () => ImagePool | undefined = lazyPool('image-worker');

/**
 * Decodes and converts one picture in a thread. `task.bytes` are copied; `task.row` must be shared memory.
 * @throws ServingError as `runImageTask`, and as {@link ThreadPool.run}
 */
export function decodeInThread(
  threads: ImagePool,
  task: ImageTask,
  signal: AbortSignal,
): Promise<ImageElements> {
  const bytes = new Uint8Array(task.bytes);
  return threads.run({ ...task, bytes }, [bytes.buffer], signal);
}
