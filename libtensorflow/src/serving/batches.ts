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

/** Calls that can be joined. */
interface Calls<I, R> {
  readonly kind: string;
  readonly run: RunBatch<I, R>;
}

/** How a run ended: all answered, or what becomes of its calls. */
interface Outcome<I, R> {
  readonly next: 'done' | AfterFailure;
  readonly tasks: readonly Task<I, R>[];
}

/** Kinds of calls whose batches are known to fail; older ones start anew. */
const MAX_LEVELS = 1_000;

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

  async #process(kind: string, run: RunBatch<I, R>, waiting: readonly Task<I, R>[]): Promise<void> {
    const calls = { kind, run };
    const outcome = await this.#run(calls, waiting);
    this.#count(kind, outcome, waiting.length > 1);
    await this.#again(calls, outcome);
  }

  /** Runs calls together, and answers them unless they are to run again. */
  async #run(
    { kind, run }: Calls<I, R>,
    waiting: readonly Task<I, R>[],
    isAfterLoss = false,
  ): Promise<Outcome<I, R>> {
    const tasks = waiting.filter(({ item }) => !item.signal?.aborted);
    if (tasks.length === 0) return { next: 'done', tasks };
    try {
      const results = await run(
        tasks.map(({ item }) => item),
        { isAfterLoss },
      );
      for (const [index, { resolve }] of tasks.entries()) resolve(results[index] as R);
      return { next: 'done', tasks };
    } catch (error) {
      const next = this.#afterFailure(error);
      if (next === 'one by one') this.#levelOf(kind).lost();
      if (next !== 'reject' && tasks.length > 1) return { next, tasks };
      for (const { reject } of tasks) reject(error);
      return { next, tasks };
    }
  }

  /**
   * Runs the calls of a batch that failed again, one run after the other: the batch has one thread. Whoever runs calls
   * after a loss runs them one by one itself, and knows how long the others may wait.
   */
  async #again(calls: Calls<I, R>, { next, tasks }: Outcome<I, R>): Promise<void> {
    if (next === 'done' || next === 'reject' || tasks.length === 1) return;
    if (next === 'one by one') {
      await Promise.all(tasks.map((task) => this.#run(calls, [task], true)));
      return;
    }
    const middle = Math.ceil(tasks.length / 2);
    const [first, second] = [tasks.slice(0, middle), tasks.slice(middle)];
    const outcome = await this.#run(calls, first);
    await this.#again(calls, outcome);
    // Where nothing is wrong with the first half, the second would fail as the whole did.
    const isKnown = outcome.next === 'done' && second.length > 1;
    const rest: Outcome<I, R> = isKnown
      ? { next: 'halves', tasks: second }
      : await this.#run(calls, second);
    await this.#again(calls, rest);
  }

  /** Heeds whether a batch failed; a call by itself says something of batches only where none is made. */
  #count(kind: string, { next }: Outcome<I, R>, wasJoined: boolean): void {
    const known = this.#levels.get(kind);
    const hasFailed = next === 'halves';
    if (next === 'reject' || next === 'one by one') return;
    if (!known && !(hasFailed && wasJoined)) return;
    const level = this.#levelOf(kind);
    if (wasJoined || level.rows === 1) level.ran(hasFailed);
    if (level.isWhole) this.#levels.delete(kind);
  }

  #levelOf(kind: string): FillLevel {
    const known = this.#levels.get(kind);
    if (known) return known;
    const [oldest] = this.#levels.keys();
    if (this.#levels.size >= MAX_LEVELS && oldest !== undefined) this.#levels.delete(oldest);
    const level = new FillLevel(this.#limits.maxBatchSize);
    this.#levels.set(kind, level);
    return level;
  }
}
