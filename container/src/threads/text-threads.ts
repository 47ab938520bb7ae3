/** Threads that read large text and arrays, so that it does not keep the event loop. Who asks says what a body is. */

import { availableParallelism } from 'node:os';
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { COPY_TURN_BYTES, nextTurn } from '../waiting/next-turn.ts';
import { lazyPool } from './thread-pool.ts';

/** What a thread is to do; `text-worker.ts` knows who does it, by its kind. */
export interface ThreadTask {
  readonly kind: string;
}

/** A body to read. */
export interface TextTask extends ThreadTask {
  readonly body: Uint8Array;
}

/** Where less is allowed to be held, a body of that size must still be read. */
const MIN_HEAP_BYTES = 2 ** 30;
/** Text that becomes objects takes many times its bytes. */
const HEAP_FOR_HELD = 2;

let heapBytes = MIN_HEAP_BYTES;

/**
 * Sets what the objects of a thread may take, by what the requests of this process may hold; heeded until the first
 * body is read in a thread.
 */
export function setReadingHeap(maxHeldBytes: number): void {
  heapBytes = Math.max(MIN_HEAP_BYTES, HEAP_FOR_HELD * maxHeldBytes);
}

const pool = lazyPool<ThreadTask, unknown>('text-worker', availableParallelism, () => ({
  heapMegabytes: Math.ceil(heapBytes / 2 ** 20),
  endsAbandoned: true,
}));

/** Text of this size takes about as long to read as to hand over and back: a few milliseconds at most. */
const POOL_PAYS_FROM_BYTES = 2 ** 19;

/**
 * Reads text in a thread, where it is large enough and there are threads.
 * @param signal ends the wait for the thread, and a moment later its work
 * @param leastBytes of a body that a thread reads. Default: what takes a few milliseconds
 * @returns what the reader of this kind returns; undefined if the caller is to read it itself
 * @throws ServingError as the readers', and as `ThreadPool.run`
 */
export async function readInThread<Result>(
  task: TextTask,
  signal?: AbortSignalLike,
  leastBytes = POOL_PAYS_FROM_BYTES,
): Promise<Result | undefined> {
  const threads = task.body.byteLength < leastBytes ? undefined : pool();
  if (!threads) return undefined;
  // A copy, because handlers may still read the body, and it may be decoded for another signature.
  const body = await copyInTurns(task.body, signal);
  const copied: TextTask = { ...task, body };
  return (await threads.run(copied, [body.buffer], signal)) as Result;
}

/**
 * Does a task in a thread, where there is enough to do and there are threads.
 * @param bytes what the task looks at
 * @param taskOf makes the task, once it is certain that a thread does it, and names the memory that goes with it
 * @returns what the thread returns; undefined if the caller is to do it itself
 */
export async function runInThread<Result>(
  bytes: number,
  taskOf: () => { readonly task: ThreadTask; readonly moved: readonly ArrayBuffer[] },
  signal?: AbortSignalLike,
): Promise<Result | undefined> {
  const threads = bytes < POOL_PAYS_FROM_BYTES ? undefined : pool();
  if (!threads) return undefined;
  const { task, moved } = taskOf();
  return (await threads.run(task, moved, signal)) as Result;
}

async function copyInTurns(
  bytes: Uint8Array,
  signal: AbortSignalLike | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.byteLength);
  for (let at = 0; at < bytes.byteLength; at += COPY_TURN_BYTES) {
    if (at > 0) await nextTurn();
    signal?.throwIfAborted();
    copy.set(bytes.subarray(at, at + COPY_TURN_BYTES), at);
  }
  return copy;
}
