/** Calls that run together where they wait at the same time, and apart where they failed together. */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { BatchQueue, type BatchTask, type BatchThreads, type QueueLimits } from './batch-queue.ts';
import { FillLevel } from './fill-level.ts';

/** One call. */
export interface BatchItem {
  /** Rows. */
  readonly size: number;
  /** Bytes that joining it copies. Default: 0. */
  readonly bytes?: number;
  readonly signal: AbortSignalLike | undefined;
}

/**
 * What to do with the calls of a batch that failed: tell each of the error, run each half again, or each call by
 * itself because the batch may have ended its process.
 */
export type AfterFailure = 'reject' | 'halves' | 'one by one';

/** In what situation a run is made. */
export interface RunKind {
  /** Whether the batch that this one call was in may have ended its process: nothing else may run beside it. */
  readonly isAfterLoss: boolean;
}

/** Runs calls together; one result each, in order. */
export type RunBatch<I, R> = (items: readonly I[], kind: RunKind) => Promise<R[]>;

interface Task<I, R> extends BatchTask {
  readonly item: I;
  readonly resolve: (result: R) => void;
}

/** Kinds of calls whose batches are known to fail; older ones start anew. */
const MOST_LEVELS = 1_000;

/** Queues of batches by kind of call. */
export class Batches<I extends BatchItem, R> {
  readonly #limits: QueueLimits;
  readonly #threads: BatchThreads;
  readonly #afterFailure: (error: unknown) => AfterFailure;
  readonly #queues = new Map<string, BatchQueue<Task<I, R>>>();
  /** Only of kinds whose batches may not be full. */
  readonly #levels = new Map<string, FillLevel>();

  /** @param afterFailure asked for every run that failed. Default: its calls are rejected */
  constructor(
    limits: QueueLimits,
    threads: BatchThreads,
    afterFailure: (error: unknown) => AfterFailure = () => 'reject',
  ) {
    this.#limits = limits;
    this.#threads = threads;
    this.#afterFailure = afterFailure;
  }

  /**
   * Runs a call with others of its kind.
   * @param kind calls that can be joined have the same
   * @param run the same for all calls of a kind
   */
  add(kind: string, item: I, run: RunBatch<I, R>): Promise<R> {
    const { size, bytes = 0 } = item;
    return new Promise<R>((resolve, reject) =>
      this.#queue(kind, run).add({ size, bytes, item, resolve, reject }),
    );
  }

  #queue(kind: string, run: RunBatch<I, R>): BatchQueue<Task<I, R>> {
    const known = this.#queues.get(kind);
    if (known) return known;
    const queue = new BatchQueue<Task<I, R>>(
      this.#limits,
      this.#threads,
      (tasks) => this.#process(kind, run, tasks),
      {
        fill: () => this.#levels.get(kind)?.rows ?? this.#limits.maxBatchSize,
        // Kinds are the clients' choice: there may be any number of them.
        onEmpty: () => this.#queues.delete(kind),
      },
    );
    this.#queues.set(kind, queue);
    return queue;
  }

  async #process(
    kind: string,
    run: RunBatch<I, R>,
    waiting: readonly Task<I, R>[],
    isAfterLoss = false,
  ): Promise<void> {
    const tasks = waiting.filter(({ item }) => !item.signal?.aborted);
    if (tasks.length === 0) return;
    try {
      const results = await run(
        tasks.map(({ item }) => item),
        { isAfterLoss },
      );
      this.#succeeded(kind);
      for (const [index, { resolve }] of tasks.entries()) resolve(results[index] as R);
    } catch (error) {
      const next = this.#afterFailure(error);
      if (next !== 'reject') this.#failed(kind, tasks.length > 1);
      if (next === 'reject' || tasks.length === 1) {
        for (const { reject } of tasks) reject(error);
        return;
      }
      // One after the other: the batch has one thread.
      const isLost = next === 'one by one';
      const size = isLost ? 1 : Math.ceil(tasks.length / 2);
      for (let at = 0; at < tasks.length; at += size) {
        await this.#process(kind, run, tasks.slice(at, at + size), isLost);
      }
    }
  }

  #succeeded(kind: string): void {
    const level = this.#levels.get(kind);
    level?.succeeded();
    if (level?.isWhole) this.#levels.delete(kind);
  }

  #failed(kind: string, wasJoined: boolean): void {
    const known = this.#levels.get(kind);
    if (!known && !wasJoined) return;
    const level = known ?? new FillLevel(this.#limits.maxBatchSize);
    level.failed(wasJoined);
    if (known) return;
    const [oldest] = this.#levels.keys();
    if (this.#levels.size >= MOST_LEVELS && oldest !== undefined) this.#levels.delete(oldest);
    this.#levels.set(kind, level);
  }
}
