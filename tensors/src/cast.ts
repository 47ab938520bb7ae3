/** Conversion between numeric dtypes, as `tf.cast` does it. */
import type { NumericDType } from './dtype.ts';
import { narrowToHalves } from './half.ts';
import { type NumericTensor, numericTensor } from './tensor.ts';
import { type NumberArray, newTypedArray, toNumbers } from './typed-array.ts';

const TWO_32 = 2 ** 32;

/**
 * The same elements as another numeric dtype: floats round to nearest even, floats to integers drop the
 * fraction, integers wrap, anything but zero is true. Floats beyond an integer's range, which `tf.cast`
 * leaves undefined, wrap, and NaN becomes 0. With the same dtype it returns the tensor itself.
 */
export function cast(tensor: NumericTensor, dtype: NumericDType): NumericTensor {
  if (tensor.dtype === dtype) return tensor;
  const { shape } = tensor;
  const elements = toNumbers(tensor);
  if (isInt64(dtype)) {
    if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) {
      return { dtype, shape, bytes: tensor.bytes };
    }
    return numericTensor(dtype, shape, new Uint8Array(int64WordsOf(elements).buffer));
  }
  if (dtype === 'bool') return numericTensor(dtype, shape, boolsOf(elements));
  const numbers =
    elements instanceof BigInt64Array || elements instanceof BigUint64Array
      ? numbersOfInt64(elements, isFloat(dtype))
      : elements;
  if (dtype === 'float16' || dtype === 'bfloat16') {
    return numericTensor(dtype, shape, narrowToHalves(dtype, numbers));
  }
  const out = newTypedArray(dtype, numbers.length) as Float32Array;
  out.set(numbers);
  return numericTensor(dtype, shape, out);
}

function isInt64(dtype: NumericDType): boolean {
  return dtype === 'int64' || dtype === 'uint64';
}

function isFloat(dtype: NumericDType): boolean {
  return dtype.includes('float');
}

/** 64-bit integers as doubles, or as their low words where only an integer's low bits are wanted. */
function numbersOfInt64(elements: BigInt64Array | BigUint64Array, asFloat: boolean): NumberArray {
  const words = new Uint32Array(elements.buffer, elements.byteOffset, elements.length * 2);
  const signed = elements instanceof BigInt64Array;
  const out = asFloat ? new Float64Array(elements.length) : new Uint32Array(elements.length);
  for (let i = 0; i < out.length; i++) {
    const low = words[2 * i] as number;
    const high = words[2 * i + 1] as number;
    out[i] = asFloat ? (signed ? high | 0 : high) * TWO_32 + low : low;
  }
  return out;
}

/** Numbers cut to whole ones, as pairs of little-endian words modulo 2^64. */
function int64WordsOf(numbers: NumberArray): Uint32Array {
  const words = new Uint32Array(numbers.length * 2);
  for (let i = 0; i < numbers.length; i++) {
    const whole = Math.trunc(numbers[i] as number);
    const high = Math.floor(whole / TWO_32);
    words[2 * i] = whole - high * TWO_32;
    words[2 * i + 1] = high;
  }
  return words;
}

function boolsOf(elements: NumberArray | BigInt64Array | BigUint64Array): Uint8Array {
  const out = new Uint8Array(elements.length);
  for (let i = 0; i < out.length; i++) {
    const element = elements[i] as number | bigint;
    out[i] = element === 0 || element === 0n ? 0 : 1;
  }
  return out;
}
