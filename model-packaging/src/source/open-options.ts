/** Options that every kind of source takes. */
export interface OpenOptions {
  /** Stops the work; nothing is left behind. */
  readonly signal?: AbortSignal | undefined;
  /** Called when something begins that may take minutes, with what it is: `converting digits.keras`. */
  readonly onStep?: ((what: string) => void) | undefined;
}
