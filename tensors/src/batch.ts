/** Joining and parting tensors along the first axis, the batch. */
import { TensorError } from './errors.ts';
import { describe, elementCount, isNumeric, type Tensor } from './tensor.ts';
import { concatBytes } from './text.ts';

/**
 * Tensors of one dtype and equal sizes but for the first, joined along the first axis (`tf.concat`, axis
 * 0). One tensor alone is given back as it is, without a copy.
 * @throws TensorError SHAPE_MISMATCH for scalars, for none, and where dtype or sizes differ
 */
export function concat(tensors: readonly Tensor[]): Tensor {
  const first = tensors[0];
  if (!first) throw new TensorError('SHAPE_MISMATCH', 'nothing to concatenate.');
  let rows = 0;
  for (const [index, tensor] of tensors.entries()) {
    if (tensor.shape.length === 0 || !isSameRow(first, tensor)) {
      throw new TensorError(
        'SHAPE_MISMATCH',
        `tensor ${index}, ${describe(tensor)}, cannot be joined to ${describe(first)} along axis 0.`,
      );
    }
    rows += tensor.shape[0] as number;
  }
  if (tensors.length === 1) return first;
  const shape = [rows, ...first.shape.slice(1)];
  if (!isNumeric(first)) {
    return {
      dtype: 'string',
      shape,
      values: tensors.flatMap((t) => (isNumeric(t) ? [] : t.values)),
    };
  }
  const parts = tensors.map((tensor) => (isNumeric(tensor) ? tensor.bytes : new Uint8Array(0)));
  return { dtype: first.dtype, shape, bytes: concatBytes(parts) };
}

function isSameRow(a: Tensor, b: Tensor): boolean {
  return (
    a.dtype === b.dtype &&
    a.shape.length === b.shape.length &&
    a.shape.slice(1).every((size, axis) => size === b.shape[axis + 1])
  );
}

/**
 * The tensor cut along its first axis into parts of these sizes: views, without copying.
 * @throws TensorError SHAPE_MISMATCH if the sizes do not add up to the first axis
 */
export function split(tensor: Tensor, sizes: readonly number[]): Tensor[] {
  const rows = tensor.shape[0];
  if (rows === undefined || sizes.reduce((sum, size) => sum + size, 0) !== rows) {
    throw new TensorError(
      'SHAPE_MISMATCH',
      `${describe(tensor)} cannot be split along axis 0 into [${sizes.join(', ')}].`,
    );
  }
  const rowShape = tensor.shape.slice(1);
  const rowSize = elementCount(rowShape);
  let row = 0;
  return sizes.map((size) => {
    const start = row;
    row += size;
    return rowsOf(tensor, [size, ...rowShape], start * rowSize, row * rowSize);
  });
}

function rowsOf(tensor: Tensor, shape: number[], start: number, end: number): Tensor {
  if (!isNumeric(tensor))
    return { dtype: 'string', shape, values: tensor.values.slice(start, end) };
  const size = tensor.bytes.byteLength / Math.max(elementCount(tensor.shape), 1);
  return { dtype: tensor.dtype, shape, bytes: tensor.bytes.subarray(start * size, end * size) };
}
