/** What the server needs from whatever runs a SavedModel; `libtensorflow` and the batcher provide it. */
import type { AbortSignalLike, SignatureMap, TensorMap } from '@sagemaker-tfs/tensors';

/** Outputs of one run, which live until released. */
export interface RunResult {
  readonly outputs: TensorMap;
  /** Version that answered, where the session may be of several and knows. */
  readonly version?: string | undefined;
  /** Frees the outputs' memory; their bytes must not be read afterwards. */
  release(): void;
}

/** The batch that a run is made for. */
export interface BatchContext {
  /** Calls that are joined in it. */
  readonly calls: number;
  /** Whether the batch that its one call was in may have ended its process: nothing else may run beside it. */
  readonly isAfterLoss: boolean;
}

/** A loaded SavedModel. */
export interface Session {
  readonly signatures: SignatureMap;
  /**
   * Runs a signature, fetching the named outputs only. An aborted `signal` stops the waiting: the promise
   * rejects with its reason, and a late result is released.
   */
  run(
    signature: string,
    inputs: TensorMap,
    outputs: readonly string[],
    signal?: AbortSignalLike,
    context?: BatchContext,
  ): Promise<RunResult>;
  close(): Promise<void>;
}
