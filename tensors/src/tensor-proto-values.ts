/** The elements of a TensorProto as its repeated fields hold them. */
import { DTYPES, type NumericDType } from './dtype.ts';
import { TensorError } from './errors.ts';
import {
  decodeBools,
  decodeVarints32,
  decodeVarints64,
  type Integers32,
} from './packed-varints.ts';
import { elementCount, type StringTensor } from './tensor.ts';
import { readVarint, truncated, wireReader } from './wire-reader.ts';

/**
 * A few bytes can claim a huge shape (the last value repeats); larger than this is refused rather than
 * allocated.
 */
const MAX_EXPANDED_BYTES = 1024 ** 3;

/**
 * The elements' bytes from the contents of a repeated field: packed values of each occurrence, or one
 * unpacked value each. A field of fixed-size values that fills the shape is given as it is.
 * @throws TensorError MALFORMED, SHAPE_MISMATCH
 */
export function decodeValues(dtype: NumericDType, count: number, values: Uint8Array[]): Uint8Array {
  const { size } = DTYPES[dtype];
  const only = values[0];
  const isFixed = dtype === 'float32' || dtype === 'float64';
  if (isFixed && values.length === 1 && only?.byteLength === count * size) return only;
  const valueBytes = values.reduce((sum, value) => sum + value.byteLength, 0);
  if (count > valueBytes && count * size > MAX_EXPANDED_BYTES) {
    throw new TensorError(
      'MALFORMED',
      `TensorProto of ${count} ${dtype} elements holds fewer values`,
    );
  }
  if (isFixed) return joinFixed(count, size, values);
  if (size === 8) return decode64(count, values);
  if (dtype === 'bool') return decode32(new Uint8Array(count), values, decodeBools);
  if (size === 4) return decode32(new Int32Array(count), values, decodeVarints32);
  if (size === 2) return decode32(new Uint16Array(count), values, decodeVarints32);
  return decode32(new Uint8Array(count), values, decodeVarints32);
}

function joinFixed(count: number, size: number, values: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(count * size);
  let offset = 0;
  for (const value of values) {
    if (value.byteLength % size !== 0) {
      throw new TensorError(
        'MALFORMED',
        `packed values of ${value.byteLength} bytes, not times ${size}`,
      );
    }
    if (offset + value.byteLength > out.byteLength) {
      throw new TensorError('SHAPE_MISMATCH', `more values than the shape's ${count} elements`);
    }
    out.set(value, offset);
    offset += value.byteLength;
  }
  if (offset > 0 && offset < out.byteLength) {
    const last = out.slice(offset - size, offset);
    for (let at = offset; at < out.byteLength; at += size) out.set(last, at);
  }
  return out;
}

/** Into an array of the elements' own size: nothing else is made. */
function decode32<Out extends Integers32>(
  out: Out,
  values: Uint8Array[],
  decode: (value: Uint8Array, out: Out, at: number) => number,
): Uint8Array {
  let at = 0;
  for (const value of values) at = decode(value, out, at);
  if (at > 0) out.fill(out[at - 1] as number, at);
  return new Uint8Array(out.buffer);
}

function decode64(count: number, values: Uint8Array[]): Uint8Array {
  const out = new Int32Array(count * 2);
  let at = 0;
  for (const value of values) at = decodeVarints64(value, out, at);
  const elements = new BigInt64Array(out.buffer);
  if (at > 0) elements.fill(elements[at - 1] as bigint, at);
  return new Uint8Array(out.buffer);
}

/**
 * A string tensor from `tensor_content`, where there is one, or `string_val`.
 * @throws TensorError MALFORMED, SHAPE_MISMATCH
 */
export function decodeStrings(
  shape: number[],
  content: Uint8Array | undefined,
  values: Uint8Array[],
): StringTensor {
  const count = elementCount(shape);
  if (content) return { dtype: 'string', shape, values: splitStringContent(content, count) };
  if (values.length > count) {
    throw new TensorError(
      'SHAPE_MISMATCH',
      `string_val has ${values.length} values for ${count} elements`,
    );
  }
  if (values.length === count) return { dtype: 'string', shape, values };
  if (count > MAX_EXPANDED_BYTES / 64) {
    throw new TensorError('MALFORMED', `TensorProto of ${count} strings holds ${values.length}`);
  }
  const last = values.at(-1) ?? new Uint8Array(0);
  return {
    dtype: 'string',
    shape,
    values: [...values, ...Array(count - values.length).fill(last)],
  };
}

/** Strings as TensorFlow's `EncodeStringList` packs them: all lengths as varints, then all bytes. */
function splitStringContent(content: Uint8Array, count: number): Uint8Array[] {
  if (count > content.byteLength) throw truncated(content.byteLength);
  const reader = wireReader(content);
  const lengths = Array.from({ length: count }, () => readVarint(reader));
  return lengths.map((length) => {
    const start = reader.offset;
    reader.offset += length;
    if (reader.offset > reader.end) throw truncated(reader.end);
    return content.subarray(start, reader.offset);
  });
}
