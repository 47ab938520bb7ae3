/** How this process joins calls, whichever way the models run. */
import type {
  AfterFailure,
  JoiningSessionOptions,
  WhyAlone,
} from '@sagemaker-tfs/libtensorflow/joining';
import type { Batching, Environment } from '../environment.ts';
import type { BatchSample } from '../observability/metrics.ts';

/** Beyond it joining costs more than it saves. It also bounds what padding may make of a batch. */
const MAX_JOINED_BYTES = 2 ** 26;

/** What can differ between the transports and models of one process. */
interface BatchingParts {
  readonly batching: Batching;
  /** Rows of one call that is split into batches; see {@link maxRowsOf}. */
  readonly maxRows: number;
  /** Name of the model, for the listeners. */
  readonly model: string;
  readonly afterFailure: (error: unknown) => AfterFailure;
  readonly listeners?: BatchListeners | undefined;
  /** Signatures that write; see `JoiningSessionOptions`. */
  readonly writing: Promise<ReadonlySet<string>>;
}

/** Who is notified of batches. */
export interface BatchListeners {
  readonly onBatch?: ((batch: BatchSample) => void) | undefined;
  /** Requests of a signature are not joined, or not padded for it, from now on. */
  readonly onAlone?: ((model: string, signature: string, why: WhyAlone) => void) | undefined;
}

export function batchingOptions(parts: BatchingParts): JoiningSessionOptions {
  const { batching, maxRows, model, afterFailure, listeners, writing } = parts;
  return {
    maxBatchSize: batching.maxBatchSize,
    timeoutMs: batching.timeoutMicros / 1000,
    maxEnqueuedBatches: batching.maxEnqueued,
    maxBatchBytes: MAX_JOINED_BYTES,
    maxInputRows: maxRows,
    numBatchThreads: batching.threads,
    allowedBatchSizes: batching.allowedSizes,
    padVariableLengthInputs: batching.pads,
    afterFailure,
    writing,
    onBatch: (batch) => listeners?.onBatch?.({ model, ...batch }),
    onAlone: (signature, why) => listeners?.onAlone?.(model, signature, why),
  };
}

/** Rows of one call; calls of more are refused before. */
export function maxRowsOf({ limits }: Environment): number {
  return limits.maxRows ?? Number.MAX_SAFE_INTEGER;
}
