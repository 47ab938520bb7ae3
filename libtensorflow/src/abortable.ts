/** Waiting for a run that the caller may give up on. */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import type { RunResult } from './run-graph.ts';

/** The run's result, or the signal's reason as soon as it aborts; then a late result is freed. */
export function abortable(
  running: Promise<RunResult>,
  signal: AbortSignalLike,
): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason);
      running.then(
        (result) => result.release(),
        () => {},
      );
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const settled = () => signal.removeEventListener('abort', onAbort);
    running.finally(settled).then(resolve, reject);
  });
}

/** Inputs of a run that waits for its turn: an aborted signal drops them at once, and with them their memory. */
export function droppable<T>(inputs: T, signal: AbortSignalLike | undefined): { take(): T } {
  let held: { readonly inputs: T } | undefined = { inputs };
  const drop = () => {
    held = undefined;
  };
  signal?.addEventListener('abort', drop, { once: true });
  return {
    take() {
      signal?.removeEventListener('abort', drop);
      if (!held || signal?.aborted) throw signal?.reason;
      return held.inputs;
    },
  };
}
