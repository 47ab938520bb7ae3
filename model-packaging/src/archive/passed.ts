/** The caller's check of what was written, before it appears under its name. */
import { once } from 'node:events';
import { throwIfAborted } from '../errors.ts';

/** How what was written is checked. */
export interface CheckOptions {
  /**
   * Called with the path of what is complete, before it appears under its name. Where it rejects, nothing appears.
   */
  readonly check?: ((path: string) => Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Waits for the check, but not after an interruption. */
export async function passed({ check, signal }: CheckOptions, path: string): Promise<void> {
  if (!check) return;
  const stop = new AbortController();
  const aborted = signal
    ? once(signal, 'abort', { signal: stop.signal }).then(
        () => throwIfAborted(signal),
        () => {},
      )
    : new Promise<never>(() => {});
  try {
    throwIfAborted(signal);
    await Promise.race([check(path), aborted]);
  } finally {
    stop.abort();
  }
}
