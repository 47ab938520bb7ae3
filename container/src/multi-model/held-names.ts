/** Which models have requests at work, also while they are being unloaded. */
export class HeldNames {
  readonly #counts = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Counts one in, until the function that is returned is called. */
  hold(name: string): () => void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    return () => {
      const left = (this.#counts.get(name) ?? 1) - 1;
      if (left > 0) {
        this.#counts.set(name, left);
        return;
      }
      this.#counts.delete(name);
      const waiting = this.#waiting.get(name) ?? [];
      this.#waiting.delete(name);
      for (const resume of waiting) resume();
    };
  }

  /** Resolves when none is held. */
  async whenFree(name: string): Promise<void> {
    while (this.#counts.has(name)) {
      await new Promise<void>((resolve) => {
        this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), resolve]);
      });
    }
  }
}
