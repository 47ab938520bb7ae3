/** Where the time of one request went. All times are milliseconds. */

/** The parts of a request. They add up to the time until the answer was ready. */
export interface Timings {
  /** Reading the body. */
  readonly receive: number;
  /** Waiting for a model. */
  readonly queue: number;
  /** From body to tensors: codec or handler, until the model was first called. */
  readonly decode: number;
  /** In the model: from the first call to the end of the last. */
  readonly predict: number;
  /** From tensors to body. */
  readonly encode: number;
}

/** Takes the time at each step. */
export class Stopwatch {
  readonly #start = performance.now();
  #received = this.#start;
  #ready = this.#start;
  #firstPredict: number | undefined;
  #lastPredict: number | undefined;
  #end: number | undefined;

  /** When it was started, in milliseconds since 1970. */
  get startedAt(): number {
    return performance.timeOrigin + this.#start;
  }

  /** Milliseconds since then. */
  elapsed(): number {
    return performance.now() - this.#start;
  }

  received(): void {
    this.#received = performance.now();
    this.#ready = this.#received;
  }

  ready(): void {
    this.#ready = performance.now();
  }

  /** Times one call of the model. */
  async predict<T>(work: () => Promise<T>): Promise<T> {
    this.#firstPredict ??= performance.now();
    try {
      return await work();
    } finally {
      this.#lastPredict = performance.now();
    }
  }

  /** The answer is ready to be sent. */
  done(): void {
    this.#end = performance.now();
  }

  timings(): Timings {
    const end = this.#end ?? performance.now();
    const first = this.#firstPredict ?? end;
    const last = this.#lastPredict ?? first;
    return {
      receive: this.#received - this.#start,
      queue: this.#ready - this.#received,
      decode: first - this.#ready,
      predict: last - first,
      encode: end - last,
    };
  }
}
