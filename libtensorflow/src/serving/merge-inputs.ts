/** Inputs of several requests as those of one, and of one request as those of several. */
import {
  concat,
  DTYPES,
  elementCount,
  isNumeric,
  split,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import type { BatchItem } from './batches.ts';
import type { MergeOptions } from './batching-options.ts';
import { paddedShape, padTensor } from './padding.ts';
import { failedPrecondition, invalidArgument } from './status-error.ts';

/** Of an element of a string tensor, without its text. */
const STRING_BYTES = 16;

/** Of `Tensor::Slice(0, 1)` (TensorFlow's core/framework/tensor.cc), which the filling row is taken by. */
const SLICE_CHECK = 'limit <= dim0_size (1 vs. 0)';

/** One request of a batch. */
export interface Joined extends BatchItem {
  readonly inputs: TensorMap;
}

/** The inputs of a batch as one. */
export interface Merged {
  readonly inputs: TensorMap;
  /** Rows of each request, then of the padding where there is any. */
  readonly sizes: readonly number[];
  /** Rows that fill the batch up. */
  readonly padding: number;
  /** Whether inputs of other sizes were padded to one. */
  readonly isPadded: boolean;
}

export const total = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size, 0);

/** Rows of a request. @throws StatusError INVALID_ARGUMENT if its inputs differ in them */
export function batchSizeOf(inputs: TensorMap): number {
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
export function splitInputs(inputs: TensorMap, rows: number, most: number): TensorMap[] {
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

export function mergeInputs(batch: readonly Joined[], options: MergeOptions): Merged {
  const sizes = batch.map(({ size }) => size);
  const rows = total(sizes);
  const allowed = options.allowedBatchSizes.find((size) => size >= rows) ?? rows;
  const names = Object.keys(batch[0]?.inputs ?? {});
  let isPadded = false;
  const inputs = names.map((name) => {
    const tensors = batch.map((request) => request.inputs[name] as Tensor);
    isPadded ||= new Set(tensors.map(rowShape)).size > 1;
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
    isPadded,
  };
}

/** Dtypes and shapes of one row, or ranks where shapes are padded: requests that agree in it can be joined. */
export function rowKind(inputs: TensorMap, pads: boolean): string {
  return Object.entries(inputs)
    .map(([name, tensor]) => {
      return `${name} ${tensor.dtype} ${pads ? tensor.shape.length : rowShape(tensor)}`;
    })
    .sort()
    .join('\n');
}

export function bytesOf(inputs: TensorMap): number {
  return Object.values(inputs).reduce((sum, tensor) => {
    if (isNumeric(tensor)) return sum + tensor.bytes.byteLength;
    return tensor.values.reduce((bytes, value) => bytes + value.byteLength, sum);
  }, 0);
}

/** The tensor's first row, `count` times: a valid row for the model to fill the batch with. */
function fillingRows(tensor: Tensor, count: number, { onCheckFailed }: MergeOptions): Tensor[] {
  if (count === 0) return [];
  const rows = tensor.shape[0] ?? 0;
  if (rows === 0) {
    onCheckFailed?.(SLICE_CHECK);
    throw failedPrecondition('Cannot pad a batch of no rows');
  }
  const [row] = split(tensor, [1, rows - 1]);
  return Array.from({ length: count }, () => row as Tensor);
}

/** @throws StatusError if what they are padded to is beyond the bytes of a batch */
function padAll(tensors: readonly Tensor[], { maxBatchBytes }: MergeOptions): Tensor[] {
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

export function rowShape(tensor: Tensor): string {
  return tensor.shape.slice(1).join();
}
