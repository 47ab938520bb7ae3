/**
 * The threads of the REST API (`--rest_api_num_threads`). One of them runs the event loop for good (evhttp_server.cc), so
 * one request fewer than there are is worked on at a time; the others wait their turn.
 */
export class RequestThreads {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param threads `--rest_api_num_threads`; with 1 no request is ever worked on */
  constructor(threads: number) {
    this.#free = threads - 1;
  }

  /** Runs a request in a thread, which it keeps until it is answered, whether or not the client still waits. */
  async run(request: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await request();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
