/**
 * Runs concurrent requests of one signature together (`--enable_batching`): requests wait until a batch is
 * full or its time is up and a batch thread is free, are joined along the first axis, and their outputs are
 * parted again. Semantics and texts are those of TensorFlow Serving's BatchingSession.
 */
import {
  type AbortSignalLike,
  concat,
  DTYPES,
  elementCount,
  isNumeric,
  own,
  type SignatureMap,
  split,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import { abortable } from '../abortable.ts';
import { LibTensorFlowError } from '../errors.ts';
import { untilAllAborted } from '../until-all-aborted.ts';
import type { BatchThreads } from './batch-queue.ts';
import { type AfterFailure, Batches, type BatchItem } from './batches.ts';
import { OutputRows } from './output-rows.ts';
import { paddedShape, padTensor } from './padding.ts';
import type { RunResult, Session } from './session.ts';
import { failedPrecondition, invalidArgument, StatusError } from './status-error.ts';

export { untilAllAborted } from '../until-all-aborted.ts';
export { BatchThreads } from './batch-queue.ts';
export { type AfterFailure, Batches, type BatchItem } from './batches.ts';
export type { Company, RunResult } from './session.ts';

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
   * Asked for every run that failed: whether its requests run again in smaller batches, so that each has its own answer
   * or error. Default: `reject`, as in TensorFlow Serving: one request's error, its text included, is every one's of
   * the batch.
   */
  readonly afterFailure?: (error: unknown) => AfterFailure;
  /** Bytes of the inputs of a batch of several requests. Default: any number. */
  readonly maxBatchBytes?: number;
  /**
   * Called, and not to return, where a batch ends in a request of no rows and is to be filled up: TensorFlow ends its
   * process there. Absent: the batch is refused.
   */
  readonly onCheckFailed?: (check: string) => never;
  /** Called where a signature is found to answer other rows than it was sent, though its shapes promise them. */
  readonly onNoRows?: (signature: string) => void;
  /** Told of every batch that runs. */
  readonly onBatch?: (batch: { requests: number; rows: number; padding: number }) => void;
}

/** Of an element of a string tensor, without its text. */
const STRING_BYTES = 16;

/** Of `Tensor::Slice(0, 1)` (TensorFlow's core/framework/tensor.cc), which the filling row is taken by. */
const SLICE_CHECK = 'limit <= dim0_size (1 vs. 0)';

interface Request extends BatchItem {
  readonly inputs: TensorMap;
}

/** A session whose runs are batched. */
export class BatchingSession implements Session {
  readonly signatures: SignatureMap;
  readonly #session: Session;
  readonly #options: BatchingOptions;
  readonly #batches: Batches<Request, RunResult>;
  readonly #rows: OutputRows;

  constructor(session: Session, options: BatchingOptions, threads: BatchThreads) {
    this.signatures = session.signatures;
    this.#session = session;
    this.#options = options;
    this.#batches = new Batches(options, threads, options.afterFailure);
    this.#rows = new OutputRows((signature) => options.onNoRows?.(signature));
  }

  async run(
    signature: string,
    inputs: TensorMap,
    outputs: readonly string[],
    signal?: AbortSignalLike,
  ): Promise<RunResult> {
    signal?.throwIfAborted();
    const { unjoinable, maxInputRows = 0, maxBatchSize } = this.#options;
    const alone = unjoinable === 'run-alone';
    if (alone && !this.#joins(signature, inputs, outputs)) {
      return this.#session.run(signature, inputs, outputs, signal);
    }
    const size = batchSizeOf(inputs);
    const joins = alone ? this.#rows.joins(signature, outputs, size) : 'yes';
    if (joins === 'never') return this.#session.run(signature, inputs, outputs, signal);
    if (joins === 'not yet') {
      const result = await this.#session.run(signature, inputs, outputs, signal);
      this.#rows.note(signature, result.outputs, size);
      return result;
    }
    if (size > maxBatchSize && size <= maxInputRows) {
      return this.#runSplit(signature, inputs, outputs, signal);
    }
    return this.#runInBatch(signature, { size, bytes: bytesOf(inputs), inputs, signal }, outputs);
  }

  async #runInBatch(
    signature: string,
    request: Request,
    outputs: readonly string[],
  ): Promise<RunResult> {
    const { unjoinable, padVariableLengthInputs } = this.#options;
    const { inputs, signal } = request;
    const rows = unjoinable === 'run-alone' ? rowKind(inputs, padVariableLengthInputs) : '';
    const kind = JSON.stringify([rows, signature, ...outputs]);
    const result = this.#batches.add(kind, request, (batch, { isAfterLoss }) =>
      this.#runJoined(signature, outputs, batch, isAfterLoss),
    );
    return signal ? abortable(result, signal) : result;
  }

  /**
   * Runs a request of more rows than a batch has in several, and joins their outputs. Where requests are not refused,
   * no more of its batches wait at a time than can run, so that those of others come between them, and none runs for
   * a caller who has gone. If its outputs cannot be joined, it runs again whole.
   */
  async #runSplit(
    signature: string,
    inputs: TensorMap,
    outputs: readonly string[],
    signal: AbortSignalLike | undefined,
  ): Promise<RunResult> {
    const { maxBatchSize, numBatchThreads, unjoinable } = this.#options;
    const parts = splitInputs(inputs, batchSizeOf(inputs), maxBatchSize);
    const atATime = unjoinable === 'refuse' ? parts.length : numBatchThreads;
    const results: RunResult[] = [];
    const whole = () => this.#session.run(signature, inputs, outputs, signal);
    try {
      await inTurn(parts, atATime, async (part, index) => {
        results[index] = await this.run(signature, part, outputs, signal);
      });
    } catch (error) {
      releaseAll(results);
      // What fails in parts may be right as it was sent: its rows may belong together.
      if (unjoinable === 'refuse' || !this.#mayRunAgain(error)) throw error;
      return whole();
    }
    const joined = joinResults(outputs, results, parts.map(batchSizeOf));
    if (joined) return joined;
    releaseAll(results);
    if (unjoinable === 'refuse') {
      throw failedPrecondition(
        'Outputs of the batches of one request have different shapes, or not the rows of their inputs',
      );
    }
    return whole();
  }

  #mayRunAgain(error: unknown): boolean {
    const isFull = error instanceof StatusError && error.code === Code.RESOURCE_EXHAUSTED;
    return !isFull && this.#options.afterFailure?.(error) === 'halves';
  }

  /** Whether each tensor can be of any number of rows, and this request has as many in all as a batch may. */
  #joins(signatureKey: string, inputs: TensorMap, outputs: readonly string[]): boolean {
    const signature = own(this.signatures, signatureKey);
    const takes = signature?.inputs ?? {};
    const specs = [
      ...Object.values(takes),
      ...outputs.flatMap((name) => (signature && own(signature.outputs, name)) ?? []),
    ];
    const rows = Object.values(inputs).map(({ shape }) => shape[0] ?? 0);
    const [size = 0] = rows;
    const { maxBatchSize, maxInputRows = maxBatchSize } = this.#options;
    return (
      specs.every(({ shape }) => shape?.[0] === -1) &&
      // An input that is left to its default has rows of its own.
      Object.keys(takes).every((name) => Object.hasOwn(inputs, name)) &&
      size > 0 &&
      size <= maxInputRows &&
      rows.every((other) => other === size)
    );
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  async #runJoined(
    signature: string,
    outputs: readonly string[],
    batch: readonly Request[],
    isAfterLoss: boolean,
  ): Promise<RunResult[]> {
    const { inputs, sizes, padding } = mergeInputs(batch, this.#options);
    const rows = sizes.reduce((sum, size) => sum + size, 0) - padding;
    this.#options.onBatch?.({ requests: batch.length, rows, padding });
    const { signal, end } = untilAllAborted(batch);
    const company = { calls: batch.length, isAfterLoss };
    const joined = this.#session.run(signature, inputs, outputs, signal, company).finally(end);
    const [only, ...others] = batch;
    const isOne = this.#options.unjoinable === 'run-alone' && others.length === 0;
    if (!only || !isOne) return this.#parted(signature, await joined, sizes, batch.length);
    if (padding === 0) {
      const result = await joined;
      this.#rows.note(signature, result.outputs, only.size);
      return [result];
    }
    try {
      return this.#parted(signature, await joined, sizes, 1);
    } catch (error) {
      // Rows that belong together cannot be padded: what fails may be the padding.
      const isOfRows = error instanceof StatusError && error.code === Code.FAILED_PRECONDITION;
      if (!isOfRows && !this.#mayRunAgain(error)) throw error;
      return [await this.#session.run(signature, only.inputs, outputs, only.signal)];
    }
  }

  /** @throws StatusError FAILED_PRECONDITION where the outputs do not have the rows of the inputs */
  #parted(
    signature: string,
    result: RunResult,
    sizes: readonly number[],
    requests: number,
  ): RunResult[] {
    const rows = sizes.reduce((sum, size) => sum + size, 0);
    this.#rows.note(signature, result.outputs, rows);
    return splitOutputs(result, sizes, requests);
  }
}

/**
 * The results of the parts of one request as one; undefined if they cannot be joined.
 * @throws StatusError UNAVAILABLE where they are of different versions; they are released then
 */
function joinResults(
  outputs: readonly string[],
  results: readonly RunResult[],
  sizes: readonly number[],
): RunResult | undefined {
  const [first] = results;
  if (results.some(({ version }) => version !== first?.version)) {
    releaseAll(results);
    throw new StatusError(
      Code.UNAVAILABLE,
      'The model changed to another version while the request ran in several batches. Send it again.',
    );
  }
  const joined = joinOutputs(outputs, results, sizes);
  // Not before: strings are views on the parts' memory.
  return joined && { outputs: joined, version: first?.version, release: () => releaseAll(results) };
}

/**
 * Undefined if the outputs of some part do not have the rows of its inputs: behind each other they would be in another
 * order than those of the whole. Or if their sizes differ beyond the first dimension.
 */
function joinOutputs(
  outputs: readonly string[],
  results: readonly RunResult[],
  sizes: readonly number[],
): TensorMap | undefined {
  const joined: [string, Tensor][] = [];
  for (const name of outputs) {
    const tensors = results.map((result) => result.outputs[name] as Tensor);
    const [first] = tensors.map(rowShape);
    const isOfRows = tensors.every((one, at) => one.shape[0] === sizes[at]);
    if (!isOfRows || tensors.some((one) => rowShape(one) !== first)) return undefined;
    joined.push([name, concat(tensors)]);
  }
  return Object.fromEntries(joined);
}

/** Of parts that failed there is none. */
function releaseAll(results: readonly RunResult[]): void {
  results.forEach((result) => {
    result.release();
  });
}

/** Works on each item in order, on some at a time. @throws the first error, when what had begun is over */
async function inTurn<T>(
  items: readonly T[],
  atATime: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      try {
        await work(items[index] as T, index);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: atATime }, worker));
  const failed = workers.find((ended) => ended.status === 'rejected');
  if (failed) throw failed.reason;
}

/**
 * For a session in this process: all but a run that was cancelled, or whose session is gone, may fare better in
 * smaller batches.
 */
export function halvesUnlessOver(error: unknown): AfterFailure {
  const isOver =
    error instanceof LibTensorFlowError
      ? error.code === 'SESSION_CLOSED' || error.tfCode === Code.CANCELLED
      : error instanceof StatusError && error.code === Code.CANCELLED;
  return isOver ? 'reject' : 'halves';
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
    const equal = options.padVariableLengthInputs
      ? padAll(tensors, options)
      : checkEqual(name, tensors);
    const filling = fillingRows(equal.at(-1) as Tensor, allowed - rows, options);
    return [name, concat([...equal, ...filling])];
  });
  return {
    inputs: Object.fromEntries(inputs),
    sizes: allowed > rows ? [...sizes, allowed - rows] : sizes,
    padding: allowed - rows,
  };
}

/** Dtypes and shapes of one row, or ranks where shapes are padded: requests that agree in it can be joined. */
function rowKind(inputs: TensorMap, pads: boolean): string {
  return Object.entries(inputs)
    .map(([name, tensor]) => {
      return `${name} ${tensor.dtype} ${pads ? tensor.shape.length : rowShape(tensor)}`;
    })
    .sort()
    .join('\n');
}

function bytesOf(inputs: TensorMap): number {
  return Object.values(inputs).reduce((sum, tensor) => {
    if (isNumeric(tensor)) return sum + tensor.bytes.byteLength;
    return tensor.values.reduce((bytes, value) => bytes + value.byteLength, sum);
  }, 0);
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

/** @throws StatusError where what they are padded to is beyond the bytes of a batch */
function padAll(tensors: readonly Tensor[], { maxBatchBytes }: BatchingOptions): Tensor[] {
  const shape = paddedShape(tensors);
  const rows = tensors.reduce((sum, tensor) => sum + (tensor.shape[0] ?? 0), 0);
  const [first] = tensors;
  const size = first && isNumeric(first) ? DTYPES[first.dtype].size : STRING_BYTES;
  const bytes = rows * elementCount(shape) * size;
  if (tensors.length > 1 && maxBatchBytes !== undefined && bytes > maxBatchBytes) {
    throw failedPrecondition(`Padded to one shape, a batch of ${rows} rows has ${bytes} bytes`);
  }
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
      version: result.version,
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
