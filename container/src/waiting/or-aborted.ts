/** A wait that a signal ends. */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';

/** What a wait ends with. */
export interface Settle<T> {
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/**
 * The work's result, or the signal's reason as soon as there is one: work that hangs is left behind.
 * @throws what the work throws, and the signal's reason
 */
export function untilAborted<T>(signal: AbortSignalLike, work: () => T | Promise<T>): Promise<T> {
  return orAborted(signal, ({ resolve, reject }) => {
    (async () => work())().then(resolve, reject);
    return () => undefined;
  });
}

/**
 * Waits for what `begin` settles, or for the signal.
 * @param begin starts to wait; returns the function that stops it, called if the signal ends the wait
 * @throws the signal's reason as soon as it aborts
 */
export function orAborted<T>(
  signal: AbortSignalLike | undefined,
  begin: (settle: Settle<T>) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const settled = () => signal?.removeEventListener('abort', onAbort);
    const onAbort = () => {
      stop();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    const stop = begin({
      resolve: (value) => {
        settled();
        resolve(value);
      },
      reject: (reason) => {
        settled();
        reject(reason);
      },
    });
  });
}
