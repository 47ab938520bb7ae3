/** When what a supervisor keeps running is started again: each after a delay of its own, which doubles. */

const LONGEST_DELAY_MS = 30_000;

/** Restarts of a number of processes, by index. */
export class Restarts {
  readonly #firstDelayMs: number;
  readonly #delays = new Map<number, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #stopped = false;

  /** @param firstDelayMs before the first restart, and after `reset` */
  constructor(firstDelayMs: number) {
    this.#firstDelayMs = firstDelayMs;
  }

  /** True after `stop`. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** The next restart of this one waits for the first delay. */
  reset(index: number): void {
    this.#delays.delete(index);
  }

  /** Calls `start` after the delay, unless `stop` is called before. @returns the delay in ms */
  schedule(index: number, start: () => void): number {
    const delayMs = this.#delays.get(index) ?? this.#firstDelayMs;
    this.#delays.set(index, Math.min(2 * delayMs, LONGEST_DELAY_MS));
    if (this.#stopped) return delayMs;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      start();
    }, delayMs);
    this.#timers.add(timer);
    return delayMs;
  }

  /** Nothing is started from now on. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
