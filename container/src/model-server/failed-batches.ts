/**
 * Calls that failed in a batch of TensorFlow Serving. It has no way to run one call outside of a batch, so such a call
 * is made again while nothing else is with its process, which keeps others waiting: one at a time, for a part of the time.
 */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { GrpcStatus, httpStatusOf } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { ServingError } from '../errors.ts';

/** Part of the time that retries may take, and how much of it they may take at once, in ms. */
const RETRY_SHARE = 1 / 4;
const MOST_CREDIT_MS = 4_000;
/** How long a retry waits until the process is free of other calls, in ms. */
const LONGEST_WAIT_MS = 1_000;

/** Whether an error of the model server may be that of another call of the same batch. */
export function mayBeOfBatch(error: unknown): boolean {
  if (error instanceof StatusError) {
    return !BEFORE_BATCHES.has(error.code) && !OF_ONE_CALL.test(error.message);
  }
  if (!(error instanceof ServingError) || error.code !== 'MODEL_FAILED') return false;
  return error.status !== 503 && !OF_ONE_CALL.test(error.message);
}

/** A call that is over, or that found no room in a queue of batches. */
const BEFORE_BATCHES: ReadonlySet<number> = new Set([
  GrpcStatus.CANCELLED,
  GrpcStatus.DEADLINE_EXCEEDED,
  GrpcStatus.UNAVAILABLE,
]);

/** Words of TensorFlow Serving (server_core.cc, batching_session.cc) about what no other call changes. */
const OF_ONE_CALL =
  /^(Servable not found|Unrecognized servable version label|Batching Run\(\) input|Batched output tensor)/;

/** For a retry that fails where other processes call the same model server: the text may be about their calls. */
export function failedInCompany(error: unknown): ServingError {
  const status = error instanceof StatusError ? httpStatusOf(error.code) : statusOf(error);
  return new ServingError(
    'MODEL_FAILED',
    'TensorFlow Serving refused the request, or another one of its batch, twice. What it says may quote the other and is not shown: send the request again, or leave SAGEMAKER_TFS_ENABLE_BATCHING out to see it',
    { status },
  );
}

function statusOf(error: unknown): number {
  return error instanceof ServingError ? error.status : 500;
}

function noTime(): ServingError {
  return new ServingError(
    'BATCH_FAILED',
    'TensorFlow Serving failed on the batch of this request, perhaps for another request in it, and there are too many such requests to run each again alone. Send it again',
  );
}

/** Runs retries one after the other. */
export class RetryLane {
  #last: Promise<unknown> = Promise.resolve();
  #creditMs = MOST_CREDIT_MS;
  #countedAt = performance.now();

  /** @throws ServingError BATCH_FAILED where retries have taken their part of the time */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#turn(work));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #turn<T>(work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const earned = (began - this.#countedAt) * RETRY_SHARE;
    this.#creditMs = Math.min(this.#creditMs + earned, MOST_CREDIT_MS);
    this.#countedAt = began;
    if (this.#creditMs <= 0) throw noTime();
    try {
      return await work();
    } finally {
      const now = performance.now();
      this.#creditMs -= now - began;
      this.#countedAt = now;
    }
  }
}

/** A signal that aborts as the given one does, or with BATCH_FAILED after a while, until its end is called. */
export function patienceFor(signal: AbortSignalLike | undefined): {
  readonly signal: AbortSignal;
  readonly end: () => void;
} {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(noTime()), LONGEST_WAIT_MS);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  const end = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
  return { signal: controller.signal, end };
}
