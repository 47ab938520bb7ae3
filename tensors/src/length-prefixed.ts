/** Records behind their length as 4 bytes, big-endian: many images in one `application/octet-stream`. */
import { type Part, recordReaders } from './record-format.ts';
import { dataViewOf } from './text.ts';

const LENGTH_BYTES = 4;

const readers = recordReaders({ name: 'length-prefixed', partAt });

/** The records of a body, as views. @throws TensorError MALFORMED */
export const readLengthPrefixed = readers.read;

/** The records of a stream. @throws TensorError MALFORMED, TOO_LARGE */
export const streamLengthPrefixed = readers.stream;

/** One record in chunks, the record itself uncopied; a body is any number of them. */
export function encodeLengthPrefixed(record: Uint8Array): Uint8Array[] {
  const header = new Uint8Array(LENGTH_BYTES);
  dataViewOf(header).setUint32(0, record.byteLength);
  return [header, record];
}

function partAt(bytes: Uint8Array, offset: number): Part | number {
  const start = offset + LENGTH_BYTES;
  if (start > bytes.byteLength) return LENGTH_BYTES;
  const end = start + dataViewOf(bytes).getUint32(offset);
  if (end > bytes.byteLength) return end - offset;
  return { data: bytes.subarray(start, end), end, isLast: true };
}
