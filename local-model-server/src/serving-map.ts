/**
 * Requests and changes of what is served: a change waits for every request, of any model, that began before it
 * (core/basic_manager.cc, UpdateServingMap; core/fast_read_dynamic_ptr.h), and the next change waits for it.
 */
export class ServingMap {
  readonly #requests = new Set<Promise<unknown>>();
  #changes: Promise<unknown> = Promise.resolve();

  /** Runs a request; changes to come wait for it. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    const request = work();
    const tracked: Promise<unknown> = request
      .catch(() => undefined)
      .finally(() => this.#requests.delete(tracked));
    this.#requests.add(tracked);
    return request;
  }

  /** Makes a change, at once for requests to come; resolves when those before it are done. */
  update(change: () => void): Promise<void> {
    const updated = this.#changes.then(async () => {
      change();
      await Promise.all(this.#requests);
    });
    this.#changes = updated;
    return updated;
  }

  /** Resolves when no change is being made. */
  async settled(): Promise<void> {
    await this.#changes;
  }
}
