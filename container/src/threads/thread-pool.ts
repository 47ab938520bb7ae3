/** Threads that do tasks of one kind. They start with the first work and do not keep the process alive. */

import { availableParallelism } from 'node:os';
import { isMainThread, Worker } from 'node:worker_threads';
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { type ErrorCode, ServingError } from '../errors.ts';
import { removeFrom } from '../memory/remove-from.ts';
import { type ThreadEntry, type ThreadName, threadEntry } from './thread-entry.ts';

/** Whether a task is still wanted. One that tells of its end ends the wait for a thread at once. */
export type StopSign = Pick<AbortSignalLike, 'aborted' | 'reason'> &
  Partial<Pick<AbortSignalLike, 'addEventListener' | 'removeEventListener'>>;

/** What a thread answers: a result, or the error's parts. */
export type ThreadReply<Result> =
  | { readonly result: Result }
  | { readonly error: { readonly code: ErrorCode; readonly message: string } };

interface Job<Task, Result> {
  readonly task: Task;
  readonly moved: readonly ArrayBuffer[];
  readonly signal: StopSign | undefined;
  /** It waits no longer. */
  readonly begun: () => void;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** How threads are kept. */
interface ThreadOptions {
  /** What the objects of a thread may take. Default: as much as Node chooses. */
  readonly heapMegabytes?: number | undefined;
  /**
   * Whether a thread is ended whose work nobody waits for any more. Not for libraries of images, which must not be stopped at
   * work. Default: false.
   */
  readonly endsAbandoned?: boolean;
}

/** Most work is done by then, and another thread need not be started. */
const ABANDONED_MS = 1000;

/** A pool of threads that all run the same program, which answers a task with a {@link ThreadReply}. */
export class ThreadPool<Task, Result> {
  readonly #entry: ThreadEntry;
  readonly #size: number;
  readonly #queue: Job<Task, Result>[] = [];
  readonly #running = new Map<Worker, Job<Task, Result>>();
  readonly #idle: Worker[] = [];

  readonly #heapMegabytes: number | undefined;
  readonly #endsAbandoned: boolean;

  /**
   * @param size threads at most
   */
  constructor(
    entry: ThreadEntry,
    size: number,
    { heapMegabytes, endsAbandoned = false }: ThreadOptions = {},
  ) {
    this.#entry = entry;
    this.#size = size;
    this.#heapMegabytes = heapMegabytes;
    this.#endsAbandoned = endsAbandoned;
  }

  /**
   * Does a task in a thread.
   * @param moved buffers in the task that the thread takes over; the others are copied, shared memory is not
   * @throws ServingError as the thread's; REQUEST_TOO_LARGE where its memory ran out; INTERNAL where it died;
   *   the reason of an aborted signal, before the task is begun or after it
   */
  run(task: Task, moved: readonly ArrayBuffer[], signal?: StopSign): Promise<Result> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        // With it goes the memory of the task.
        if (removeFrom(this.#queue, job)) reject(signal?.reason);
      };
      const begun = () => signal?.removeEventListener?.('abort', onAbort);
      const job: Job<Task, Result> = { task, moved, signal, begun, resolve, reject };
      this.#queue.push(job);
      this.#dispatch();
      if (this.#queue.includes(job)) {
        signal?.addEventListener?.('abort', onAbort, { once: true });
      }
    });
  }

  /** Ends the threads; work in flight is rejected. */
  async close(): Promise<void> {
    const workers = [...this.#idle, ...this.#running.keys()];
    this.#idle.length = 0;
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  #dispatch(): void {
    for (let job = this.#queue[0]; job; job = this.#queue[0]) {
      if (job.signal?.aborted) {
        job.reject(job.signal.reason);
        this.#queue.shift();
        continue;
      }
      const worker = this.#idle.pop() ?? this.#start();
      if (!worker) return;
      this.#queue.shift();
      job.begun();
      this.#running.set(worker, job);
      if (this.#endsAbandoned) this.#endIfAbandoned(worker, job);
      worker.ref();
      try {
        worker.postMessage(job.task, job.moved);
      } catch (error) {
        // What cannot be copied to a thread.
        this.#running.delete(worker);
        this.#idle.push(worker);
        worker.unref();
        job.reject(error);
      }
    }
  }

  /** Others wait for the thread, and the work may be an attack's. */
  #endIfAbandoned(worker: Worker, job: Job<Task, Result>): void {
    const end = () => {
      if (this.#running.get(worker) === job) void worker.terminate();
    };
    const onAbort = () => setTimeout(end, ABANDONED_MS).unref();
    job.signal?.addEventListener?.('abort', onAbort, { once: true });
  }

  #start(): Worker | undefined {
    if (this.#running.size + this.#idle.length >= this.#size) return undefined;
    const worker = new Worker(this.#entry.program, {
      eval: this.#entry.isCode,
      ...(this.#heapMegabytes !== undefined && {
        resourceLimits: { maxOldGenerationSizeMb: this.#heapMegabytes },
      }),
    });
    worker.on('message', (reply: ThreadReply<Result>) => this.#finish(worker, reply));
    worker.on('error', (error) => this.#lose(worker, error));
    worker.on('exit', (code) => this.#lose(worker, new Error(`exit code ${code}`)));
    return worker;
  }

  #finish(worker: Worker, reply: ThreadReply<Result>): void {
    const job = this.#running.get(worker);
    this.#running.delete(worker);
    worker.unref();
    this.#idle.push(worker);
    if (job?.signal?.aborted) job.reject(job.signal.reason);
    else if ('error' in reply) job?.reject(new ServingError(reply.error.code, reply.error.message));
    else job?.resolve(reply.result);
    this.#dispatch();
  }

  /** A thread that ended takes its task with it; the next task starts another thread. */
  #lose(worker: Worker, cause: Error & { code?: string }): void {
    const job = this.#running.get(worker);
    this.#running.delete(worker);
    const at = this.#idle.indexOf(worker);
    if (at >= 0) this.#idle.splice(at, 1);
    job?.reject(job.signal?.aborted ? job.signal.reason : lost(cause));
    this.#dispatch();
  }
}

function lost(cause: Error & { code?: string }): ServingError {
  if (cause.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    const message = 'the body needs more memory than this container has. Send less at a time.';
    return new ServingError('REQUEST_TOO_LARGE', message, { cause });
  }
  return new ServingError('INTERNAL', 'a thread ended unexpectedly.', { cause });
}

/**
 * The process's pool for a program, made when it is first asked for.
 * @param size threads at most. Default: as many as processors.
 * @param options of its threads, asked for then
 * @returns a function that returns it, or undefined if the thread's module is not beside the program, and in a thread
 */
export function lazyPool<Task, Result>(
  name: ThreadName,
  size: () => number = availableParallelism,
  options: () => ThreadOptions = () => ({}),
): () => ThreadPool<Task, Result> | undefined {
  let pool: ThreadPool<Task, Result> | undefined;
  return () => {
    const entry = pool || !isMainThread ? undefined : threadEntry(name);
    if (entry) pool = new ThreadPool(entry, size(), options());
    return pool;
  };
}
