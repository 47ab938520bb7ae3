/** When a request is sent again, and after how long. */
import { runtimeError } from '@sagemaker-tfs/tensors/runtime-errors';
import pRetry from 'p-retry';
import { PredictionError } from './errors/prediction-error.ts';

/** How a failed request is repeated. */
export interface RetryOptions {
  /** Times that a request is sent again if that is safe. Default: 2. */
  readonly retries?: number;
  /**
   * False if the endpoint's handler must not see a request twice. Then only what was surely not begun is
   * sent again: refused connections, 429, and 503 before the model is ready or because the runtime is full. Default: true, as a prediction
   * changes nothing.
   */
  readonly idempotent?: boolean;
}

const RETRIES = 2;
/** Milliseconds before the first repetition, once to twice that; doubled for each further one. */
const FIRST_WAIT = 200;
const LONGEST_WAIT = 5_000;
/** A server that asks for a longer wait gets the caller's decision instead. */
const LONGEST_RETRY_AFTER_SECONDS = 30;

const BEGUN_PERHAPS = ['CONNECTION_LOST', 'NETWORK_FAILED'];

/** Runs `attempt` until it succeeds, fails in a way that is not safe to repeat, or has no tries left. */
export function withRetries<T>(
  attempt: () => Promise<T>,
  options: RetryOptions & { readonly signal?: AbortSignal | undefined },
): Promise<T> {
  const { signal } = options;
  return pRetry(attempt, {
    retries: options.retries ?? RETRIES,
    minTimeout: FIRST_WAIT,
    maxTimeout: LONGEST_WAIT,
    factor: 2,
    randomize: true,
    ...(signal && { signal }),
    shouldRetry: async ({ error }) => {
      if (!isSafeToRetry(error, options.idempotent ?? true)) return false;
      await wait(error.retryAfterSeconds ?? 0, signal);
      return true;
    },
  });
}

/** True for failures after which the same request may be sent again. */
function isSafeToRetry(error: unknown, idempotent: boolean): error is PredictionError {
  if (!(error instanceof PredictionError)) return false;
  if ((error.retryAfterSeconds ?? 0) > LONGEST_RETRY_AFTER_SECONDS) return false;
  if (isNotBegun(error)) return true;
  return idempotent && (error.status === 503 || BEGUN_PERHAPS.includes(error.code));
}

/** True if the request has surely reached neither handler nor model. */
function isNotBegun({ code, status }: PredictionError): boolean {
  return code === 'CONNECTION_REFUSED' || status === 429 || runtimeError(code)?.notBegun === true;
}

/** Waits. @throws the signal's reason */
export function wait(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (seconds === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
