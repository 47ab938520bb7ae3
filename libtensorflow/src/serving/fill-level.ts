/** How full the batches of one kind may be: less after a batch that failed, more again after those that succeed. */

/** Runs that must succeed in a row before batches grow, at first and at most. */
const FEWEST_RUNS = 16;
const MOST_RUNS = 1_024;

/**
 * Rows that calls are joined up to. Each batch that fails halves it, down to single calls, since whoever can make one
 * call fail can make all that are joined with it run again. It doubles after a number of runs in a row without a
 * failure, which grows with every batch that fails and shrinks with every step back.
 */
export class FillLevel {
  readonly #most: number;
  #rows: number;
  #needed = FEWEST_RUNS;
  #succeeded = 0;

  constructor(most: number) {
    this.#most = most;
    this.#rows = most;
  }

  /** Rows of a batch at most, but for a call that has more by itself. */
  get rows(): number {
    return this.#rows;
  }

  /** Whether batches may be as full as at first. */
  get isWhole(): boolean {
    return this.#rows === this.#most;
  }

  succeeded(): void {
    this.#succeeded += 1;
    if (this.#succeeded < this.#needed) return;
    this.#succeeded = 0;
    this.#rows = Math.min(this.#most, this.#rows * 2);
    this.#needed = Math.max(FEWEST_RUNS, this.#needed / 2);
  }

  /** @param wasJoined whether several calls failed together */
  failed(wasJoined: boolean): void {
    this.#succeeded = 0;
    if (!wasJoined) return;
    this.#rows = Math.max(1, Math.floor(this.#rows / 2));
    this.#needed = Math.min(MOST_RUNS, this.#needed * 2);
  }
}
