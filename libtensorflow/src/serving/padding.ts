/** Padding of inputs whose sizes differ, so that they can be joined (`pad_variable_length_inputs`). */
import { DTYPES, elementCount, isNumeric, type Tensor } from '@sagemaker-tfs/tensors';
import { invalidArgument } from './status-error.ts';

/** The largest size of every axis but the first. @throws StatusError INVALID_ARGUMENT if ranks differ */
export function paddedShape(tensors: readonly Tensor[]): number[] {
  const rank = tensors[0]?.shape.length ?? 0;
  if (tensors.some(({ shape }) => shape.length !== rank)) {
    throw invalidArgument('Tensors of different ranks cannot be padded to one shape');
  }
  return Array.from({ length: rank - 1 }, (_, axis) =>
    Math.max(...tensors.map(({ shape }) => shape[axis + 1] as number)),
  );
}

/**
 * The tensor grown to rows of `rowShape`, filled up with its own first element, as TensorFlow Serving does
 * (batching/batching_util.cc).
 * @throws StatusError INVALID_ARGUMENT if it has no element
 */
export function padTensor(tensor: Tensor, rowShape: readonly number[]): Tensor {
  const shape = [tensor.shape[0] as number, ...rowShape];
  if (shape.every((size, axis) => size === tensor.shape[axis])) return tensor;
  if (elementCount(tensor.shape) === 0) {
    throw invalidArgument('Got empty tensor in batch of non-empty tensors.');
  }
  const run = tensor.shape.at(-1) as number;
  const starts = runStarts(tensor.shape, shape);
  if (!isNumeric(tensor)) {
    const values: Uint8Array[] = Array(elementCount(shape)).fill(tensor.values[0]);
    starts.forEach((start, index) => {
      for (let at = 0; at < run; at++)
        values[start + at] = tensor.values[index * run + at] as Uint8Array;
    });
    return { dtype: 'string', shape, values };
  }
  const { size } = DTYPES[tensor.dtype];
  const bytes = Buffer.alloc(elementCount(shape) * size, tensor.bytes.subarray(0, size));
  starts.forEach((start, index) => {
    bytes.set(tensor.bytes.subarray(index * run * size, (index + 1) * run * size), start * size);
  });
  return { dtype: tensor.dtype, shape, bytes };
}

/** For each innermost run of elements, in order, the index at which it starts in the larger shape. */
function runStarts(from: readonly number[], to: readonly number[]): number[] {
  return from
    .slice(0, -1)
    .reduce<number[]>(
      (starts, size, axis) =>
        starts.flatMap((start) =>
          Array.from({ length: size }, (_, i) => start + i * elementCount(to.slice(axis + 1))),
        ),
      [0],
    );
}
