/** Tensors from JavaScript values, each checked against the dtype. */
import { DTYPES, type DType, type NumericDType } from './dtype.ts';
import { TensorError } from './errors.ts';
import { halfBits, roundToHalf } from './half.ts';
import { elementCount, stringTensor, type Tensor } from './tensor.ts';
import { newTypedArray, type TypedArrays } from './typed-array.ts';

/** What an element may be given as: see {@link tensorFromValues}. */
export type ElementValue = number | bigint | boolean | string | Uint8Array;

/** Elements given in runs, written into one tensor. */
interface ElementSink {
  /**
   * Writes the elements of `run` from index `at` on.
   * @returns the index within `run` of the first that the dtype cannot hold, or -1
   */
  readonly write: (run: ArrayLike<unknown>, at: number) => number;
  /** The tensor of everything written. */
  readonly tensor: (shape: readonly number[]) => Tensor;
}

/** Halfway between the largest float32 and 2^128, the least number that float32 rounds to infinity. */
const FLOAT32_OVERFLOW = 2 ** 128 - 2 ** 103;

/** The smallest and the largest value of the integer dtypes. */
const INTEGER_RANGE: Partial<Record<DType, readonly [bigint, bigint]>> = {
  int8: [-128n, 127n],
  int16: [-32768n, 32767n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint8: [0n, 255n],
  uint16: [0n, 65535n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

/**
 * A tensor from its elements in row-major order. Floats take numbers (rounded to the nearest value, NaN
 * and infinities as they are) and bigint; integers take whole numbers and bigint; bool takes booleans;
 * string takes text (as UTF-8) and bytes.
 * @throws TensorError SHAPE_MISMATCH; VALUE_OUT_OF_RANGE, naming the index, for a value of another type
 *   or beyond the dtype's range
 */
export function tensorFromValues(
  dtype: DType,
  shape: readonly number[],
  values: ArrayLike<ElementValue>,
): Tensor {
  if (values.length !== elementCount(shape)) {
    throw new TensorError(
      'SHAPE_MISMATCH',
      `${dtype} [${shape.join(', ')}] needs ${elementCount(shape)} values, got ${values.length}`,
    );
  }
  const sink = elementSink(dtype, values.length);
  const bad = sink.write(values, 0);
  if (bad >= 0) throw badValue(`value ${bad}`, values[bad], dtype);
  return sink.tensor(shape);
}

/** The error for a value that the dtype cannot hold, with why. */
export function badValue(where: string, value: unknown, dtype: DType): TensorError {
  return new TensorError('VALUE_OUT_OF_RANGE', `${where}: ${show(value)} ${reason(value, dtype)}`);
}

const BEYOND_EXACT =
  'is beyond 2^53, where a number is not exact: give a bigint; in JSON write all digits, without a point or an exponent';

function reason(value: unknown, dtype: DType): string {
  if (dtype === 'string') return 'is not a string';
  if (dtype === 'bool') return 'is not a boolean';
  if (typeof value !== 'number' && typeof value !== 'bigint') return `is not a number for ${dtype}`;
  const range = INTEGER_RANGE[dtype];
  if (!range) return `is beyond the range of ${dtype}`;
  if (typeof value === 'number' && !Number.isInteger(value))
    return `is not a whole number for ${dtype}`;
  if (value >= range[0] && value <= range[1]) return BEYOND_EXACT;
  return `is beyond the range of ${dtype}, ${range[0]} to ${range[1]}`;
}

function show(value: unknown): string {
  if (value instanceof Uint8Array) return `<${value.byteLength} bytes>`;
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  }
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== 'object' || value === null) return String(value);
  const keys = Object.keys(value).slice(0, 5);
  return `an object with ${keys.length > 0 ? keys.join(', ') : 'nothing in it'}`;
}

/** A sink for `count` elements of the dtype. */
export function elementSink(dtype: DType, count: number): ElementSink {
  if (dtype === 'string') return stringSink(count);
  const out = newTypedArray(dtype, count);
  const bytes = new Uint8Array(out.buffer, out.byteOffset, out.byteLength);
  return { write: numericWriter(dtype, out), tensor: (shape) => ({ dtype, shape, bytes }) };
}

function stringSink(count: number): ElementSink {
  const values: (string | Uint8Array)[] = new Array(count);
  return {
    write: (run, at) => {
      for (let i = 0; i < run.length; i++) {
        const value = run[i];
        if (typeof value !== 'string' && !(value instanceof Uint8Array)) return i;
        values[at + i] = value;
      }
      return -1;
    },
    tensor: (shape) => stringTensor(shape, values),
  };
}

function numericWriter(dtype: NumericDType, out: TypedArrays[NumericDType]): ElementSink['write'] {
  if (dtype === 'float32' || dtype === 'float64') return floatWriter(out as Float32Array);
  if (dtype === 'float16' || dtype === 'bfloat16') return halfWriter(dtype, out as Uint16Array);
  if (dtype === 'bool') return boolWriter(out as Uint8Array);
  const [low, high] = INTEGER_RANGE[dtype] as readonly [bigint, bigint];
  return DTYPES[dtype].size === 8
    ? int64Writer(out as BigInt64Array, low, high)
    : integerWriter(out as Int32Array, Number(low), Number(high));
}

function floatWriter(out: Float32Array): ElementSink['write'] {
  return (run, at) => {
    if (run instanceof Float64Array) return writeFloats(out, run, at);
    for (let i = 0; i < run.length; i++) {
      const given = run[i];
      const value = typeof given === 'bigint' ? Number(given) : given;
      if (typeof value !== 'number') return i;
      out[at + i] = value;
      if (!Number.isFinite(out[at + i]) && Number.isFinite(value)) return i;
    }
    return -1;
  };
}

function writeFloats(out: Float32Array | Float64Array, run: Float64Array, at: number): number {
  out.set(run, at);
  if (out instanceof Float64Array) return -1;
  for (let i = 0; i < run.length; i++) {
    const size = Math.abs(run[i] as number);
    if (size >= FLOAT32_OVERFLOW && size !== Number.POSITIVE_INFINITY) return i;
  }
  return -1;
}

function halfWriter(format: 'float16' | 'bfloat16', out: Uint16Array): ElementSink['write'] {
  return (run, at) => {
    for (let i = 0; i < run.length; i++) {
      const given = run[i];
      const value = typeof given === 'bigint' ? Number(given) : given;
      if (typeof value !== 'number') return i;
      if (Number.isFinite(value) && !Number.isFinite(roundToHalf(format, value))) return i;
      out[at + i] = halfBits(format, value);
    }
    return -1;
  };
}

function integerWriter(out: Int32Array, low: number, high: number): ElementSink['write'] {
  return (run, at) => {
    for (let i = 0; i < run.length; i++) {
      const given = run[i];
      const value = typeof given === 'bigint' ? Number(given) : given;
      if (typeof value !== 'number' || !(value >= low && value <= high)) return i;
      if (!Number.isInteger(value)) return i;
      out[at + i] = value;
    }
    return -1;
  };
}

function int64Writer(out: BigInt64Array, low: bigint, high: bigint): ElementSink['write'] {
  return (run, at) => {
    for (let i = 0; i < run.length; i++) {
      const given = run[i];
      if (typeof given !== 'bigint' && !Number.isSafeInteger(given)) return i;
      const value = BigInt(given as number | bigint);
      if (value < low || value > high) return i;
      out[at + i] = value;
    }
    return -1;
  };
}

function boolWriter(out: Uint8Array): ElementSink['write'] {
  return (run, at) => {
    for (let i = 0; i < run.length; i++) {
      const value = run[i];
      if (typeof value !== 'boolean') return i;
      out[at + i] = value ? 1 : 0;
    }
    return -1;
  };
}
