/** How requests are batched. */
import type { AfterFailure } from './batches.ts';

/** What a batch may be, and when it runs; defaults are those of TensorFlow's SharedBatchScheduler. */
interface BatchOptions {
  /** Rows of a batch at most. Default: 1000. */
  readonly maxBatchSize: number;
  /**
   * Rows of one request at most; those of more than {@link maxBatchSize} are split into several batches
   * (`enable_large_batch_splitting`). Absent: `maxBatchSize`, none is split.
   */
  readonly maxInputRows?: number;
  /** Milliseconds that a request waits for others. Default: 0. */
  readonly timeoutMs: number;
  /** Batches of a signature that may wait; beyond them requests are refused. Default: 10. */
  readonly maxEnqueuedBatches: number;
  /** Batches that run at the same time, over all models. Default: the number of CPUs. */
  readonly numBatchThreads: number;
  /** Sizes that batches are padded to; the last is `maxBatchSize`. Empty: any size. */
  readonly allowedBatchSizes: readonly number[];
  /** Pads inputs of differing sizes instead of refusing to join them. */
  readonly padVariableLengthInputs: boolean;
}

/** Batching as TensorFlow Serving does it: one request's error, its text included, is every one's of the batch. */
export interface BatchingOptions extends BatchOptions {
  /**
   * Called, and not to return, where a batch ends in a request of no rows and is to be filled up: TensorFlow ends its
   * process there. Absent: the batch is refused.
   */
  readonly onCheckFailed?: (check: string) => never;
}

/** Answers are others in company, or where shorter inputs are padded; or a run writes what other requests read. */
export type WhyAlone = 'joined' | 'padded' | 'writes';

/** Joining as the runtime does it. */
export interface JoiningSessionOptions extends BatchOptions {
  /**
   * Asked for every run that failed: whether its requests run again in smaller batches, so that each has its own answer
   * or error. Default: `reject`.
   */
  readonly afterFailure?: (error: unknown) => AfterFailure;
  /** Bytes of the inputs of a batch of several requests. Default: any number. */
  readonly maxBatchBytes?: number;
  /** Signatures whose runs change the model: they run alone, and never twice. Default: none. */
  readonly writing?: Promise<ReadonlySet<string>>;
  /** Called where requests of a signature run alone from now on. */
  readonly onAlone?: (signature: string, why: WhyAlone) => void;
  /** Draws the joined batches that are looked at again. Default: `Math.random`. */
  readonly random?: () => number;
  /** Called for every batch that runs. */
  readonly onBatch?: (batch: { requests: number; rows: number; padding: number }) => void;
}

/** How inputs are merged, in either way. */
export type MergeOptions = Pick<BatchOptions, 'allowedBatchSizes' | 'padVariableLengthInputs'> &
  Pick<BatchingOptions, 'onCheckFailed'> &
  Pick<JoiningSessionOptions, 'maxBatchBytes'>;
