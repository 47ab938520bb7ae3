/**
 * MXNet's RecordIO framing (dmlc-core, recordio.h), little-endian: magic, a word of 3 bits of flag and 29
 * of length, the data, zeros up to a multiple of 4 bytes. Data that holds the magic at a multiple of 4 is
 * written in parts without it; flags 1, 2 and 3 mark the first, middle and last part.
 */
import { TensorError } from './errors.ts';
import { BadFrame, type Part, recordReaders } from './record-format.ts';

const MAGIC = 0xced7230a;
const HEADER_BYTES = 8;
const MAX_LENGTH = 2 ** 29 - 1;
const FLAG = { whole: 0, first: 1, middle: 2, last: 3 } as const;
const magicBytes = Uint8Array.of(0x0a, 0x23, 0xd7, 0xce);
const zeros = new Uint8Array(3);

const readers = recordReaders({ name: 'RecordIO', joint: magicBytes, partAt });

/** The records of a file; those of one part are views. @throws TensorError MALFORMED, TOO_LARGE */
export const readRecordIo = readers.read;

/** The records of a stream. @throws TensorError MALFORMED, TOO_LARGE */
export const streamRecordIo = readers.stream;

/**
 * One record in chunks, the record itself uncopied; a file is any number of them.
 * @throws TensorError TOO_LARGE for 512 MiB and more, which the format cannot hold
 */
export function encodeRecordIo(record: Uint8Array): Uint8Array[] {
  if (record.byteLength > MAX_LENGTH) {
    throw new TensorError(
      'TOO_LARGE',
      `RecordIO cannot hold ${record.byteLength} bytes in a record.`,
    );
  }
  const magics = alignedMagics(record);
  if (magics.length === 0) return encodePart(record, FLAG.whole);
  const starts = [0, ...magics.map((at) => at + 4)];
  return starts.flatMap((start, i) => {
    const end = i === magics.length ? record.byteLength : (magics[i] as number);
    const flag = i === 0 ? FLAG.first : i === magics.length ? FLAG.last : FLAG.middle;
    return encodePart(record.subarray(start, end), flag);
  });
}

// Files of millions of tiny records have as many headers: a view or an array of zeros for each costs more than the rest.
function encodePart(data: Uint8Array, flag: number): Uint8Array[] {
  const word = flag * 2 ** 29 + data.byteLength;
  const header = new Uint8Array(HEADER_BYTES);
  header.set(magicBytes);
  for (let i = 0; i < 4; i++) header[4 + i] = word >>> (8 * i);
  const padding = paddedLength(data.byteLength) - data.byteLength;
  return padding > 0 ? [header, data, zeros.subarray(0, padding)] : [header, data];
}

/** Where the magic lies in the data at multiples of 4. */
function alignedMagics(data: Uint8Array): number[] {
  const found: number[] = [];
  for (let at = 0; at + 4 <= data.byteLength; at += 4) {
    if (wordAt(data, at) === MAGIC) found.push(at);
  }
  return found;
}

function paddedLength(length: number): number {
  return Math.ceil(length / 4) * 4;
}

function partAt(bytes: Uint8Array, offset: number, isContinued: boolean): Part | number {
  if (offset + HEADER_BYTES > bytes.byteLength) return HEADER_BYTES;
  const { flag, length } = readHeader(bytes, offset, isContinued);
  const start = offset + HEADER_BYTES;
  const end = start + paddedLength(length);
  if (end > bytes.byteLength) return end - offset;
  const isLast = flag === FLAG.whole || flag === FLAG.last;
  return { data: bytes.subarray(start, start + length), end, isLast };
}

function readHeader(
  bytes: Uint8Array,
  at: number,
  isContinued: boolean,
): { flag: number; length: number } {
  const magic = wordAt(bytes, at);
  if (magic !== MAGIC) {
    throw new BadFrame(`it starts with 0x${magic.toString(16)}, not the magic 0xced7230a`);
  }
  const word = wordAt(bytes, at + 4);
  const flag = word >>> 29;
  const isContinuation = flag === FLAG.middle || flag === FLAG.last;
  if (flag > FLAG.last || isContinuation !== isContinued) {
    throw new BadFrame(`flag ${flag} ${isContinued ? 'within' : 'at the start of'} a record`);
  }
  return { flag, length: word & MAX_LENGTH };
}

/** The word of 4 bytes that are there. */
function wordAt(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
  const high = (bytes[at + 2] as number) | ((bytes[at + 3] as number) << 8);
  return (low | (high << 16)) >>> 0;
}
