/** A discrete-event simulation: a clock, events in the order of their time, and servers that work is queued for. */

/** The clock and what is to come. */
export class Simulation {
  /** Milliseconds. */
  now = 0;
  readonly #heap: { at: number; order: number; run: () => void }[] = [];
  #order = 0;

  /** Runs `run` after a delay. */
  after(milliseconds: number, run: () => void): void {
    const heap = this.#heap;
    heap.push({ at: this.now + milliseconds, order: this.#order++, run });
    for (let child = heap.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!this.#before(child, parent)) break;
      this.#swap(child, parent);
      child = parent;
    }
  }

  /** Runs what is to come until `until` says so. */
  run(until: () => boolean): void {
    while (this.#heap.length > 0 && !until()) {
      const next = this.#pop();
      this.now = next.at;
      next.run();
    }
  }

  #pop() {
    const heap = this.#heap;
    this.#swap(0, heap.length - 1);
    const next = heap.pop() as (typeof heap)[number];
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      if (left >= heap.length) break;
      const child = left + 1 < heap.length && this.#before(left + 1, left) ? left + 1 : left;
      if (!this.#before(child, parent)) break;
      this.#swap(child, parent);
      parent = child;
    }
    return next;
  }

  #before(a: number, b: number): boolean {
    const [left, right] = [this.#heap[a], this.#heap[b]];
    if (!left || !right) return false;
    return left.at < right.at || (left.at === right.at && left.order < right.order);
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    [heap[a], heap[b]] = [heap[b] as (typeof heap)[number], heap[a] as (typeof heap)[number]];
  }
}

/** A number of servers with one queue, first come first served. */
export class Station {
  /** Milliseconds of work done, all servers together. */
  busy = 0;
  #free: number;
  readonly #queue: { work: number; done: () => void }[] = [];
  #head = 0;
  readonly #simulation: Simulation;
  readonly servers: number;

  constructor(simulation: Simulation, servers: number) {
    this.#simulation = simulation;
    this.servers = servers;
    this.#free = servers;
  }

  /** Does `work` milliseconds as soon as a server is free, then calls `done`. */
  serve(work: number, done: () => void): void {
    this.#queue.push({ work, done });
    this.#start();
  }

  #start(): void {
    while (this.#free > 0 && this.#head < this.#queue.length) {
      const { work, done } = this.#queue[this.#head++] as { work: number; done: () => void };
      if (this.#head > 1_000 && this.#head * 2 > this.#queue.length) {
        this.#queue.splice(0, this.#head);
        this.#head = 0;
      }
      this.#free--;
      this.busy += work;
      this.#simulation.after(work, () => {
        this.#free++;
        done();
        this.#start();
      });
    }
  }
}

/** One server that takes all that waits, up to a limit, as one batch: a GPU behind server-side batching. */
export class BatchStation {
  /** Milliseconds of work done. */
  busy = 0;
  #idle = true;
  readonly #queue: { images: number; done: () => void }[] = [];
  readonly #simulation: Simulation;
  readonly #cost: { batchMs: number; imageMs: number; maxBatch: number };

  constructor(
    simulation: Simulation,
    cost: { batchMs: number; imageMs: number; maxBatch: number },
  ) {
    this.#simulation = simulation;
    this.#cost = cost;
  }

  /** Puts images into the next batch that has room; `done` is called when it is ready. */
  serve(images: number, done: () => void): void {
    this.#queue.push({ images, done });
    if (this.#idle) this.#start();
  }

  #start(): void {
    const first = this.#queue.shift();
    if (!first) {
      this.#idle = true;
      return;
    }
    this.#idle = false;
    const batch = [first];
    let images = first.images;
    for (let next = this.#queue[0]; next && images + next.images <= this.#cost.maxBatch; ) {
      batch.push(next);
      images += next.images;
      this.#queue.shift();
      next = this.#queue[0];
    }
    const work = this.#cost.batchMs + images * this.#cost.imageMs;
    this.busy += work;
    this.#simulation.after(work, () => {
      for (const { done } of batch) done();
      this.#start();
    });
  }
}
