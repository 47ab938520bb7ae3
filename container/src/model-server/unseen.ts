/** Calls that the model server has not seen: nothing has come of them, so they are sent again. */
import { setTimeout as delay } from 'node:timers/promises';
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { ConnectionLost } from '../transport/connection-lost.ts';

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/** Until when a call is sent again. */
interface UnseenOptions {
  /** Whether an error leaves the call unseen. */
  readonly isUnseen: (error: unknown) => boolean;
  /** Whether this was the last attempt: then its error is thrown. Asked after an attempt, and after the pause. */
  readonly isOver: (attempts: number) => boolean;
  /** Ends it with the signal's reason. */
  readonly signal?: AbortSignalLike | undefined;
}

/** Makes a call, and again after longer and longer pauses as long as the server does not see it. */
export async function untilSeen<T>(
  call: () => Promise<T>,
  { isUnseen, isOver, signal }: UnseenOptions,
): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isUnseen(error) || isOver(attempts)) throw error;
      await delay(Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS));
      signal?.throwIfAborted();
      if (isOver(attempts)) throw error;
    }
  }
}

/** Whether the call was not sent whole. */
export function wasUnsent(error: unknown): error is ConnectionLost {
  return error instanceof ConnectionLost && !error.wasSent;
}

/**
 * Whether the server had no thread for the call (`--grpc_max_threads`). gRPC's thread manager says so in these words,
 * or in none; TensorFlow's own RESOURCE_EXHAUSTED names a tensor.
 */
export function hadNoThread(error: unknown): boolean {
  if (!(error instanceof StatusError) || error.code !== GrpcStatus.RESOURCE_EXHAUSTED) return false;
  return error.message === '' || error.message.startsWith('Server Threadpool Exhausted');
}
