/**
 * Reading protobuf's wire format (https://protobuf.dev/programming-guides/encoding/) as views on the
 * bytes, for the messages that carry megabytes. Everything else is read by the generated code.
 */
import { TensorError } from './errors.ts';
import type { Steps } from './steps.ts';
import { utf8Decode } from './text.ts';

/** Wire types that proto3 messages use. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

const LAST_FIELD = 2 ** 29 - 1;
const STEP_FIELDS = 8_192;

/** A position in a message; functions below move `offset` on. */
export interface WireReader {
  readonly bytes: Uint8Array;
  offset: number;
  readonly end: number;
}

/** A reader at the start of `bytes`. */
export function wireReader(bytes: Uint8Array): WireReader {
  // Node's Buffer makes its views several times slower than a plain Uint8Array does.
  const { buffer, byteOffset, byteLength } = bytes;
  const plain =
    bytes.constructor === Uint8Array ? bytes : new Uint8Array(buffer, byteOffset, byteLength);
  return { bytes: plain, offset: 0, end: byteLength };
}

/** The error for a message that ends in the middle of a field. */
export function truncated(offset: number): TensorError {
  return new TensorError('MALFORMED', `protobuf message is truncated at byte ${offset}`);
}

/**
 * A varint as a number; bits above 2^53 are lost, so only for tags, lengths and enums.
 * @throws TensorError MALFORMED
 */
export function readVarint(reader: WireReader): number {
  const { bytes, end } = reader;
  let value = 0;
  let scale = 1;
  for (let count = 0; count < 10; count++) {
    if (reader.offset >= end) throw truncated(reader.offset);
    const byte = bytes[reader.offset++] as number;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
    scale *= 128;
  }
  throw new TensorError('MALFORMED', `varint of more than 10 bytes at byte ${reader.offset}`);
}

/** A varint with all of its 64 bits, as an int64. @throws TensorError MALFORMED */
export function readInt64(reader: WireReader): bigint {
  const { bytes, end } = reader;
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    if (reader.offset >= end) throw truncated(reader.offset);
    const byte = bytes[reader.offset++] as number;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return BigInt.asIntN(64, value);
  }
  throw new TensorError('MALFORMED', `varint of more than 10 bytes at byte ${reader.offset}`);
}

/** A length-delimited field's content, as a view. @throws TensorError MALFORMED */
export function readBytes(reader: WireReader): Uint8Array {
  const length = readVarint(reader);
  const start = reader.offset;
  if (length > reader.end - start) throw truncated(reader.end);
  reader.offset = start + length;
  return reader.bytes.subarray(start, reader.offset);
}

/** A length-delimited field's content as text. @throws TensorError MALFORMED */
export function readString(reader: WireReader): string {
  return utf8Decode(readBytes(reader));
}

/** Passes over a field of this wire type. @throws TensorError MALFORMED */
export function skipField(reader: WireReader, wireType: number): void {
  if (wireType === WIRE.varint) {
    readVarint(reader);
  } else if (wireType === WIRE.bytes) {
    readBytes(reader);
  } else if (wireType === WIRE.fixed64 || wireType === WIRE.fixed32) {
    reader.offset += wireType === WIRE.fixed64 ? 8 : 4;
    if (reader.offset > reader.end) throw truncated(reader.end);
  } else {
    throw new TensorError('MALFORMED', `protobuf wire type ${wireType} at byte ${reader.offset}`);
  }
}

/** Reads a field's content, or returns false: the field is passed over then. */
type OnField = (field: number, wireType: number, reader: WireReader) => boolean;

/**
 * Calls `onField` for each field with the reader at its content; `onField` returns false for a field that
 * it has not read, which is passed over.
 * @throws TensorError MALFORMED
 */
export function forEachField(bytes: Uint8Array, onField: OnField): void {
  const reader = wireReader(bytes);
  while (reader.offset < reader.end) readField(reader, onField);
}

/** {@link forEachField}, with a pause after every few thousand fields. */
export function* fieldSteps(bytes: Uint8Array, onField: OnField): Steps<void> {
  const reader = wireReader(bytes);
  for (let count = 1; reader.offset < reader.end; count++) {
    readField(reader, onField);
    if (count % STEP_FIELDS === 0) yield;
  }
}

function readField(reader: WireReader, onField: OnField): void {
  const tag = readVarint(reader);
  const wireType = tag & 7;
  const field = Math.floor(tag / 8);
  if (field === 0 || field > LAST_FIELD) {
    throw new TensorError('MALFORMED', `protobuf field ${field} at byte ${reader.offset}`);
  }
  if (!onField(field, wireType, reader)) skipField(reader, wireType);
}
