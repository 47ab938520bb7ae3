/** The values of one repeated field of numbers, however a message has them: packed, one by one, or both. */
import { readVarint, skipField, truncated, WIRE, type WireReader } from './wire-reader.ts';

/** How one value lies on the wire. */
export type ValueWire = typeof WIRE.varint | typeof WIRE.fixed32 | typeof WIRE.fixed64;

/** Puts values behind each other. Memory grows with their bytes; nothing is kept for each value. */
export interface RepeatedValues {
  /**
   * Reads a field's content.
   * @returns false if it holds no such values, and is not read
   * @throws TensorError MALFORMED if a packed run ends within a value
   */
  take(reader: WireReader, wireType: number): boolean;
  /** All values as one packed run: a view, if the message has only one. */
  packed(): Uint8Array;
}

const VALUE_BYTES: Readonly<Record<number, number>> = { [WIRE.fixed32]: 4, [WIRE.fixed64]: 8 };
const MIN_BYTES = 64;
/** Fewer bytes than these are copied faster one by one. */
const MIN_FOR_SET = 32;

/** Collects the values of a field. @param single the wire type of one value */
export function repeatedValues(single: ValueWire): RepeatedValues {
  let values: Uint8Array = new Uint8Array(0);
  let size = 0;
  let isOwn = false;

  function append(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (!isOwn || size + length > values.byteLength) {
      const grown = new Uint8Array(Math.max(MIN_BYTES, 2 * (size + length)));
      grown.set(values.subarray(0, size));
      values = grown;
      isOwn = true;
    }
    if (length >= MIN_FOR_SET) values.set(bytes.subarray(start, end), size);
    else for (let at = start; at < end; at++) values[size + at - start] = bytes[at] as number;
    size += length;
  }

  function takeRun(reader: WireReader): void {
    const length = readVarint(reader);
    const start = reader.offset;
    const end = start + length;
    if (end > reader.end) throw truncated(reader.end);
    reader.offset = end;
    if (length === 0) return;
    const isWhole =
      single === WIRE.varint
        ? (reader.bytes[end - 1] as number) < 0x80
        : length % (VALUE_BYTES[single] as number) === 0;
    if (!isWhole) throw truncated(end);
    if (size > 0) {
      append(reader.bytes, start, end);
      return;
    }
    values = reader.bytes.subarray(start, end);
    size = length;
  }

  return {
    take(reader, wireType) {
      if (wireType === WIRE.bytes) {
        takeRun(reader);
        return true;
      }
      if (wireType !== single) return false;
      const start = reader.offset;
      skipField(reader, wireType);
      append(reader.bytes, start, reader.offset);
      return true;
    },
    packed: () => values.subarray(0, size),
  };
}
