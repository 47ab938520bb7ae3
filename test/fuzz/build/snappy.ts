/** Snappy's raw format. */
import { edgeNumber, pick, type Random } from '../random.ts';
import { slip, someBytes, u16le, u32le } from './bytes.ts';

/** Literals beyond this write their length behind the tag. */
const SHORT_LITERAL = 60;

/** Literals and copies that fit, but for a slip now and then; the size stands before them. */
export function snappyOf(random: Random): Buffer {
  const parts: Buffer[] = [];
  let filled = 0;
  for (let count = random(12); count >= 0; count--) {
    const isLiteral = filled === 0 || random(2) === 0;
    const length = isLiteral
      ? pick(random, [1, 4, 60, 61, 300, 70_000 >> random(9)])
      : 4 + random(8);
    parts.push(isLiteral ? literal(random, length) : copy(random, length, filled));
    filled += length;
  }
  return Buffer.concat([varint(slip(random, filled)), ...parts]);
}

function literal(random: Random, length: number): Buffer {
  const told = slip(random, length) - 1;
  const content = someBytes(random, length);
  if (told >= 0 && told < SHORT_LITERAL) return Buffer.concat([Buffer.from([told << 2]), content]);
  const width = told < 0 || told > 0xffffff ? 4 : told > 0xffff ? 3 : told > 0xff ? 2 : 1;
  const tag = Buffer.from([(SHORT_LITERAL + width - 1) << 2]);
  return Buffer.concat([tag, u32le(told).subarray(0, width), content]);
}

function copy(random: Random, length: number, filled: number): Buffer {
  const offset = slip(random, 1 + random(filled));
  const kind = offset < 2_048 ? 1 + random(3) : offset < 65_536 ? 2 + random(2) : 3;
  if (kind === 1)
    return Buffer.from([1 | ((length - 4) << 2) | ((offset >> 8) << 5), offset & 0xff]);
  const tag = Buffer.from([kind | ((length - 1) << 2)]);
  return Buffer.concat([tag, kind === 2 ? u16le(offset) : u32le(offset)]);
}

/** Seven bits a byte, the low ones first. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value >>> 0;
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** The size that stands before the rest, or now and then another: a page of Parquet tells it again. */
export function toldSize(bytes: Buffer, random: Random): number {
  let size = 0;
  for (let at = 0; at < 5; at++) {
    const byte = bytes[at] ?? 0;
    size += (byte & 0x7f) * 128 ** at;
    if (byte < 128) break;
  }
  return random(16) === 1 ? edgeNumber(random) : size;
}
