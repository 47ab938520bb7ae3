/** Options that every kind of source takes. */
export interface OpenOptions {
  /** Stops the work; nothing is left behind. */
  readonly signal?: AbortSignal | undefined;
}
