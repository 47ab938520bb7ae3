/** CRC-32C (Castagnoli), masked as TFRecord files and checkpoints hold it. */
import { dataViewOf } from './text.ts';

/** Four tables, so that four bytes are taken at a time. */
const tables = makeTables();

function makeTables(): Int32Array {
  const all = new Int32Array(4 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    all[byte] = crc;
  }
  for (let at = 256; at < all.length; at++) {
    const before = all[at - 256] as number;
    all[at] = (before >>> 8) ^ (all[before & 0xff] as number);
  }
  return all;
}

/** The CRC-32C of the bytes. */
export type Crc32c = (bytes: Uint8Array) => number;

/** Below this a call of native code costs more than the table. */
const MIN_FOR_NATIVE = 512;
let native: Crc32c | undefined;

/** See `provideChecksums`. */
export function provideCrc32c(crc32c: Crc32c): void {
  native = crc32c;
}

/** The CRC-32C of the bytes, by what the host provides, else by tables. */
export function crc32c(bytes: Uint8Array): number {
  return native && bytes.byteLength >= MIN_FOR_NATIVE ? native(bytes) : crc32cByTables(bytes);
}

/** The portable form. */
export function crc32cByTables(bytes: Uint8Array): number {
  const view = dataViewOf(bytes);
  const fours = bytes.byteLength & ~3;
  let crc = -1;
  let at = 0;
  for (; at < fours; at += 4) {
    const word = crc ^ view.getInt32(at, true);
    crc =
      (tables[768 + (word & 0xff)] as number) ^
      (tables[512 + ((word >>> 8) & 0xff)] as number) ^
      (tables[256 + ((word >>> 16) & 0xff)] as number) ^
      (tables[word >>> 24] as number);
  }
  for (; at < bytes.byteLength; at++) {
    crc = (crc >>> 8) ^ (tables[(crc ^ (bytes[at] as number)) & 0xff] as number);
  }
  return ~crc >>> 0;
}

/** The CRC-32C rotated and moved, so that data which holds checksums can be checked soundly. */
export function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
