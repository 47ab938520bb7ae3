/** The one signal of work that several wait for. */
import { type AbortSignalLike, withDeadline } from '@sagemaker-tfs/tensors';

/**
 * Aborts once nobody waits any more.
 * @returns no signal if somebody will wait whatever happens; `end` when the work is over
 */
export function untilAllAborted(
  waiting: readonly { readonly signal: AbortSignalLike | undefined }[],
): { readonly signal: AbortSignalLike | undefined; readonly end: () => void } {
  const signals = waiting.flatMap(({ signal }) => signal ?? []);
  if (signals.length < waiting.length) return { signal: undefined, end: () => undefined };
  const stop = new AbortController();
  let left = signals.length;
  const listeners = signals.map((signal) => {
    const onAbort = () => {
      left -= 1;
      if (left === 0) stop.abort(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return () => signal.removeEventListener('abort', onAbort);
  });
  return {
    signal: withDeadline(stop.signal, latest(signals)),
    end: () => {
      for (const remove of listeners) remove();
    },
  };
}

/** Undefined if one of them has none. */
function latest(signals: readonly AbortSignalLike[]): number | undefined {
  let found = Number.NEGATIVE_INFINITY;
  for (const { deadline } of signals) {
    if (deadline === undefined) return undefined;
    found = Math.max(found, deadline);
  }
  return found;
}
