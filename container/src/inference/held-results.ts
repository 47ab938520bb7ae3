/** Results of the model that a response is made of, kept until nobody reads them any more. */

/**
 * Holds results in native memory. They are released when all who {@link HeldResults.use} them are done: the
 * work on the request, the body that is made of them, and the connection that sends their bytes.
 */
export class HeldResults {
  readonly #releases: (() => void)[] = [];
  #users = 0;

  /** Keeps a result. */
  hold(release: () => void): void {
    this.#releases.push(release);
  }

  /** Someone reads the results until the function given back is called. */
  use(): () => void {
    this.#users += 1;
    let using = true;
    return () => {
      if (!using) return;
      using = false;
      this.#users -= 1;
      if (this.#users === 0) for (const release of this.#releases.splice(0)) release();
    };
  }

  /** The same body, which reads the results until its last piece is made or nobody wants more. */
  usedBy<T extends readonly Uint8Array[] | AsyncIterable<Uint8Array>>(
    body: T,
  ): T | AsyncIterable<Uint8Array> {
    if (Array.isArray(body)) return body;
    return usedUntilEnd(body as AsyncIterable<Uint8Array>, this.use());
  }
}

/** A stream that is never begun is never done: what it is made of is then freed as garbage. */
async function* usedUntilEnd(
  body: AsyncIterable<Uint8Array>,
  done: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    done();
  }
}
