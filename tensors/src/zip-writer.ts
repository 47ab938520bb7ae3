/**
 * Zip archives of uncompressed entries as lists of chunks, so that megabytes of tensor bytes go out
 * uncopied; zip libraries copy every entry into their own buffer. Format: APPNOTE.TXT 6.3.
 */
import { crc32 } from './crc32.ts';
import { TensorError } from './errors.ts';
import { dataViewOf, utf8Encode } from './text.ts';

/** One file of the archive. */
export interface ZipEntry {
  readonly name: string;
  /** Its content, in order. */
  readonly chunks: readonly Uint8Array[];
}

const LOCAL_HEADER_BYTES = 30;
const CENTRAL_HEADER_BYTES = 46;
const END_RECORD_BYTES = 22;
/** General purpose flag 11: names are UTF-8. */
const UTF8_NAMES = 0x800;
const VERSION = 20;
/** 1980-01-01, the earliest, so that the same tensors make the same archive. */
const DOS_DATE = 0x21;
/** Content starts at multiples of this, so that readers can see arrays in place. */
const ALIGNMENT = 64;
/** The extra field's id that zipalign pads with. */
const PADDING_ID = 0xd935;
const MAX_BYTES = 0xffffffff;
/** Summed up in less than a millisecond, by Node's own CRC too. */
const CRC_TURN_BYTES = 2 ** 21;

interface Placed {
  readonly name: Uint8Array;
  readonly crc: number;
  readonly size: number;
  readonly offset: number;
}

/** The archive's chunks; contents are the entries' own. @throws TensorError TOO_LARGE beyond 4 GiB */
export function storedZip(entries: readonly ZipEntry[]): Uint8Array[] {
  return assemble(
    entries,
    entries.map(({ chunks }) => chunks.reduce((crc, chunk) => crc32(chunk, crc), 0)),
  );
}

/** {@link storedZip} with a wait for `nextTurn` after every {@link CRC_TURN_BYTES} that were summed up. */
export async function storedZipInTurns(
  entries: readonly ZipEntry[],
  nextTurn: () => Promise<unknown>,
): Promise<Uint8Array[]> {
  const crcs: number[] = [];
  for (const { chunks } of entries) {
    let crc = 0;
    for (const chunk of chunks) {
      for (let at = 0; at < chunk.byteLength; at += CRC_TURN_BYTES) {
        if (at > 0) await nextTurn();
        crc = crc32(chunk.subarray(at, at + CRC_TURN_BYTES), crc);
      }
    }
    crcs.push(crc);
  }
  return assemble(entries, crcs);
}

function assemble(entries: readonly ZipEntry[], crcs: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  const placed: Placed[] = [];
  let offset = 0;
  for (const [index, entry] of entries.entries()) {
    const place: Placed = {
      name: utf8Encode(entry.name),
      crc: crcs[index] as number,
      size: entry.chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0),
      offset,
    };
    const header = localHeader(place);
    offset += header.byteLength + place.size;
    if (offset > MAX_BYTES) throw new TensorError('TOO_LARGE', 'a .npz of more than 4 GiB.');
    chunks.push(header, ...entry.chunks);
    placed.push(place);
  }
  const directory = placed.map(centralHeader);
  const directorySize = directory.reduce((sum, header) => sum + header.byteLength, 0);
  return [...chunks, ...directory, endRecord(placed.length, directorySize, offset)];
}

function localHeader(entry: Placed): Uint8Array {
  const unpadded = entry.offset + LOCAL_HEADER_BYTES + entry.name.byteLength + 4;
  const padding = 4 + ((ALIGNMENT - (unpadded % ALIGNMENT)) % ALIGNMENT);
  const header = new Uint8Array(LOCAL_HEADER_BYTES + entry.name.byteLength + padding);
  const view = dataViewOf(header);
  view.setUint32(0, 0x04034b50, true);
  view.setUint16(4, VERSION, true);
  writeCommon(view, 6, entry);
  view.setUint16(28, padding, true);
  header.set(entry.name, LOCAL_HEADER_BYTES);
  const extra = LOCAL_HEADER_BYTES + entry.name.byteLength;
  view.setUint16(extra, PADDING_ID, true);
  view.setUint16(extra + 2, padding - 4, true);
  return header;
}

function centralHeader(entry: Placed): Uint8Array {
  const header = new Uint8Array(CENTRAL_HEADER_BYTES + entry.name.byteLength);
  const view = dataViewOf(header);
  view.setUint32(0, 0x02014b50, true);
  view.setUint16(4, VERSION, true);
  view.setUint16(6, VERSION, true);
  writeCommon(view, 8, entry);
  view.setUint32(42, entry.offset, true);
  header.set(entry.name, CENTRAL_HEADER_BYTES);
  return header;
}

/** The run of fields that both headers share: flags, method, time, date, CRC, sizes, name length. */
function writeCommon(view: DataView, at: number, entry: Placed): void {
  view.setUint16(at, UTF8_NAMES, true);
  view.setUint16(at + 6, DOS_DATE, true);
  view.setUint32(at + 8, entry.crc, true);
  view.setUint32(at + 12, entry.size, true);
  view.setUint32(at + 16, entry.size, true);
  view.setUint16(at + 20, entry.name.byteLength, true);
}

function endRecord(count: number, directorySize: number, directoryOffset: number): Uint8Array {
  const record = new Uint8Array(END_RECORD_BYTES);
  const view = dataViewOf(record);
  view.setUint32(0, 0x06054b50, true);
  view.setUint16(8, count, true);
  view.setUint16(10, count, true);
  view.setUint32(12, directorySize, true);
  view.setUint32(16, directoryOffset, true);
  return record;
}
