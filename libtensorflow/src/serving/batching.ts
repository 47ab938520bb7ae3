/**
 * Runs concurrent requests of one signature together, with the semantics and texts of TensorFlow Serving's BatchingSession
 * (`--enable_batching`): requests wait until a batch is full or its time is up and a batch thread is free, are joined
 * along the first axis, and their outputs are parted again. Requests of differing shapes fail together, and so do those
 * of a graph without an open first axis. The runtime joins in its own way: joining.ts.
 */
import type { AbortSignalLike, SignatureMap, TensorMap } from '@sagemaker-tfs/tensors';
import { abortable } from '../abortable.ts';
import { untilAllAborted } from '../until-all-aborted.ts';
import type { BatchThreads } from './batch-queue.ts';
import { Batches } from './batches.ts';
import type { BatchingOptions } from './batching-options.ts';
import { batchSizeOf, bytesOf, type Joined, mergeInputs, splitInputs } from './merge-inputs.ts';
import { allResults, isOfRows, joinResults, releaseAll, splitOutputs } from './part-outputs.ts';
import type { RunResult, Session } from './session.ts';
import { failedPrecondition } from './status-error.ts';

export type { BatchingOptions } from './batching-options.ts';

/** A session whose runs are batched. */
export class BatchingSession implements Session {
  readonly signatures: SignatureMap;
  readonly #session: Session;
  readonly #options: BatchingOptions;
  readonly #batches: Batches<Joined, RunResult>;

  constructor(session: Session, options: BatchingOptions, threads: BatchThreads) {
    this.signatures = session.signatures;
    this.#session = session;
    this.#options = options;
    this.#batches = new Batches(options, threads);
  }

  async run(
    signature: string,
    inputs: TensorMap,
    outputs: readonly string[],
    signal?: AbortSignalLike,
  ): Promise<RunResult> {
    signal?.throwIfAborted();
    const { maxInputRows = 0, maxBatchSize } = this.#options;
    const size = batchSizeOf(inputs);
    const run = (part: TensorMap) => this.#runInBatch(signature, part, outputs, signal);
    if (size <= maxBatchSize || size > maxInputRows) return run(inputs);
    const parts = splitInputs(inputs, size, maxBatchSize);
    const results = await allResults(parts.map(run));
    const joined = joinResults(outputs, results, parts.map(batchSizeOf));
    if (isOfRows(joined)) return joined;
    releaseAll(results);
    throw failedPrecondition(
      'Outputs of the batches of one request have different shapes, or not the rows of their inputs',
    );
  }

  async #runInBatch(
    signature: string,
    inputs: TensorMap,
    outputs: readonly string[],
    signal: AbortSignalLike | undefined,
  ): Promise<RunResult> {
    const request = { size: batchSizeOf(inputs), bytes: bytesOf(inputs), inputs, signal };
    const kind = JSON.stringify([signature, ...outputs]);
    const result = this.#batches.add(kind, request, (batch) =>
      this.#runJoined(signature, outputs, batch),
    );
    return signal ? abortable(result, signal) : result;
  }

  async #runJoined(
    signature: string,
    outputs: readonly string[],
    batch: readonly Joined[],
  ): Promise<RunResult[]> {
    const { inputs, sizes } = mergeInputs(batch, this.#options);
    const { signal, end } = untilAllAborted(batch);
    try {
      const result = await this.#session.run(signature, inputs, outputs, signal);
      return splitOutputs(result, sizes, batch.length);
    } finally {
      end();
    }
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}
