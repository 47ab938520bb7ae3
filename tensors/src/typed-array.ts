/** The elements of tensors as JavaScript arrays. Little-endian machines only, as all that Node serves on. */
import { ARRAY_KINDS, type TypedArrays } from './array-kinds.ts';
import { DTYPES, type NumericDType } from './dtype.ts';
import { widenHalves } from './half.ts';
import { isNumeric, type NumericTensor, type Tensor } from './tensor.ts';
import { asBuffer } from './text.ts';

export type { TypedArrays } from './array-kinds.ts';

/** Typed arrays of numbers, bigint left out. */
export type NumberArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | Uint32Array;

/** A zeroed typed array for `length` elements of the dtype. */
export function newTypedArray<D extends NumericDType>(dtype: D, length: number): TypedArrays[D] {
  return new ARRAY_KINDS[dtype](length);
}

/**
 * The tensor's elements, row-major. A view on its bytes where they are aligned for it, else a copy: write
 * to it only to fill a tensor of your own.
 */
export function typedArray<D extends NumericDType>(
  tensor: NumericTensor & { readonly dtype: D },
): TypedArrays[D] {
  const { size } = DTYPES[tensor.dtype];
  const aligned =
    tensor.bytes.byteOffset % size === 0 ? tensor.bytes : new Uint8Array(tensor.bytes);
  return new ARRAY_KINDS[tensor.dtype](
    aligned.buffer,
    aligned.byteOffset,
    aligned.byteLength / size,
  );
}

/** The tensor's elements as numbers, float16 and bfloat16 widened; int64 and uint64 as bigint. */
export function toNumbers(tensor: NumericTensor): NumberArray | BigInt64Array | BigUint64Array {
  if (tensor.dtype === 'float16' || tensor.dtype === 'bfloat16') {
    return widenHalves(tensor.dtype, typedArray({ ...tensor, dtype: tensor.dtype }));
  }
  return typedArray(tensor);
}

/** A tensor as plain nested arrays; a scalar is its only element. */
export type Nested = number | bigint | boolean | Buffer | Nested[];

/**
 * The tensor as plain nested arrays: numbers, bigint for int64 and uint64, booleans, Buffers for
 * strings (plain Uint8Arrays in browsers).
 * For small tensors and for people: a large one is better read through {@link typedArray}.
 */
export function toNested(tensor: Tensor): Nested {
  let next = 0;
  const elements = elementsOf(tensor);
  const build = (axis: number): Nested => {
    if (axis === tensor.shape.length) return elements[next++] as Nested;
    return Array.from({ length: tensor.shape[axis] as number }, () => build(axis + 1));
  };
  return build(0);
}

function elementsOf(tensor: Tensor): ArrayLike<Nested> {
  if (!isNumeric(tensor)) {
    return tensor.values.map(asBuffer);
  }
  const numbers = toNumbers(tensor);
  return tensor.dtype === 'bool' ? Array.from(numbers as Uint8Array, (bit) => bit !== 0) : numbers;
}
