/** Zip archives (APPNOTE.TXT 6.3): right sums and places, with a wrong field now and then. */
import { crc32, deflateRawSync } from 'node:zlib';
import type { Random } from '../random.ts';
import { slip, slipTo, u16le, u32le, u64le } from './bytes.ts';

/** A file or, where its name ends with a slash, a directory. */
export interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
  /** Mode and kind as Unix has them. Default: none said. */
  readonly mode?: number;
}

/** The archive. */
export function zipOf(random: Random, entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const entry of entries) {
    const { local, central } = entryOf(random, entry, at);
    parts.push(local);
    directory.push(central);
    at += local.length;
  }
  const listing = Buffer.concat(directory);
  const comment = Buffer.alloc(random(16) ? 0 : random(40));
  const end = Buffer.concat([
    u32le(slip(random, 0x06054b50)),
    u16le(slip(random, 0)),
    u16le(slip(random, 0)),
    u16le(slip(random, entries.length)),
    u16le(slip(random, entries.length)),
    u32le(slip(random, listing.length)),
    u32le(slip(random, at)),
    u16le(slip(random, comment.length)),
    comment,
  ]);
  return Buffer.concat([
    ...parts,
    listing,
    ...zip64End(random, entries.length, listing.length, at),
    end,
  ]);
}

/** The records of zip64, which nobody needs here. */
function zip64End(random: Random, count: number, size: number, at: number): Buffer[] {
  if (random(24) !== 0) return [];
  return [
    Buffer.concat([
      u32le(0x06064b50),
      u64le(slip(random, 44)),
      u16le(45),
      u16le(45),
      u32le(0),
      u32le(0),
      u64le(slip(random, count)),
      u64le(slip(random, count)),
      u64le(slip(random, size)),
      u64le(slip(random, at)),
    ]),
    Buffer.concat([u32le(0x07064b50), u32le(0), u64le(slip(random, at + size)), u32le(1)]),
  ];
}

function entryOf(random: Random, { name, content, mode = 0 }: ZipEntry, at: number) {
  const deflated = random(2) === 0 && content.length > 0;
  const stored = deflated ? deflateRawSync(content, { level: 1 }) : content;
  if (random(24) === 0 && stored.length > 0) stored[random(stored.length)] = random(256);
  const title = Buffer.from(name);
  const described = random(16) === 0;
  const flags = slip(random, described ? 8 : 0);
  const method = slip(random, deflated ? 8 : 0);
  const crc = slip(random, crc32(content));
  const [packed, whole] = [slip(random, stored.length), slip(random, content.length)];
  const extra = random(16) ? Buffer.alloc(0) : extraOf(random, content.length, stored.length);
  const common = (sizes: readonly [number, number, number]) => [
    u16le(flags),
    u16le(method),
    u32le(0),
    u32le(sizes[0]),
    u32le(slip(random, sizes[1])),
    u32le(slip(random, sizes[2])),
    u16le(slip(random, title.length)),
    u16le(slip(random, extra.length)),
  ];
  const local = Buffer.concat([
    u32le(slip(random, 0x04034b50)),
    u16le(20),
    ...common(described ? [0, 0, 0] : [crc, packed, whole]),
    title,
    extra,
    stored,
    ...(described ? [u32le(0x08074b50), u32le(crc), u32le(packed), u32le(whole)] : []),
  ]);
  const central = Buffer.concat([
    u32le(slip(random, 0x02014b50)),
    u16le(slipTo(random, 3 << 8, [0, 10 << 8])),
    u16le(20),
    ...common([crc, packed, whole]),
    u16le(slip(random, 0)),
    u16le(0),
    u16le(0),
    u32le(mode * 65_536),
    u32le(slip(random, at)),
    title,
    extra,
  ]);
  return { local, central };
}

function extraOf(random: Random, size: number, packed: number): Buffer {
  const body = Buffer.concat([u64le(slip(random, size)), u64le(slip(random, packed))]);
  return Buffer.concat([
    u16le(slipTo(random, 1, [0x7075, 0x5455])),
    u16le(slip(random, body.length)),
    body,
  ]);
}
