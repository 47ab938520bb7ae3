/** Threads that read large text and arrays, so that it does not keep the event loop. Who asks says what a body is. */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { COPY_TURN_BYTES, nextTurn } from '../waiting/next-turn.ts';
import { lazyPool } from './thread-pool.ts';

/** A body to read; `text-worker.ts` knows the reader of each kind. */
export interface TextTask {
  readonly kind: string;
  readonly body: Uint8Array;
}

const pool = lazyPool<TextTask, unknown>('text-worker');

/** Text of this size takes about as long to read as to hand over and back: a few milliseconds at most. */
const POOL_PAYS_FROM_BYTES = 2 ** 19;

/**
 * Reads text in a thread, where it is large enough and there are threads.
 * @param signal ends the wait for the thread, not its work
 * @returns what the reader of this kind returns; undefined if the caller is to read it itself
 * @throws ServingError as the readers', and as `ThreadPool.run`
 */
export async function readInThread<Result>(
  task: TextTask,
  signal?: AbortSignalLike,
): Promise<Result | undefined> {
  if (task.body.byteLength < POOL_PAYS_FROM_BYTES) return undefined;
  const threads = pool();
  if (!threads) return undefined;
  // A copy, because handlers may still read the body, and it may be decoded for another signature.
  const body = await copyInTurns(task.body, signal);
  return (await threads.run({ ...task, body }, [body.buffer], signal)) as Result;
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
