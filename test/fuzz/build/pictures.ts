/** Pictures with one part changed: all lengths and sums around it are right again. */
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { mutate, pick, type Random } from '../random.ts';
import { reordered, slip, slipTo, someBytes, u8, u16be, u32be, u32le } from './bytes.ts';

/** Changes one picture. */
export type Change = (random: Random, picture: Buffer) => Buffer;

const changedBytes = (random: Random, bytes: Buffer): Buffer => mutate(random, [bytes], []);

interface Segment {
  readonly marker: number;
  /** Undefined for a marker without a length. */
  readonly payload?: Buffer | undefined;
  /** What follows the payload: the coded picture of a scan. */
  readonly scan: Buffer;
}

const SOS = 0xda;
const EOI = 0xd9;
/** Frames, tables, scans, restart intervals, line counts, application data and comments. */
const KINDS = [
  0xc0, 0xc1, 0xc2, 0xc4, 0xc9, 0xcc, 0xd0, 0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xe0, 0xe1, 0xee,
  0xfe, 1, 0,
];

function segmentsOf(picture: Buffer): Segment[] {
  const segments: Segment[] = [];
  for (let at = 2; at + 4 <= picture.length; ) {
    const marker = picture[at + 1] as number;
    if (marker === EOI) break;
    const end = at + 2 + picture.readUInt16BE(at + 2);
    let next = end;
    if (marker === SOS) {
      while (next < picture.length && !isMarker(picture, next)) next++;
    }
    segments.push({
      marker,
      payload: picture.subarray(at + 4, end),
      scan: picture.subarray(end, next),
    });
    at = next;
  }
  return segments;
}

function isMarker(picture: Buffer, at: number): boolean {
  const next = picture[at + 1] ?? 0;
  return picture[at] === 0xff && next !== 0 && (next < 0xd0 || next > 0xd7);
}

/** Segments of JPEG taken out, moved, said twice, or changed inside. */
export const changedJpeg: Change = (random, picture) => {
  let segments = segmentsOf(picture);
  for (let change = random(3); change >= 0; change--) {
    segments = reordered(random, segments, (segment) => changedSegment(random, segment));
  }
  const parts = segments.flatMap(({ marker, payload, scan }) => [
    Buffer.alloc(random(24) ? 0 : random(4), 0xff),
    u8(0xff),
    u8(marker),
    ...(payload ? [u16be(slip(random, payload.length + 2)), payload] : []),
    scan,
  ]);
  return Buffer.concat([
    Buffer.from('ffd8', 'hex'),
    ...parts,
    Buffer.from(random(8) ? 'ffd9' : '', 'hex'),
  ]);
};

function changedSegment(random: Random, { marker, payload, scan }: Segment): Segment {
  switch (random(6)) {
    case 0:
      return { marker: pick(random, KINDS), payload, scan };
    case 1:
      return { marker: pick(random, KINDS), scan: someBytes(random, random(6)) };
    case 2:
      return { marker, payload, scan: changedBytes(random, scan) };
    default: {
      if (!payload || payload.length === 0) return { marker, payload: someBytes(random, 9), scan };
      const changed = Buffer.from(payload);
      for (let byte = random(3); byte >= 0; byte--) {
        changed[random(changed.length)] = pick(random, [
          0,
          1,
          2,
          3,
          4,
          8,
          16,
          17,
          34,
          0x7f,
          0xff,
          random(256),
        ]);
      }
      return {
        marker,
        payload: random(8) ? changed : changedBytes(random, changed).subarray(0, 60_000),
        scan,
      };
    }
  }
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

function pngChunks(picture: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; at + 12 <= picture.length; ) {
    const length = picture.readUInt32BE(at);
    chunks.push({
      type: picture.toString('latin1', at + 4, at + 8),
      data: picture.subarray(at + 8, at + 8 + length),
    });
    at += 12 + length;
  }
  return chunks;
}

const PNG_TYPES = [
  'IHDR',
  'PLTE',
  'IDAT',
  'IEND',
  'tRNS',
  'gAMA',
  'iCCP',
  'tEXt',
  'zTXt',
  'iTXt',
  'acTL',
  'fdAT',
  'eXIf',
  'ABCD',
];

/** Chunks of PNG, with their sums; of pixels, what stands in the deflated stream. */
export const changedPng: Change = (random, picture) => {
  let chunks = pngChunks(picture);
  for (let change = random(3); change >= 0; change--) {
    chunks = reordered(random, chunks, (chunk) => changedChunk(random, chunk));
  }
  const parts = chunks.map(({ type, data }) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    return Buffer.concat([
      u32be(slip(random, data.length)),
      body,
      u32be(slip(random, crc32(body))),
    ]);
  });
  return Buffer.concat([picture.subarray(0, 8), ...parts]);
};

function changedChunk(random: Random, { type, data }: Chunk): Chunk {
  if (type === 'IHDR' && data.length === 13) {
    const header = Buffer.from(data);
    const at = random(7);
    if (at < 2)
      u32be(pick(random, [0, 1, 24, 4_000, 65_536, 2 ** 31 - 1, 2 ** 31])).copy(header, at * 4);
    else header[at + 6] = pick(random, [0, 1, 2, 3, 4, 6, 8, 16, 255]);
    return { type, data: header };
  }
  if (type === 'IDAT' && random(3)) {
    return { type, data: deflateSync(changedBytes(random, inflated(data)), { level: 1 }) };
  }
  if (random(3) === 0) {
    const text = Buffer.concat([
      Buffer.from('key\0\0'),
      deflateSync(Buffer.alloc(random(2) ? 9 : 60_000)),
    ]);
    return { type: pick(random, PNG_TYPES), data: random(2) ? text : data };
  }
  return { type, data: changedBytes(random, data) };
}

function inflated(data: Buffer): Buffer {
  try {
    return inflateSync(data);
  } catch {
    // It was changed before.
    return data;
  }
}

/** Chunks of WebP. */
export const changedWebp: Change = (random, picture) => {
  let chunks: Chunk[] = [];
  for (let at = 12; at + 8 <= picture.length; ) {
    const length = picture.readUInt32LE(at + 4);
    chunks.push({
      type: picture.toString('latin1', at, at + 4),
      data: picture.subarray(at + 8, at + 8 + length),
    });
    at += 8 + length + (length % 2);
  }
  for (let change = random(2); change >= 0; change--) {
    chunks = reordered(random, chunks, ({ type, data }) => ({
      type: slipTo(random, type, ['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP', 'EXIF']),
      data: changedBytes(random, data),
    }));
  }
  const parts = chunks.map(({ type, data }) =>
    Buffer.concat([
      Buffer.from(type, 'latin1'),
      u32le(slip(random, data.length)),
      data,
      Buffer.alloc(data.length % 2),
    ]),
  );
  const body = Buffer.concat([Buffer.from('WEBP'), ...parts]);
  return Buffer.concat([Buffer.from('RIFF'), u32le(slip(random, body.length)), body]);
};

const ENTRY_BYTES = 12;
const NUMBERS = [
  0,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
  8,
  16,
  24,
  32,
  4_000,
  32_773,
  34_712,
  65_535,
  65_536,
  2 ** 31,
  2 ** 32 - 1,
];

/** Entries of a TIFF's first directory (little-endian, as sharp writes it). */
export const changedTiff: Change = (random, picture) => {
  const bytes = Buffer.from(picture);
  if (bytes.length < 8 || bytes.readUInt16LE(0) !== 0x4949) return changedBytes(random, picture);
  const directory = bytes.readUInt32LE(4);
  if (directory + 2 > bytes.length) return changedBytes(random, picture);
  const count = bytes.readUInt16LE(directory);
  for (let change = random(3); change >= 0; change--) {
    const entry = directory + 2 + ENTRY_BYTES * random(count + 1);
    if (entry + ENTRY_BYTES > bytes.length) continue;
    const value = pick(random, NUMBERS);
    switch (random(6)) {
      case 0:
        bytes.writeUInt16LE(value & 0xffff, entry);
        break;
      case 1:
        bytes.writeUInt16LE(value % 16, entry + 2);
        break;
      case 2:
        bytes.writeUInt32LE(value, entry + 4);
        break;
      default:
        bytes.writeUInt32LE(value, entry + 8);
    }
  }
  return random(8) ? bytes : changedBytes(random, bytes);
};

/** The screen of a GIF, its blocks' sizes, and what stands in them. */
export const changedGif: Change = (random, picture) => {
  const bytes = Buffer.from(picture);
  const places = [6, 7, 8, 9, 10, 11, 12];
  for (let at = 13; at < bytes.length; at++) {
    // Frames, extensions and the end.
    if (bytes[at] === 0x2c || bytes[at] === 0x21 || bytes[at] === 0x3b) {
      places.push(at, at + 1, at + 5, at + 7, at + 9, at + 10);
    }
  }
  for (let change = random(4); change >= 0; change--) {
    bytes[pick(random, places) % bytes.length] = pick(random, [
      0,
      1,
      2,
      8,
      12,
      0x21,
      0x2c,
      0x3b,
      0x80,
      0xf7,
      0xff,
      random(256),
    ]);
  }
  return random(3) ? bytes : changedBytes(random, bytes);
};
