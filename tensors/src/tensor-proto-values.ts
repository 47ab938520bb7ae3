/** The elements of a TensorProto as its repeated fields hold them. */
import { DTYPES, type NumericDType } from './dtype.ts';
import { TensorError } from './errors.ts';
import {
  decodeBools,
  decodeVarints32,
  decodeVarints64,
  type Integers32,
} from './packed-varints.ts';
import type { Steps } from './steps.ts';
import { elementCount, type StringTensor } from './tensor.ts';
import { readVarint, truncated, wireReader } from './wire-reader.ts';

/**
 * A few bytes can claim a huge shape (the last value repeats); larger than this is refused rather than
 * allocated.
 */
const MAX_EXPANDED_BYTES = 1024 ** 3;

const STEP_STRINGS = 8_192;

/**
 * The elements' bytes from the packed values of a repeated field. Values of fixed size that fill the shape are given
 * as they are; those beyond the shape are passed over, as TensorFlow's Tensor::FromProto does.
 * @throws TensorError MALFORMED
 */
export function* decodeValues(
  dtype: NumericDType,
  count: number,
  packed: Uint8Array,
): Steps<Uint8Array> {
  const { size } = DTYPES[dtype];
  const isFixed = dtype === 'float32' || dtype === 'float64';
  if (isFixed && packed.byteLength >= count * size) return packed.subarray(0, count * size);
  if (count > packed.byteLength && count * size > MAX_EXPANDED_BYTES) {
    throw new TensorError(
      'MALFORMED',
      `TensorProto of ${count} ${dtype} elements holds fewer values.`,
    );
  }
  if (isFixed) return extended(count, size, packed);
  if (size === 8) return yield* decode64(count, packed);
  if (dtype === 'bool') return yield* decode32(new Uint8Array(count), packed, decodeBools);
  if (size === 4) return yield* decode32(new Int32Array(count), packed, decodeVarints32);
  if (size === 2) return yield* decode32(new Uint16Array(count), packed, decodeVarints32);
  return yield* decode32(new Uint8Array(count), packed, decodeVarints32);
}

/** Values of fixed size, the last one repeated up to the shape's elements. */
function extended(count: number, size: number, packed: Uint8Array): Uint8Array {
  const out = new Uint8Array(count * size);
  out.set(packed);
  const end = packed.byteLength;
  if (end === 0) return out;
  const all = size === 4 ? new Uint32Array(out.buffer) : new BigUint64Array(out.buffer);
  const filled = Math.floor(end / size);
  all.fill((all[filled - 1] ?? 0) as never, filled);
  return out;
}

/** Into an array of the elements' own size: nothing else is made. */
function* decode32<Out extends Integers32>(
  out: Out,
  packed: Uint8Array,
  decode: Decode<Out>,
): Steps<Uint8Array> {
  const at = yield* inSlices(packed, out, decode);
  if (at > 0) out.fill(out[at - 1] as number, at);
  return new Uint8Array(out.buffer);
}

/** @returns the index after the last element written */
type Decode<Out> = (packed: Uint8Array, out: Out, at: number) => number;

/** Decoded in less than a millisecond. */
const STEP_BYTES = 2 ** 16;

/** Decodes a part of the varints at a time: a model's answer may hold hundreds of millions. */
function* inSlices<Out>(packed: Uint8Array, out: Out, decode: Decode<Out>): Steps<number> {
  let at = 0;
  for (let start = 0; start < packed.byteLength; ) {
    let end = Math.min(start + STEP_BYTES, packed.byteLength);
    // To the end of a varint: its last byte is below 128.
    while (end < packed.byteLength && (packed[end - 1] as number) >= 0x80) end += 1;
    at = decode(packed.subarray(start, end), out, at);
    start = end;
    if (start < packed.byteLength) yield;
  }
  return at;
}

function* decode64(count: number, packed: Uint8Array): Steps<Uint8Array> {
  const out = new Int32Array(count * 2);
  const at = yield* inSlices(packed, out, decodeVarints64);
  const elements = new BigInt64Array(out.buffer);
  if (at > 0) elements.fill(elements[at - 1] as bigint, at);
  return new Uint8Array(out.buffer);
}

/**
 * A string tensor from `tensor_content`, where there is one, or `string_val`.
 * @throws TensorError MALFORMED, TOO_LARGE for more than `maxStrings`
 */
export function* decodeStrings(
  shape: number[],
  content: Uint8Array | undefined,
  values: Uint8Array[],
  maxStrings = Number.POSITIVE_INFINITY,
): Steps<StringTensor> {
  const count = elementCount(shape);
  if (count > maxStrings) throw tooManyStrings(maxStrings);
  if (content) return { dtype: 'string', shape, values: yield* splitStringContent(content, count) };
  if (values.length >= count) return { dtype: 'string', shape, values: values.slice(0, count) };
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

/** The error for strings beyond a limit: each is an object, many times the size of an empty one. */
export function tooManyStrings(limit: number): TensorError {
  return new TensorError('TOO_LARGE', `more than ${limit} strings.`);
}

/** Strings as TensorFlow's `EncodeStringList` packs them: all lengths as varints, then all bytes. */
function* splitStringContent(content: Uint8Array, count: number): Steps<Uint8Array[]> {
  if (count > content.byteLength) throw truncated(content.byteLength);
  const reader = wireReader(content);
  const lengths: number[] = [];
  while (lengths.length < count) {
    lengths.push(readVarint(reader));
    if (lengths.length % STEP_STRINGS === 0) yield;
  }
  const values: Uint8Array[] = [];
  for (const length of lengths) {
    const start = reader.offset;
    reader.offset += length;
    if (reader.offset > reader.end) throw truncated(reader.end);
    values.push(reader.bytes.subarray(start, reader.offset));
    if (values.length % STEP_STRINGS === 0) yield;
  }
  return values;
}
