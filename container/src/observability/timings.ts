/** Where the time of one request went. All times are milliseconds. */

/** The parts of a request. They add up to the time until the answer was ready, or until the request was over. */
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
  #received: number | undefined;
  #ready: number | undefined;
  #firstPredict: number | undefined;
  #lastPredict: number | undefined;
  /** Calls of the model that have not ended. */
  #running = 0;
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
  }

  ready(): void {
    this.#ready = performance.now();
  }

  /** Times one call of the model. */
  async predict<T>(work: () => Promise<T>): Promise<T> {
    this.#firstPredict ??= performance.now();
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#lastPredict = performance.now();
    }
  }

  /** The answer is ready to be sent. */
  done(): void {
    this.#end = performance.now();
  }

  /** Of a request that ends early, the part that it was in lasted until now. */
  timings(): Timings {
    const end = this.#end ?? performance.now();
    const received = this.#received ?? end;
    const ready = this.#ready ?? end;
    const first = this.#firstPredict ?? end;
    const last = this.#running > 0 ? end : Math.min(this.#lastPredict ?? first, end);
    return {
      receive: received - this.#start,
      queue: ready - received,
      decode: first - ready,
      predict: last - first,
      encode: end - last,
    };
  }
}
