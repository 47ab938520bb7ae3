/**
 * Runs concurrent requests of one signature together (`--enable_batching`): requests wait until a batch is
 * full or its time is up and a batch thread is free, are joined along the first axis, and their outputs are
 * parted again. Semantics and texts are those of TensorFlow Serving's BatchingSession.
 */
import {
  type AbortSignalLike,
  concat,
  type SignatureMap,
  split,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import { abortable } from '../abortable.ts';
import { LibTensorFlowError } from '../errors.ts';
import { BatchQueue, type BatchTask, type BatchThreads } from './batch-queue.ts';
import { paddedShape, padTensor } from './padding.ts';
import type { RunResult, Session } from './session.ts';
import { failedPrecondition, invalidArgument, StatusError } from './status-error.ts';

/** Checked batching parameters; defaults are those of TensorFlow's SharedBatchScheduler. */
export interface BatchingOptions {
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
  /**
   * What becomes of a request that cannot be joined with others. `refuse` is what TensorFlow Serving does:
   * requests of differing shapes fail together, and so do those of a graph without an open first axis.
   * `run-alone` joins only requests of equal shapes, and runs alone whatever has more rows than a batch,
   * or a signature with an input or output whose first axis is not open.
   */
  readonly unjoinable: 'refuse' | 'run-alone';
  /**
   * Whether the requests of a batch that fails run again, each alone, so that each has its own answer or error.
   * Default: false, as in TensorFlow Serving: one request's error, its text included, is every one's of the batch.
   */
  readonly retryAlone?: boolean;
  /**
   * Called, and not to return, where a batch ends in a request of no rows and is to be filled up: TensorFlow ends its
   * process there. Absent: the batch is refused.
   */
  readonly onCheckFailed?: (check: string) => never;
  /** Told of every batch that runs. */
  readonly onBatch?: (batch: { requests: number; rows: number; padding: number }) => void;
}

/** Of `Tensor::Slice(0, 1)` (TensorFlow's core/framework/tensor.cc), which the filling row is taken by. */
const SLICE_CHECK = 'limit <= dim0_size (1 vs. 0)';

interface Request extends BatchTask {
  readonly inputs: TensorMap;
  readonly signal: AbortSignalLike | undefined;
  readonly resolve: (result: RunResult) => void;
  readonly reject: (error: unknown) => void;
}

/** A session whose runs are batched. */
export class BatchingSession implements Session {
  readonly signatures: SignatureMap;
  readonly #session: Session;
  readonly #options: BatchingOptions;
  readonly #threads: BatchThreads;
  readonly #queues = new Map<string, BatchQueue<Request>>();

  constructor(session: Session, options: BatchingOptions, threads: BatchThreads) {
    this.signatures = session.signatures;
    this.#session = session;
    this.#options = options;
    this.#threads = threads;
  }

  async run(
    signature: string,
    inputs: TensorMap,
    outputs: readonly string[],
    signal?: AbortSignalLike,
  ): Promise<RunResult> {
    signal?.throwIfAborted();
    const alone = this.#options.unjoinable === 'run-alone';
    if (alone && !this.#joins(signature, inputs, outputs)) {
      return this.#session.run(signature, inputs, outputs, signal);
    }
    const size = batchSizeOf(inputs);
    const { maxInputRows = 0, maxBatchSize } = this.#options;
    if (size > maxBatchSize && size <= maxInputRows) {
      return this.#runSplit(signature, inputs, outputs, signal);
    }
    const queue = this.#queue(signature, outputs, alone ? rowShapes(inputs) : '');
    const result = new Promise<RunResult>((resolve, reject) =>
      queue.add({ size, inputs, signal, resolve, reject }),
    );
    return signal ? abortable(result, signal) : result;
  }

  /** Runs a request of more rows than a batch has in several, and joins their outputs. */
  async #runSplit(
    signature: string,
    inputs: TensorMap,
    outputs: readonly string[],
    signal: AbortSignalLike | undefined,
  ): Promise<RunResult> {
    const parts = splitInputs(inputs, batchSizeOf(inputs), this.#options.maxBatchSize);
    const runs = await Promise.allSettled(
      parts.map((part) => this.run(signature, part, outputs, signal)),
    );
    const results = runs.flatMap((run) => (run.status === 'fulfilled' ? [run.value] : []));
    try {
      const failed = runs.find((run) => run.status === 'rejected');
      if (failed) throw failed.reason;
      const joined = outputs.map((name) => {
        return [name, concat(results.map((result) => result.outputs[name] as Tensor))];
      });
      return { outputs: Object.fromEntries(joined), release: () => undefined };
    } finally {
      for (const result of results) result.release();
    }
  }

  /** Whether each tensor can be of any number of rows, and this request has as many in all as a batch may. */
  #joins(signatureKey: string, inputs: TensorMap, outputs: readonly string[]): boolean {
    const signature = this.signatures[signatureKey];
    const specs = [
      ...Object.values(signature?.inputs ?? {}),
      ...outputs.flatMap((name) => signature?.outputs[name] ?? []),
    ];
    const rows = Object.values(inputs).map(({ shape }) => shape[0] ?? 0);
    const [size = 0] = rows;
    return (
      specs.every(({ shape }) => shape?.[0] === -1) &&
      size > 0 &&
      size <= this.#options.maxBatchSize &&
      rows.every((other) => other === size)
    );
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  #queue(signature: string, outputs: readonly string[], shapes: string): BatchQueue<Request> {
    const key = JSON.stringify([shapes, signature, ...outputs]);
    const known = this.#queues.get(key);
    if (known) return known;
    const queue: BatchQueue<Request> = new BatchQueue<Request>(
      this.#options,
      this.#threads,
      (batch) => this.#process(signature, outputs, batch),
      // Shapes and outputs are the clients' choice: there may be any number of them.
      () => this.#queues.delete(key),
    );
    this.#queues.set(key, queue);
    return queue;
  }

  async #process(
    signature: string,
    outputs: readonly string[],
    waiting: readonly Request[],
  ): Promise<void> {
    const batch = waiting.filter(({ signal }) => !signal?.aborted);
    if (batch.length === 0) return;
    try {
      const { inputs, sizes, padding } = mergeInputs(batch, this.#options);
      const rows = sizes.reduce((sum, size) => sum + size, 0) - padding;
      this.#options.onBatch?.({ requests: batch.length, rows, padding });
      const result = await this.#session.run(signature, inputs, outputs, untilAllAborted(batch));
      const parts = splitOutputs(result, sizes, batch.length);
      batch.forEach((request, index) => {
        request.resolve(parts[index] as RunResult);
      });
    } catch (error) {
      if (this.#options.retryAlone && batch.length > 1 && !isEnd(error)) {
        // One after the other: the batch has one thread.
        for (const request of batch) await this.#process(signature, outputs, [request]);
        return;
      }
      for (const request of batch) request.reject(error);
    }
  }
}

/** Whether the run was cancelled or its session is gone: no other run would fare better. */
function isEnd(error: unknown): boolean {
  if (error instanceof LibTensorFlowError) {
    return error.code === 'SESSION_CLOSED' || error.tfCode === Code.CANCELLED;
  }
  return error instanceof StatusError && error.code === Code.CANCELLED;
}

/** Aborts once nobody waits for the batch any more; undefined if somebody will wait whatever happens. */
function untilAllAborted(batch: readonly Request[]): AbortSignal | undefined {
  if (batch.some(({ signal }) => !signal)) return undefined;
  const stop = new AbortController();
  let left = batch.length;
  for (const { signal } of batch) {
    const onAbort = () => {
      left -= 1;
      if (left === 0) stop.abort(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  }
  return stop.signal;
}

/** Rows of a request. @throws StatusError INVALID_ARGUMENT where its inputs differ in them */
function batchSizeOf(inputs: TensorMap): number {
  const tensors = Object.values(inputs);
  if (tensors.length === 0) {
    throw invalidArgument('Batching Run() must have at least one input tensor');
  }
  const sizes = tensors.map(({ shape }) => shape[0]);
  const [size] = sizes;
  if (size === undefined || sizes.includes(undefined)) {
    throw invalidArgument('Batching Run() input tensors must have at least one dimension');
  }
  if (sizes.some((other) => other !== size)) {
    throw invalidArgument('Batching Run() input tensors must have equal 0th-dimension size');
  }
  return size;
}

/** The inputs in parts of at most `most` rows. */
function splitInputs(inputs: TensorMap, rows: number, most: number): TensorMap[] {
  const sizes = Array.from({ length: Math.ceil(rows / most) }, (_, index) =>
    Math.min(most, rows - index * most),
  );
  const tensors = Object.entries(inputs).map(
    ([name, tensor]) => [name, split(tensor, sizes)] as const,
  );
  return sizes.map((_, index) =>
    Object.fromEntries(tensors.map(([name, parts]) => [name, parts[index] as Tensor])),
  );
}

/** The batch's inputs joined, and the rows of each request, then of the padding where there is any. */
function mergeInputs(
  batch: readonly Request[],
  options: BatchingOptions,
): { inputs: TensorMap; sizes: number[]; padding: number } {
  const sizes = batch.map(({ size }) => size);
  const rows = sizes.reduce((sum, size) => sum + size, 0);
  const allowed = options.allowedBatchSizes.find((size) => size >= rows) ?? rows;
  const names = Object.keys(batch[0]?.inputs ?? {});
  const inputs = names.map((name) => {
    const tensors = batch.map((request) => request.inputs[name] as Tensor);
    const equal = options.padVariableLengthInputs ? padAll(tensors) : checkEqual(name, tensors);
    const filling = fillingRows(equal.at(-1) as Tensor, allowed - rows, options);
    return [name, concat([...equal, ...filling])];
  });
  return {
    inputs: Object.fromEntries(inputs),
    sizes: allowed > rows ? [...sizes, allowed - rows] : sizes,
    padding: allowed - rows,
  };
}

/** Shapes and dtypes of one row: requests that agree in it can be joined. */
function rowShapes(inputs: TensorMap): string {
  return Object.entries(inputs)
    .map(([name, tensor]) => `${name} ${tensor.dtype} ${rowShape(tensor)}`)
    .sort()
    .join('\n');
}

/** The tensor's first row, `count` times: a valid row for the model to fill the batch with. */
function fillingRows(tensor: Tensor, count: number, { onCheckFailed }: BatchingOptions): Tensor[] {
  if (count === 0) return [];
  const rows = tensor.shape[0] ?? 0;
  if (rows === 0) {
    onCheckFailed?.(SLICE_CHECK);
    throw failedPrecondition('Cannot pad a batch of no rows');
  }
  const [row] = split(tensor, [1, rows - 1]);
  return Array.from({ length: count }, () => row as Tensor);
}

function padAll(tensors: readonly Tensor[]): Tensor[] {
  const shape = paddedShape(tensors);
  return tensors.map((tensor) => padTensor(tensor, shape));
}

function checkEqual(name: string, tensors: readonly Tensor[]): readonly Tensor[] {
  const [first] = tensors.map(rowShape);
  if (tensors.every((tensor) => rowShape(tensor) === first)) return tensors;
  throw failedPrecondition(
    `Tensors with name '${name}' from different tasks have different shapes and padding is turned off. ` +
      'Set pad_variable_length_inputs to true, or ensure that all tensors with the same name have equal dimensions starting with the first dim.',
  );
}

function rowShape(tensor: Tensor): string {
  return tensor.shape.slice(1).join();
}

/** One result a request; the batch's memory is released with the last of them. */
function splitOutputs(result: RunResult, sizes: readonly number[], requests: number): RunResult[] {
  let held = requests;
  const release = () => {
    held -= 1;
    if (held === 0) result.release();
  };
  try {
    const parts = Object.entries(result.outputs).map(
      ([name, tensor]) => [name, splitRows(tensor, sizes)] as const,
    );
    return Array.from({ length: requests }, (_, index) => ({
      outputs: Object.fromEntries(parts.map(([name, tensors]) => [name, tensors[index] as Tensor])),
      release,
    }));
  } catch (error) {
    result.release();
    throw error;
  }
}

function splitRows(tensor: Tensor, sizes: readonly number[]): Tensor[] {
  if (tensor.shape.length === 0) throw failedPrecondition('Batched output tensor has 0 dimensions');
  if (tensor.shape[0] !== sizes.reduce((sum, size) => sum + size, 0)) {
    throw new StatusError(
      Code.FAILED_PRECONDITION,
      "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input tensors",
    );
  }
  return split(tensor, sizes);
}
