/** Reads the first directory of a TIFF (TIFF 6.0 section 2): what must be known before its pixels are decoded. */
import { ServingError } from '../errors.ts';

/** What the first directory says. */
export interface TiffDirectory {
  readonly width: number;
  readonly height: number;
  /** By tag, the first values of each: at most {@link MAX_VALUES}. None where the type is one that is not read. */
  readonly values: ReadonlyMap<number, readonly number[]>;
  /** The offset in the file of the entry of each tag. */
  readonly entries: ReadonlyMap<number, number>;
  readonly littleEndian: boolean;
  /** Where the offset of the next directory stands. */
  readonly end: number;
}

const TAGS = { width: 256, height: 257 };
const BYTE = 1;
const SHORT = 3;
const LONG = 4;
const RATIONAL = 5;
/** Bytes of a value of each type, 1 (BYTE) to 13 (IFD). */
const TYPE_BYTES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];
const ENTRY_BYTES = 12;
/** As many as the longest list that is looked at has: ReferenceBlackWhite. */
const MAX_VALUES = 6;

/**
 * The first directory of a classic TIFF.
 * @returns undefined if it lies beyond the end of the file or lacks a side: the decoder says what is wrong
 * @throws ServingError BAD_IMAGE if its values take more bytes than the file has: they are made to be read again
 *   and again
 */
export function readTiffDirectory(bytes: Uint8Array): TiffDirectory | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.byteLength < 8) return undefined;
  const littleEndian = view.getUint16(0) === 0x4949;
  const start = view.getUint32(4, littleEndian);
  if (start + 2 > view.byteLength) return undefined;
  const end = start + 2 + view.getUint16(start, littleEndian) * ENTRY_BYTES;
  if (end > view.byteLength) return undefined;
  const values = new Map<number, readonly number[]>();
  const entries = new Map<number, number>();
  let claimed = 0;
  for (let at = start + 2; at < end; at += ENTRY_BYTES) {
    const type = view.getUint16(at + 2, littleEndian);
    claimed += view.getUint32(at + 4, littleEndian) * (TYPE_BYTES[type] ?? 0);
    const tag = view.getUint16(at, littleEndian);
    // Decoders take the first of two entries of one tag.
    if (entries.has(tag)) continue;
    entries.set(tag, at);
    values.set(tag, firstValues(view, at, type, littleEndian));
  }
  if (claimed > view.byteLength) throw tooManyValues(claimed, view.byteLength);
  const [width, height] = [values.get(TAGS.width), values.get(TAGS.height)];
  if (!width || !height) return undefined;
  return { width: width[0] ?? 0, height: height[0] ?? 0, values, entries, littleEndian, end };
}

/** None of other types than BYTE, SHORT, LONG and RATIONAL, and of values that lie beyond the end. */
function firstValues(view: DataView, entry: number, type: number, little: boolean): number[] {
  if (type !== BYTE && type !== SHORT && type !== LONG && type !== RATIONAL) return [];
  const size = TYPE_BYTES[type] as number;
  const count = view.getUint32(entry + 4, little);
  const at = count * size <= 4 ? entry + 8 : view.getUint32(entry + 8, little);
  const read = Math.min(count, MAX_VALUES);
  if (at + read * size > view.byteLength) return [];
  return Array.from({ length: read }, (_, index) =>
    oneValue(view, at + index * size, type, little),
  );
}

function oneValue(view: DataView, at: number, type: number, little: boolean): number {
  if (type === BYTE) return view.getUint8(at);
  if (type === SHORT) return view.getUint16(at, little);
  const whole = view.getUint32(at, little);
  return type === LONG ? whole : whole / view.getUint32(at + 4, little);
}

/** A copy of the file in which the tag is a SHORT of this value. */
export function withTiffTag(
  bytes: Uint8Array,
  { entries, littleEndian }: TiffDirectory,
  tag: number,
  value: number,
): Uint8Array {
  const entry = entries.get(tag);
  if (entry === undefined) return bytes;
  const changed = Uint8Array.from(bytes);
  const view = new DataView(changed.buffer);
  view.setUint16(entry + 2, SHORT, littleEndian);
  view.setUint32(entry + 4, 1, littleEndian);
  view.setUint16(entry + 8, value, littleEndian);
  return changed;
}

/**
 * The file with its first directory alone, a copy if there are more. The decoder reads all of them to count its pages: a
 * file of 25 MB may have 200,000, which takes many seconds that no limit ends.
 */
export function withFirstDirectory(bytes: Uint8Array, { end }: TiffDirectory): Uint8Array {
  const next = bytes.subarray(end, end + 4);
  if (next.every((byte) => byte === 0)) return bytes;
  const changed = Uint8Array.from(bytes);
  changed.fill(0, end, end + 4);
  return changed;
}

function tooManyValues(claimed: number, size: number): ServingError {
  return new ServingError(
    'BAD_IMAGE',
    `the tags of the TIFF claim ${claimed} bytes. The file has ${size}. It is damaged: save it anew.`,
  );
}
