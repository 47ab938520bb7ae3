/** Threads that read large JSON and CSV, so that it does not keep the event loop. */
import type { AbortSignalLike, Signature } from '@sagemaker-tfs/tensors';
import { lazyPool } from '../threads/thread-pool.ts';
import { COPY_TURN_BYTES, nextTurn } from '../waiting/next-turn.ts';
import type { DecodeContext, DecodedRequest } from './codec.ts';

/** What a thread reads. */
export type TextTask =
  | {
      readonly kind: 'json' | 'csv';
      readonly body: Uint8Array;
      readonly context: Omit<DecodeContext, 'signal'>;
    }
  /** TensorFlow Serving's answer over REST; the outputs are the result's `inputs`. */
  | {
      readonly kind: 'reply';
      readonly body: Uint8Array;
      readonly signature: Signature;
      readonly outputs: readonly string[] | undefined;
    };

/** The tensors of a text. */
export type TextResult = DecodedRequest;

const pool = lazyPool<TextTask, TextResult>('text-worker');

/** Text of this size takes about as long to read as to hand over and back: a few milliseconds at most. */
const POOL_PAYS_FROM_BYTES = 2 ** 19;

/**
 * Reads text in a thread, where it is large enough and there are threads.
 * @param signal ends the wait for the thread, not its work
 * @returns undefined where the caller is to read it itself
 * @throws ServingError as the readers', and as `ThreadPool.run`
 */
export async function readInThread(
  task: TextTask,
  signal?: AbortSignalLike,
): Promise<TextResult | undefined> {
  if (task.body.byteLength < POOL_PAYS_FROM_BYTES) return undefined;
  const threads = pool();
  if (!threads) return undefined;
  // A copy, because handlers may still read the body, and it may be decoded for another signature.
  const body = await copyInTurns(task.body);
  return threads.run({ ...task, body }, [body.buffer], signal);
}

async function copyInTurns(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.byteLength);
  for (let at = 0; at < bytes.byteLength; at += COPY_TURN_BYTES) {
    if (at > 0) await nextTurn();
    copy.set(bytes.subarray(at, at + COPY_TURN_BYTES), at);
  }
  return copy;
}
