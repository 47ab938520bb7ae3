/** Parquet's numbers of few bits: runs of one number, and groups of eight packed side by side. */
import { bad } from './thrift.ts';

/**
 * Fills `into` with numbers of `width` bits from the bytes. Runs longer than what is left are cut.
 * https://parquet.apache.org/docs/file-format/data-pages/encodings/#run-length-encoding--bit-packing-hybrid-rle--3
 * @throws TensorError where there are fewer
 */
export function readHybrid(bytes: Uint8Array, width: number, into: Uint32Array | Uint8Array): void {
  if (width > 32) throw bad('has numbers of more than 32 bits');
  let at = 0;
  let filled = 0;
  while (filled < into.length) {
    let head = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || scale > 2 ** 28) throw bad('has a page that ends too early');
      head += (byte & 0x7f) * scale;
      if (byte < 128) break;
    }
    const runs = Math.floor(head / 2);
    if (runs === 0) throw bad('has an empty run');
    if (head % 2 === 0) {
      const size = Math.ceil(width / 8);
      if (at + size > bytes.length) throw bad('has a page that ends too early');
      const stop = Math.min(into.length, filled + runs);
      into.fill(littleEndian(bytes, at, size), filled, stop);
      filled = stop;
      at += size;
    } else {
      const size = runs * width;
      const stop = Math.min(into.length, filled + runs * 8);
      // Writers may cut the last group.
      if (at + Math.ceil(((stop - filled) * width) / 8) > bytes.length) {
        throw bad('has a page that ends too early');
      }
      unpack(bytes.subarray(at, at + size), width, into.subarray(filled, stop));
      filled = stop;
      at += size;
    }
  }
}

function unpack(bytes: Uint8Array, width: number, into: Uint32Array | Uint8Array): void {
  const range = 2 ** width;
  let held = 0;
  let bits = 0;
  let at = 0;
  for (let i = 0; i < into.length; i++) {
    while (bits < width) {
      held += (bytes[at++] as number) * 2 ** bits;
      bits += 8;
    }
    into[i] = held % range;
    held = Math.floor(held / range);
    bits -= width;
  }
}

function littleEndian(bytes: Uint8Array, at: number, size: number): number {
  let value = 0;
  for (let i = 0; i < size; i++) value += (bytes[at + i] as number) * 256 ** i;
  return value;
}
