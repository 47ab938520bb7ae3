/** What ends a request before its answer: an `AbortSignal`, or something lighter that behaves like one. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  /** Why; undefined until then. */
  readonly reason: unknown;
  /** @throws the reason, once aborted */
  throwIfAborted(): void;
  /** Calls `listener` once, when it happens. */
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
