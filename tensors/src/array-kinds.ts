/** Which typed array holds the elements of a dtype. */
import type { NumericDType } from './dtype.ts';
import { TensorError } from './errors.ts';

/** The typed array that holds each dtype's elements; float16 and bfloat16 as bit patterns, bool as 0 or 1. */
export interface TypedArrays {
  float16: Uint16Array;
  bfloat16: Uint16Array;
  float32: Float32Array;
  float64: Float64Array;
  int8: Int8Array;
  int16: Int16Array;
  int32: Int32Array;
  int64: BigInt64Array;
  uint8: Uint8Array;
  uint16: Uint16Array;
  uint32: Uint32Array;
  uint64: BigUint64Array;
  bool: Uint8Array;
}

interface TypedArrayConstructor<T> {
  readonly name: string;
  new (length: number): T;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
}

/** Constructors of {@link TypedArrays}. */
export const ARRAY_KINDS: {
  readonly [D in NumericDType]: TypedArrayConstructor<TypedArrays[D]>;
} = {
  float16: Uint16Array,
  bfloat16: Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
};

/** Views whose elements are bytes of any dtype. */
const BYTES: ReadonlySet<string> = new Set(['Uint8Array', 'Uint8ClampedArray', 'DataView']);

/**
 * The bytes of a dtype's elements, without copying.
 * @throws TensorError SHAPE_MISMATCH for a typed array of another kind, whose elements would be other numbers
 */
export function elementBytes(dtype: NumericDType, elements: ArrayBufferView): Uint8Array {
  // Not the constructor: an array of another realm, such as a worker's or a frame's, has another one.
  const kind = Object.prototype.toString.call(elements).slice('[object '.length, -1);
  const own = ARRAY_KINDS[dtype].name;
  const isHalf = dtype === 'float16' && kind === 'Float16Array';
  if (kind !== own && !isHalf && !BYTES.has(kind)) {
    throw new TensorError(
      'SHAPE_MISMATCH',
      `${dtype} elements are in a ${kind}. Give ${own === 'Uint8Array' ? 'a Uint8Array' : `a ${own}, or their bytes in a Uint8Array`}.`,
    );
  }
  return new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
}
