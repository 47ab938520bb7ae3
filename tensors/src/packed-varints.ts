/** Packed and unpacked varints of a repeated field, in one pass from and into typed arrays. */
import { truncated } from './wire-reader.ts';

/** What `out` has no room for is passed over, but it must be whole. @throws TensorError MALFORMED */
function checkEnd(bytes: Uint8Array): void {
  if ((bytes.at(-1) ?? 0) >= 0x80) throw truncated(bytes.byteLength);
}

/** Where the low bits of varints go. */
export type Integers32 = Int32Array | Uint16Array | Uint8Array;

/** A varint ends with its first byte below 128. */
export function countVarints(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.byteLength; at++) if ((bytes[at] as number) < 0x80) count += 1;
  return count;
}

/**
 * Decodes varints into `out` from index `at` on, keeping as many of their low 32 bits as an element has.
 * @returns the index after the last one written
 * @throws TensorError MALFORMED; values that `out` has no room for are passed over
 */
export function decodeVarints32(bytes: Uint8Array, out: Integers32, at: number): number {
  const end = bytes.byteLength;
  let offset = 0;
  let index = at;
  while (offset < end && index < out.length) {
    let byte = bytes[offset++] as number;
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      if (offset >= end || shift > 63) throw truncated(offset);
      byte = bytes[offset++] as number;
      if (shift < 32) value |= (byte & 0x7f) << shift;
    }
    out[index++] = value;
  }
  checkEnd(bytes);
  return index;
}

/**
 * Decodes varints of 64 bits into `out`, two little-endian words each, from element `at` on.
 * @returns the element after the last one written
 * @throws TensorError MALFORMED; values that `out` has no room for are passed over
 */
export function decodeVarints64(bytes: Uint8Array, out: Int32Array, at: number): number {
  const end = bytes.byteLength;
  const count = out.length / 2;
  let offset = 0;
  let index = at;
  while (offset < end && index < count) {
    let low = 0;
    let high = 0;
    let byte = 0x80;
    for (let shift = 0; byte >= 0x80; shift += 7) {
      if (offset >= end || shift > 63) throw truncated(offset);
      byte = bytes[offset++] as number;
      const bits = byte & 0x7f;
      if (shift < 32) low |= bits << shift;
      if (shift === 28) high |= bits >>> 4;
      else if (shift > 28) high |= bits << (shift - 32);
    }
    out[2 * index] = low;
    out[2 * index + 1] = high;
    index++;
  }
  checkEnd(bytes);
  return index;
}

/**
 * Decodes varints into `out` from index `at` on as truth values: 1 where any bit is set.
 * @returns the index after the last one written
 * @throws TensorError MALFORMED; values that `out` has no room for are passed over
 */
export function decodeBools(bytes: Uint8Array, out: Uint8Array, at: number): number {
  const end = bytes.byteLength;
  let offset = 0;
  let index = at;
  while (offset < end && index < out.length) {
    let byte = bytes[offset++] as number;
    let bits = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      if (offset >= end || shift > 63) throw truncated(offset);
      byte = bytes[offset++] as number;
      bits |= byte & 0x7f;
    }
    out[index++] = bits === 0 ? 0 : 1;
  }
  checkEnd(bytes);
  return index;
}

/** Integers of any size as protobuf's packed varints, in memory of just their size; negative ones take ten bytes. */
export function encodeVarints(
  integers:
    | Int8Array
    | Int16Array
    | Int32Array
    | Uint8Array
    | Uint16Array
    | Uint32Array
    | BigInt64Array
    | BigUint64Array,
): Uint8Array {
  return integers instanceof BigInt64Array || integers instanceof BigUint64Array
    ? encodeVarints64(new Uint32Array(integers.buffer, integers.byteOffset, integers.length * 2))
    : encodeVarints32(integers);
}

const NEGATIVE_BYTES = 10;

function encodeVarints32(
  integers: Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array,
): Uint8Array {
  let size = 0;
  for (let i = 0; i < integers.length; i++) {
    const value = integers[i] as number;
    size += value < 0 ? NEGATIVE_BYTES : varintBytes(value);
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (let i = 0; i < integers.length; i++) {
    const value = integers[i] as number;
    at = writeVarint(out, at, value >>> 0, value < 0 ? 0xffff_ffff : 0);
  }
  return out;
}

/** @param words two of each integer, the low one first */
function encodeVarints64(words: Uint32Array): Uint8Array {
  let size = 0;
  for (let i = 0; i < words.length; i += 2) {
    const high = words[i + 1] as number;
    size += high === 0 ? varintBytes(words[i] as number) : bytesWithHigh(high);
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (let i = 0; i < words.length; i += 2) {
    at = writeVarint(out, at, words[i] as number, words[i + 1] as number);
  }
  return out;
}

/** Bytes that a number of 32 bits takes. */
export function varintBytes(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}

/** Of a number of 64 bits whose high word is this, not 0. */
function bytesWithHigh(high: number): number {
  return Math.ceil((64 - Math.clz32(high)) / 7);
}

/** Writes an integer of 64 bits, in two words. @returns the offset after it */
export function writeVarint(
  out: Uint8Array,
  start: number,
  lowWord: number,
  highWord: number,
): number {
  let at = start;
  let low = lowWord;
  let high = highWord;
  while (high !== 0 || low >= 0x80) {
    out[at++] = (low & 0x7f) | 0x80;
    low = ((low >>> 7) | (high << 25)) >>> 0;
    high >>>= 7;
  }
  out[at++] = low;
  return at;
}
