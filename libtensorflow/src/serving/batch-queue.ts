/** Requests that wait for others to run with, and the threads that run them. */
import { Code } from '@sagemaker-tfs/tensors/protos';
import { invalidArgument, StatusError } from './status-error.ts';

/** Something that takes up `size` rows of a batch. */
export interface BatchTask {
  readonly size: number;
  readonly reject: (error: unknown) => void;
}

/** Limits of a queue; see BatchingOptions. */
export interface QueueLimits {
  readonly maxBatchSize: number;
  readonly timeoutMs: number;
  readonly maxEnqueuedBatches: number;
}

interface Batch<T> {
  readonly tasks: T[];
  size: number;
  closed: boolean;
  /** Whether its time is up. */
  isDue: boolean;
}

/** The batch threads that all models share: at most `numBatchThreads` batches run at a time. */
export class BatchThreads {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run(work: () => Promise<void>): Promise<void> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}

/** Collects tasks into batches and hands each to `process` when it is full or its time is up. */
export class BatchQueue<T extends BatchTask> {
  readonly #limits: QueueLimits;
  readonly #threads: BatchThreads;
  readonly #process: (tasks: readonly T[]) => Promise<void>;
  readonly #onEmpty: () => void;
  #open: Batch<T> | undefined;
  /** Batches, the open one among them, that no thread has taken yet. */
  #enqueued = 0;

  /** @param onEmpty called when no task waits any more */
  constructor(
    limits: QueueLimits,
    threads: BatchThreads,
    process: (tasks: readonly T[]) => Promise<void>,
    onEmpty: () => void = () => undefined,
  ) {
    this.#onEmpty = onEmpty;
    this.#limits = limits;
    this.#threads = threads;
    this.#process = process;
  }

  /** Adds a task, or rejects it: INVALID_ARGUMENT where it is too large, UNAVAILABLE where the queue is full. */
  add(task: T): void {
    const { maxBatchSize, maxEnqueuedBatches } = this.#limits;
    if (task.size > maxBatchSize) {
      task.reject(
        invalidArgument(
          `Task size ${task.size} is larger than maximum input batch size ${maxBatchSize}`,
        ),
      );
      return;
    }
    if (this.#open && this.#open.size + task.size > maxBatchSize) this.#close(this.#open);
    if (!this.#open && this.#enqueued >= maxEnqueuedBatches) {
      task.reject(
        new StatusError(
          Code.UNAVAILABLE,
          'The batch scheduling queue to which this task was submitted is full',
        ),
      );
      return;
    }
    const batch = this.#open ?? this.#start();
    batch.tasks.push(task);
    batch.size += task.size;
    const isDue = batch.isDue && batch.size > 0;
    if (isDue || batch.size === maxBatchSize) this.#close(batch);
  }

  #start(): Batch<T> {
    const batch: Batch<T> = { tasks: [], size: 0, closed: false, isDue: false };
    this.#open = batch;
    this.#enqueued += 1;
    setTimeout(() => {
      batch.isDue = true;
      // TensorFlow's scheduler takes a batch without rows for an empty one: it waits for a request that has some.
      if (batch.size > 0) this.#close(batch);
    }, this.#limits.timeoutMs);
    return batch;
  }

  /** The batch may run: a thread takes it when one is free, with whatever it holds by then. */
  #close(batch: Batch<T>): void {
    if (batch.closed) return;
    batch.closed = true;
    if (this.#open === batch) this.#open = undefined;
    void this.#threads.run(() => {
      this.#enqueued -= 1;
      // Who closed this batch may be about to open the next.
      queueMicrotask(() => {
        if (this.#enqueued === 0) this.#onEmpty();
      });
      return this.#process(batch.tasks);
    });
  }
}
