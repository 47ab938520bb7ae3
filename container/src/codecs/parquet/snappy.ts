/**
 * Snappy's raw format, as pages of Parquet are packed in it.
 * https://github.com/google/snappy/blob/main/format_description.txt
 */
import { bad } from './thrift.ts';

/** A copy of 64 bytes takes three. */
const MAX_RATIO = 22;
const LITERAL = 0;
/** Literals beyond this write their length behind the tag. */
const SHORT_LITERAL = 60;

/** @param size bytes that come out. @throws TensorError, before memory is taken for more than the bytes can hold */
export function unsnapped(bytes: Uint8Array, size: number): Uint8Array {
  if (size > bytes.length * MAX_RATIO) throw bad('has a page that cannot be unpacked');
  const plain = new Uint8Array(size);
  let at = 0;
  let filled = 0;
  /** An unsigned number of `width` bytes, little-endian. */
  const number = (width: number): number => {
    if (at + width > bytes.length) throw bad('has a page that ends too early');
    let value = 0;
    for (let i = 0; i < width; i++) value += (bytes[at + i] as number) * 256 ** i;
    at += width;
    return value;
  };
  // The size again, seven bits a byte.
  while (number(1) >= 128);
  while (at < bytes.length) {
    const tag = number(1);
    const kind = tag & 3;
    const short = tag >> 2;
    if (kind === LITERAL) {
      const length = (short < SHORT_LITERAL ? short : number(short - SHORT_LITERAL + 1)) + 1;
      if (length > bytes.length - at || length > size - filled) {
        throw bad('has a page that cannot be unpacked');
      }
      plain.set(bytes.subarray(at, at + length), filled);
      at += length;
      filled += length;
      continue;
    }
    const length = kind === 1 ? (short & 7) + 4 : short + 1;
    const offset = kind === 1 ? (tag >> 5) * 256 + number(1) : number(kind === 2 ? 2 : 4);
    if (offset === 0 || offset > filled || length > size - filled) {
      throw bad('has a page that cannot be unpacked');
    }
    // What is copied may be what this very copy writes.
    for (let i = 0; i < length; i++, filled++) plain[filled] = plain[filled - offset] as number;
  }
  if (filled !== size) throw bad('has a page of another size than it says');
  return plain;
}
