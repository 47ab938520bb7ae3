/** What ends a request before its answer: an `AbortSignal`, or something lighter that behaves like one. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  /** Why; undefined until then. */
  readonly reason: unknown;
  /** When it aborts at the latest, as `performance.now()` counts; undefined if nothing is known of that. */
  readonly deadline?: number | undefined;
  /** @throws the reason, once aborted */
  throwIfAborted(): void;
  /** Calls `listener` once, when it happens. */
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The signal, with a deadline that others can read. */
export function withDeadline(signal: AbortSignal, deadline: number | undefined): AbortSignalLike {
  return deadline === undefined ? signal : Object.assign(signal, { deadline });
}

/** A signal that never aborts, but says by when the work must be done. */
export function deadlineIn(milliseconds: number): AbortSignalLike {
  return withDeadline(new AbortController().signal, performance.now() + milliseconds);
}
