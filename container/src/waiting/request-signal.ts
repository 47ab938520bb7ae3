/** What ends one request before its answer is written. */
import { type AbortSignalLike, withDeadline } from '@sagemaker-tfs/tensors/abort-signal-like';
import { ServingError } from '../errors.ts';
import { removeFrom } from '../memory/remove-from.ts';

/** Told to all who work on the request; an `AbortSignal` is made only for those who need a real one. */
export class RequestSignal implements AbortSignalLike {
  readonly deadline: number | undefined;
  readonly #listeners: (() => void)[] = [];
  #standard: AbortController | undefined;
  #aborted = false;
  #reason: unknown;

  /** @param deadline by when somebody will abort it, as `performance.now()` counts. Default: unknown */
  constructor(deadline?: number) {
    this.deadline = deadline;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** The same as an `AbortSignal`. */
  get standard(): AbortSignal {
    if (!this.#standard) {
      this.#standard = new AbortController();
      withDeadline(this.#standard.signal, this.deadline);
      if (this.#aborted) this.#standard.abort(this.#reason);
    }
    return this.#standard.signal;
  }

  /** Only the first reason counts. */
  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    for (const listener of this.#listeners.splice(0)) notify(listener);
    this.#standard?.abort(reason);
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(_type: 'abort', listener: () => void, _options: { readonly once: true }): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    removeFrom(this.#listeners, listener);
  }
}

/** One that throws keeps no other from the abort: as with an `AbortSignal`, the process gets its error. */
function notify(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}

/** What a request gets that takes longer than it may. */
export function notWithin(timeoutMs: number): string {
  return `not answered within ${timeoutMs / 1000} s (SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS).`;
}

/** A signal that aborts with REQUEST_TIMEOUT, unless the timer is cleared before. */
export function timedSignal(timeoutMs: number): { signal: RequestSignal; timer: NodeJS.Timeout } {
  const signal = new RequestSignal(performance.now() + timeoutMs);
  const timer = setTimeout(() => {
    signal.abort(new ServingError('REQUEST_TIMEOUT', notWithin(timeoutMs)));
  }, timeoutMs);
  return { signal, timer };
}
