/** Numbers as bytes, which are right but for a slip now and then. */
import { edgeNumber, pick, type Random } from '../random.ts';

export const u8 = (value: number): Buffer => Buffer.from([value & 0xff]);

export function u16le(value: number): Buffer {
  return Buffer.from([value & 0xff, (value >>> 8) & 0xff]);
}

export function u16be(value: number): Buffer {
  return u16le(value).reverse();
}

export function u32le(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

export function u32be(value: number): Buffer {
  return u32le(value).reverse();
}

export function u64le(value: number): Buffer {
  return Buffer.concat([u32le(value), u32le(Math.floor(value / 2 ** 32))]);
}

/** One in this number of fields is wrong. */
const SLIP = 32;

/** The value, or now and then another: one beside it, or one at the edge of a range. */
export function slip(random: Random, value: number): number {
  if (random(SLIP) !== 0) return value;
  return random(2) ? Math.max(0, value + random(5) - 2) : edgeNumber(random);
}

/** The value, or now and then another of the list. */
export function slipTo<T>(random: Random, value: T, others: readonly T[]): T {
  return random(SLIP) === 0 ? pick(random, others) : value;
}

/** `length` bytes: zeros, small ones, or any. */
export function someBytes(random: Random, length: number): Buffer {
  const kind = random(3);
  return Buffer.from(
    Array.from({ length }, () => (kind === 0 ? 0 : kind === 1 ? random(3) : random(256))),
  );
}

/** A new list with one part taken out, said twice, moved, or made anew. */
export function reordered<T>(random: Random, list: readonly T[], anew: (part: T) => T): T[] {
  if (list.length === 0) return [];
  const at = random(list.length);
  const part = list[at] as T;
  switch (random(6)) {
    case 0:
      return list.filter((_, index) => index !== at);
    case 1:
      return [...list.slice(0, at), part, ...list.slice(at)];
    case 2: {
      const rest = list.filter((_, index) => index !== at);
      const to = random(rest.length + 1);
      return [...rest.slice(0, to), part, ...rest.slice(to)];
    }
    default:
      return list.map((one, index) => (index === at ? anew(one) : one));
  }
}
