/** Tensors as callers see them: dtype, shape and a plain or typed array of elements. */
import {
  DTYPES,
  type DType,
  type ElementValue,
  isNumeric,
  type NumericDType,
  newTypedArray,
  numericTensor,
  type Tensor,
  TensorError,
  type TypedArrays,
  tensorFromValues,
  typedArray,
  widenHalves,
} from '@sagemaker-tfs/tensors';

/** What holds the elements of each dtype. 16-bit floats are widened; bool is 0 or 1; strings are bytes. */
export interface ElementArrays extends Omit<TypedArrays, 'float16' | 'bfloat16'> {
  float16: Float32Array;
  bfloat16: Float32Array;
  string: readonly Uint8Array[];
}

/** A tensor of an answer. */
export type TypedTensor<D extends DType = DType> = {
  readonly [K in D]: {
    readonly dtype: K;
    /** Sizes of the dimensions, outermost first; `[]` is a scalar. */
    readonly shape: readonly number[];
    /** The elements in row-major order, often a view on the answer's bytes. */
    readonly data: ElementArrays[K];
  };
}[D];

/** A tensor of a request; {@link TypedTensor} is one. */
export interface TensorValue {
  readonly dtype: DType;
  readonly shape: readonly number[];
  /**
   * The elements in row-major order: numbers, bigint for 64-bit integers beyond 2^53, booleans, text or bytes.
   * The dtype's own typed array (Float32Array for float32) is sent without a look at each element.
   */
  readonly data: ArrayLike<ElementValue>;
}

/** Elements of tensors as callers see them. */
export function toTypedTensor(tensor: Tensor): TypedTensor {
  const { shape } = tensor;
  if (!isNumeric(tensor)) return { dtype: 'string', shape, data: tensor.values };
  const { dtype } = tensor;
  const elements = typedArray(tensor);
  if (dtype === 'float16' || dtype === 'bfloat16') {
    return { dtype, shape, data: widenHalves(dtype, elements as Uint16Array) };
  }
  return { dtype, shape, data: elements } as TypedTensor;
}

/**
 * The wire's form of a caller's tensor.
 * @throws TensorError UNSUPPORTED_DTYPE, SHAPE_MISMATCH, VALUE_OUT_OF_RANGE
 */
export function toTensor({ dtype, shape, data }: TensorValue): Tensor {
  if (!Object.hasOwn(DTYPES, dtype)) {
    const known = Object.keys(DTYPES).join(', ');
    throw new TensorError('UNSUPPORTED_DTYPE', `there is no dtype '${dtype}'. Known are ${known}`);
  }
  if (dtype !== 'string' && ArrayBuffer.isView(data) && holds(dtype, data)) {
    return numericTensor(dtype, shape, data);
  }
  // A bool tensor's elements read as 0 and 1, and may be given so.
  const elements = dtype === 'bool' ? Array.from(data, (element) => toBool(element)) : data;
  return tensorFromValues(dtype, shape, elements);
}

/** The elements of a string tensor as text, read as UTF-8. */
export function texts(tensor: TypedTensor<'string'>): string[] {
  const decoder = new TextDecoder();
  return tensor.data.map((bytes) => decoder.decode(bytes));
}

/** True if the view's elements are stored as the dtype's are. */
function holds(dtype: NumericDType, data: ArrayBufferView): boolean {
  if (dtype === 'float16' || dtype === 'bfloat16' || dtype === 'bool') return false;
  return data instanceof newTypedArray(dtype, 0).constructor;
}

function toBool(element: ElementValue): ElementValue {
  if (element === 0) return false;
  return element === 1 ? true : element;
}
