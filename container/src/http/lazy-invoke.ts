/**
 * The way of a request through codecs, handler and backends. Most of the runtime's code is on it, so that it
 * is loaded while the models load and not before we listen.
 */
import type { invoke as Invoke } from './invocations.ts';

let loaded: typeof Invoke | undefined;

/** Loads it, so that the first request need not. */
export async function loadInvocations(): Promise<typeof Invoke> {
  const { invoke } = await import('./invocations.ts');
  loaded = invoke;
  return invoke;
}

/** Answers a request; see `invocations.ts`. */
export function invoke(...request: Parameters<typeof Invoke>): ReturnType<typeof Invoke> {
  return loaded ? loaded(...request) : loadInvocations().then((load) => load(...request));
}
