/** CRC-32 (zip, PNG): what the host provides, else Node's own, else a table. */

/** The CRC-32 of the bytes, going on from the CRC of what came before them. */
export type Crc32 = (bytes: Uint8Array, previous: number) => number;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** The portable form, for browsers. */
export function crc32ByTable(bytes: Uint8Array, previous = 0): number {
  let crc = ~previous;
  for (let i = 0; i < bytes.byteLength; i++) {
    crc = (crc >>> 8) ^ (table[(crc ^ (bytes[i] as number)) & 0xff] as number);
  }
  return ~crc >>> 0;
}

let fastest: Crc32 = globalThis.process?.getBuiltinModule?.('node:zlib').crc32 ?? crc32ByTable;

/** See `provideChecksums`. */
export function provideCrc32(crc32: Crc32): void {
  fastest = crc32;
}

/** The CRC-32 of the bytes, going on from the CRC of what came before them. */
export function crc32(bytes: Uint8Array, previous = 0): number {
  // zlib takes an empty buffer for a request to start anew.
  return bytes.byteLength === 0 ? previous : fastest(bytes, previous);
}
