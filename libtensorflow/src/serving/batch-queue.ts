/** Requests that wait for others to run with, and the threads that run them. */
import { Code } from '@sagemaker-tfs/tensors/protos';
import { invalidArgument, StatusError } from './status-error.ts';

/** Something that takes up `size` rows of a batch. */
export interface BatchTask {
  readonly size: number;
  /** Bytes that joining it copies. Default: 0. */
  readonly bytes?: number;
  readonly reject: (error: unknown) => void;
}

/** Limits of a queue; see BatchingOptions. */
export interface QueueLimits {
  readonly maxBatchSize: number;
  readonly timeoutMs: number;
  readonly maxEnqueuedBatches: number;
  /** Bytes of a batch of several tasks. Default: any number. */
  readonly maxBatchBytes?: number;
}

/** What a queue is besides. */
export interface QueueOptions {
  /** Called when no task waits any more. */
  readonly onEmpty?: () => void;
  /** Rows that tasks are joined up to now. Default: `maxBatchSize`. */
  readonly fill?: () => number;
}

interface Batch<T> {
  readonly tasks: T[];
  size: number;
  bytes: number;
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
  readonly #fill: () => number;
  #open: Batch<T> | undefined;
  /** Batches, the open one among them, that no thread has taken yet. */
  #enqueued = 0;

  constructor(
    limits: QueueLimits,
    threads: BatchThreads,
    process: (tasks: readonly T[]) => Promise<void>,
    options: QueueOptions = {},
  ) {
    this.#onEmpty = options.onEmpty ?? (() => undefined);
    this.#fill = options.fill ?? (() => limits.maxBatchSize);
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
    const fill = this.#fill();
    if (this.#open && !this.#hasRoom(this.#open, task, fill)) this.#close(this.#open);
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
    batch.bytes += task.bytes ?? 0;
    const isDue = batch.isDue && batch.size > 0;
    if (isDue || batch.size >= fill) this.#close(batch);
  }

  #hasRoom(batch: Batch<T>, { size, bytes = 0 }: T, fill: number): boolean {
    const { maxBatchBytes = Number.POSITIVE_INFINITY } = this.#limits;
    return batch.size + size <= fill && batch.bytes + bytes <= maxBatchBytes;
  }

  #start(): Batch<T> {
    const batch: Batch<T> = { tasks: [], size: 0, bytes: 0, closed: false, isDue: false };
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
