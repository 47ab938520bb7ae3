/**
 * The directory of a zip archive, read as NumPy reads it: zip64 sizes, any number of entries, bytes after the
 * archive. With bytes before it, it is refused. As in Python's zipfile, the directory's size and CRCs count, not the
 * number of entries in the end record, nor the CRCs in the files' own headers. Format: APPNOTE.TXT 6.3.
 */
import { TensorError } from './errors.ts';
import { dataViewOf, utf8Decode } from './text.ts';

const CENTRAL_HEADER = { signature: 0x02014b50, bytes: 46 } as const;
const END_RECORD = { signature: 0x06054b50, bytes: 22, maxAfter: 0x10000 } as const;
const END_RECORD_64 = { signature: 0x06064b50, bytes: 56 } as const;
const LOCATOR_64 = { signature: 0x07064b50, bytes: 20 } as const;
const EXTRA_64 = 1;
/** 6.3, in tenths. */
const MAX_VERSION = 63;
/** A 32-bit field whose value is in the zip64 extra field. */
const ELSEWHERE = 0xffffffff;

/** What the directory says of one file. */
export interface DirectoryEntry {
  readonly name: string;
  readonly encrypted: boolean;
  readonly method: number;
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
  /** Of the file's own header. */
  readonly offset: number;
}

/** All entries, in the directory's order. @throws TensorError MALFORMED */
export function readDirectory(bytes: Uint8Array, maxNameBytes: number): DirectoryEntry[] {
  const view = dataViewOf(bytes);
  const { start, end } = directoryBounds(view);
  const entries: DirectoryEntry[] = [];
  let at = start;
  while (at < end) {
    const { entry, next } = readEntry(bytes, at, end, maxNameBytes);
    entries.push(entry);
    at = next;
  }
  return entries;
}

function directoryBounds(view: DataView): { readonly start: number; readonly end: number } {
  const endRecord = findEndRecord(view);
  const end64 = endRecord64At(view, endRecord);
  const end = end64 ?? endRecord;
  const [size, offset] =
    end64 === undefined
      ? [view.getUint32(endRecord + 12, true), view.getUint32(endRecord + 16, true)]
      : [uint64(view, end64 + 40), uint64(view, end64 + 48)];
  if (offset + size !== end) {
    throw malformed(
      `by its end record its directory ends at byte ${offset + size}, not ${end} (cut, or put after other bytes?).`,
    );
  }
  return { start: offset, end };
}

function findEndRecord(view: DataView): number {
  const last = view.byteLength - END_RECORD.bytes;
  for (let at = last; at >= Math.max(0, last - END_RECORD.maxAfter); at--) {
    if (view.getUint32(at, true) === END_RECORD.signature) return at;
  }
  throw malformed('it has no end-of-directory record (truncated?).');
}

/** Where the zip64 end record begins, if a locator announces one. */
function endRecord64At(view: DataView, endRecord: number): number | undefined {
  const locator = endRecord - LOCATOR_64.bytes;
  if (locator < 0 || view.getUint32(locator, true) !== LOCATOR_64.signature) return undefined;
  const at = locator - END_RECORD_64.bytes;
  if (at < 0 || view.getUint32(at, true) !== END_RECORD_64.signature) {
    throw malformed('its zip64 end record is not where its locator says.');
  }
  return at;
}

function readEntry(
  bytes: Uint8Array,
  at: number,
  end: number,
  maxNameBytes: number,
): { readonly entry: DirectoryEntry; readonly next: number } {
  const view = dataViewOf(bytes);
  if (at + CENTRAL_HEADER.bytes > end || view.getUint32(at, true) !== CENTRAL_HEADER.signature) {
    throw malformed(`no directory entry at byte ${at}`);
  }
  const needs = view.getUint8(at + 6);
  if (needs > MAX_VERSION) throw malformed(`it needs version ${needs / 10} of the format.`);
  const nameLength = view.getUint16(at + 28, true);
  if (nameLength > maxNameBytes) throw malformed(`a name of ${nameLength} bytes.`);
  const extraAt = at + CENTRAL_HEADER.bytes + nameLength;
  const extraEnd = extraAt + view.getUint16(at + 30, true);
  const next = extraEnd + view.getUint16(at + 32, true);
  if (next > end) throw malformed(`the directory entry at byte ${at} runs past the directory.`);
  const name = utf8Decode(bytes.subarray(extraAt - nameLength, extraAt));
  const entry = {
    name,
    encrypted: (view.getUint16(at + 8, true) & 1) !== 0,
    method: view.getUint16(at + 10, true),
    crc: view.getUint32(at + 16, true),
    ...readSizes(view, at, extra64(view, extraAt, extraEnd), name),
  };
  return { entry, next };
}

/** The two sizes and the offset, each from the zip64 extra field where it is not in the entry itself. */
function readSizes(
  view: DataView,
  at: number,
  extra: DataView | undefined,
  name: string,
): Pick<DirectoryEntry, 'size' | 'compressedSize' | 'offset'> {
  let used = 0;
  const [size, compressedSize, offset] = [24, 20, 42].map((field) => {
    const value = view.getUint32(at + field, true);
    if (value !== ELSEWHERE || !extra) return value;
    if (used + 8 > extra.byteLength) throw malformed(`${name} has a short zip64 extra field.`);
    used += 8;
    return uint64(extra, used - 8);
  }) as [number, number, number];
  return { size, compressedSize, offset };
}

/** The content of the zip64 extra field. */
function extra64(view: DataView, start: number, end: number): DataView | undefined {
  for (let at = start; at + 4 <= end; ) {
    const length = view.getUint16(at + 2, true);
    if (at + 4 + length > end) throw malformed(`an extra field at byte ${at} runs past its entry.`);
    if (view.getUint16(at, true) === EXTRA_64) {
      return new DataView(view.buffer, view.byteOffset + at + 4, length);
    }
    at += 4 + length;
  }
  return undefined;
}

/** Rounded beyond 2^53, where no archive's bytes lie. */
function uint64(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}

/** The error of an archive that cannot be read. */
export function malformed(what: string): TensorError {
  return new TensorError('MALFORMED', `zip archive: ${what}`);
}
