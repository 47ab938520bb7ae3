/** How full the batches of one kind may be: as full as the share of them that fails allows. */

/** Weight of the newest batch in the share that fails: some 16 batches count. */
const NEWEST = 1 / 16;
/**
 * Beyond this share, what runs again costs more than joining saves: a batch of 8 that fails takes some 5 runs more. Half
 * as full, about half as many fail, which must not be few enough to grow again at once.
 */
const MAX_FAILING = 1 / 4;
const FEW_FAILING = 1 / 12;

/**
 * Rows that calls are joined up to. Where too many batches fail it halves, down to single calls, since whoever can make
 * one call fail makes all that are joined with it run again. It doubles when few fail.
 */
export class FillLevel {
  readonly #most: number;
  #rows: number;
  #failing = 0;

  constructor(most: number) {
    this.#most = most;
    this.#rows = most;
  }

  /** Rows of a batch at most, but for a call that has more by itself. */
  get rows(): number {
    return this.#rows;
  }

  /** Whether nothing is left to remember. */
  get isWhole(): boolean {
    return this.#rows === this.#most && this.#failing < NEWEST ** 2;
  }

  /** Counts a batch, or a single call where calls are not joined. */
  ran(hasFailed: boolean): void {
    this.#failing += NEWEST * (Number(hasFailed) - this.#failing);
    if (this.#failing > MAX_FAILING && this.#rows > 1) {
      this.#rows = Math.floor(this.#rows / 2);
      this.#failing /= 2;
    } else if (this.#failing < FEW_FAILING && this.#rows < this.#most) {
      this.#rows = Math.min(this.#most, this.#rows * 2);
      this.#failing *= 2;
    }
  }

  /** A batch has ended its process, with all that ran in it: single calls until many have run. */
  lost(): void {
    this.#rows = 1;
    this.#failing = 1;
  }
}
