/** Tensors as views on bytes: what arrives from the wire is described, not copied. */
import { elementBytes } from './array-kinds.ts';
import { DTYPES, type DType, type NumericDType } from './dtype.ts';
import { TensorError } from './errors.ts';
import { utf8Encode } from './text.ts';

/** A tensor of fixed-size elements. */
export interface NumericTensor {
  readonly dtype: NumericDType;
  /** Sizes of the dimensions, outermost first; `[]` is a scalar. */
  readonly shape: readonly number[];
  /**
   * The elements, row-major and little-endian, exactly `elementCount(shape) * size` bytes. A view, often
   * on a larger buffer and not always aligned: {@link typedArray} returns the elements.
   */
  readonly bytes: Uint8Array;
}

/** A tensor of byte strings (`DT_STRING`). */
export interface StringTensor {
  readonly dtype: 'string';
  /** Sizes of the dimensions, outermost first; `[]` is a scalar. */
  readonly shape: readonly number[];
  /** The elements in row-major order; each is any bytes, not necessarily UTF-8. */
  readonly values: readonly Uint8Array[];
}

/** A dense tensor. */
export type Tensor = NumericTensor | StringTensor;

/** Tensors by input or output name. */
export type TensorMap = Readonly<Record<string, Tensor>>;

/** TensorFlow's own limit of dimensions (TensorShape::MaxDimensions). */
export const MAX_RANK = 254;
/** Of a longer shape, messages show the first sizes. */
const SHOWN_SIZES = 32;

/** A shape for messages, `[1, 28, 28]`. */
export function shapeText(shape: readonly number[]): string {
  const shown = shape.slice(0, SHOWN_SIZES).join(', ');
  return shape.length > SHOWN_SIZES ? `[${shown}, ... ${shape.length} sizes]` : `[${shown}]`;
}

/** The number of elements of a shape; 1 for a scalar. @throws TensorError SHAPE_MISMATCH */
export function elementCount(shape: readonly number[]): number {
  let count = 1;
  let isEmpty = false;
  for (const size of shape) {
    if (!Number.isInteger(size) || size < 0) {
      throw new TensorError(
        'SHAPE_MISMATCH',
        `shape ${shapeText(shape)} has a size that is not a whole number >= 0.`,
      );
    }
    // TensorFlow multiplies them all, and an overflow is one even where a 0 follows.
    if (size === 0) isEmpty = true;
    else count *= size;
  }
  if (!Number.isSafeInteger(count)) {
    throw new TensorError('SHAPE_MISMATCH', `shape ${shapeText(shape)} has too many elements.`);
  }
  return isEmpty ? 0 : count;
}

/**
 * A numeric tensor over `bytes`, without copying: a typed array of the dtype, or bytes.
 * @throws TensorError SHAPE_MISMATCH if the bytes do not fill the shape exactly, or the array is of another dtype
 */
export function numericTensor(
  dtype: NumericDType,
  shape: readonly number[],
  bytes: ArrayBufferView,
): NumericTensor {
  const tensor = { dtype, shape, bytes: elementBytes(dtype, bytes) };
  checkFilled(tensor);
  return tensor;
}

/**
 * A string tensor; text is encoded as UTF-8, bytes are taken as they are.
 * @throws TensorError SHAPE_MISMATCH if the number of values is not the shape's
 */
export function stringTensor(
  shape: readonly number[],
  values: readonly (string | Uint8Array)[],
): StringTensor {
  const tensor: StringTensor = {
    dtype: 'string',
    shape,
    values: values.map((value) => (typeof value === 'string' ? utf8Encode(value) : value)),
  };
  checkFilled(tensor);
  return tensor;
}

/** A tensor made by hand can claim a shape that its elements do not fill. @throws TensorError SHAPE_MISMATCH */
export function checkFilled(tensor: Tensor): void {
  const count = elementCount(tensor.shape);
  const [expected, got, unit] = isNumeric(tensor)
    ? [count * DTYPES[tensor.dtype].size, tensor.bytes.byteLength, 'bytes']
    : [count, tensor.values.length, 'values'];
  if (expected === got) return;
  const message = `${describe(tensor)} needs ${expected} ${unit}, got ${got}`;
  throw new TensorError('SHAPE_MISMATCH', message);
}

/** The same elements under another shape of equal size, without copying. @throws TensorError SHAPE_MISMATCH */
export function reshape<T extends Tensor>(tensor: T, shape: readonly number[]): T {
  if (elementCount(shape) !== elementCount(tensor.shape)) {
    throw new TensorError(
      'SHAPE_MISMATCH',
      `${shapeText(tensor.shape)} cannot be reshaped to ${shapeText(shape)}`,
    );
  }
  return { ...tensor, shape };
}

/** True for the dtypes whose tensors carry `bytes`. */
export function isNumeric(tensor: Tensor): tensor is NumericTensor {
  return tensor.dtype !== 'string';
}

/** Bytes of payload that the tensor holds. */
export function byteLength(tensor: Tensor): number {
  return isNumeric(tensor)
    ? tensor.bytes.byteLength
    : tensor.values.reduce((sum, value) => sum + value.byteLength, 0);
}

/** The dtype as text with its shape, for messages: `float32 [1, 28, 28]`. */
export function describe(tensor: { dtype: DType; shape: readonly number[] }): string {
  return `${tensor.dtype} ${shapeText(tensor.shape)}`;
}
