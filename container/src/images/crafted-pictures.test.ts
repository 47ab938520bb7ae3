/** Pictures that are made to cost more than they show. */
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import type { ServingError } from '../errors.ts';
import { failure } from '../testing/serving-failure.ts';
import { decodeImage } from './decode-image.ts';
import { pngForPixels } from './png-chunks.ts';
import { pngChunk as chunk, gradient } from './test-pictures.ts';

const { maxImageSide, maxPngChunks } = DEFAULT_DECODE_LIMITS;

/** The PNG with chunks put behind its IHDR, or before its IEND. */
function withChunks(png: Buffer, chunks: readonly Uint8Array[], where: 'first' | 'last'): Buffer {
  const at = where === 'first' ? 33 : png.length - 12;
  return Buffer.concat([png.subarray(0, at), ...chunks, png.subarray(at)]);
}

function typesOf(png: Uint8Array): string[] {
  const bytes = Buffer.from(png);
  const types: string[] = [];
  for (let at = 8; at + 8 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    types.push(bytes.toString('latin1', at + 4, at + 8));
  }
  return types;
}

const keyword = Buffer.from('x\0\0');
const packed = deflateSync(Buffer.alloc(100_000, 'A'));
const BOMBS = {
  zTXt: Buffer.concat([keyword, packed]),
  iTXt: Buffer.concat([Buffer.from('x\0\x01\0\0\0'), packed]),
  iCCP: Buffer.concat([keyword, packed]),
  tEXt: Buffer.from(`x\0${'A'.repeat(1000)}`),
  sPLT: Buffer.alloc(1000, 1),
  fdAT: Buffer.alloc(1000),
  eXIf: Buffer.alloc(70_000),
  gAMA: Buffer.alloc(1000),
  abCd: Buffer.alloc(0),
};

describe('chunks of a PNG that no pixel needs', () => {
  test.each(Object.entries(BOMBS))('%s does not reach the decoder', async (type, content) => {
    const png = await gradient(40, 30).png().toBuffer();
    const plain = await decodeImage(png);
    for (const where of ['first', 'last'] as const) {
      const bomb = withChunks(png, new Array(20).fill(chunk(type, content)), where);
      expect(typesOf(bomb)).toContain(type);
      expect(pngForPixels(bomb, DEFAULT_DECODE_LIMITS)).toEqual(
        new Uint8Array(pngForPixels(png, DEFAULT_DECODE_LIMITS)),
      );
      expect((await decodeImage(bomb)).data).toEqual(plain.data);
    }
  });

  test('a PNG without them is not copied', async () => {
    const png = await gradient(40, 30).png().toBuffer();
    const pHYs = chunk('pHYs', Buffer.from([0, 0, 11, 19, 0, 0, 11, 19, 1]));
    for (const bytes of [png, withChunks(png, [pHYs], 'first')]) {
      expect(pngForPixels(bytes, DEFAULT_DECODE_LIMITS)).toBe(bytes);
    }
  });

  test('palette, transparency, gamma and orientation stay, and the pixels with them', async () => {
    const rgba = gradient(40, 30).ensureAlpha(0.5);
    const note = chunk('zTXt', BOMBS.zTXt);
    const files = {
      PLTE: await rgba.clone().png({ palette: true }).toBuffer(),
      eXIf: await rgba.clone().withMetadata({ orientation: 6 }).png().toBuffer(),
      gAMA: withChunks(
        await rgba.clone().png().toBuffer(),
        [chunk('gAMA', Buffer.from([0, 0, 0x80, 0]))],
        'first',
      ),
    };
    for (const [type, png] of Object.entries(files)) {
      const noted = withChunks(png, [note], 'first');
      expect(typesOf(pngForPixels(noted, DEFAULT_DECODE_LIMITS))).toContain(type);
      const { data, info } = await sharp(png, { ignoreIcc: true, autoOrient: true })
        .removeAlpha()
        .raw()
        .toBuffer({ resolveWithObject: true });
      const decoded = await decodeImage(noted);
      expect(decoded).toMatchObject({ width: info.width, height: info.height });
      expect(Buffer.compare(decoded.data, data)).toBe(0);
    }
  });

  test('more chunks than any encoder writes are refused', async () => {
    const png = await gradient(8, 8).png().toBuffer();
    const empty = Buffer.concat(new Array(maxPngChunks).fill(chunk('IDAT')));
    const error = await failure(decodeImage(withChunks(png, [empty], 'first')));
    expect(error).toMatchObject({ code: 'BAD_IMAGE' });
    expect(error.message).toContain('chunks');
  });

  test('cut, out of order, with wrong lengths or checksums: a picture or BAD_IMAGE', async () => {
    const png = await gradient(20, 20).png().toBuffer();
    const noted = withChunks(png, [chunk('zTXt', BOMBS.zTXt), chunk('tRNS')], 'first');
    const files = Array.from({ length: 40 }, (_, cut) => noted.subarray(0, 8 + cut * 3));
    for (const length of [0, 1, 0x7fff_ffff, 0xffff_ffff]) {
      for (const at of [8, 33]) {
        const changed = Buffer.from(noted);
        changed.writeUInt32BE(length, at);
        files.push(changed);
      }
    }
    files.push(
      withChunks(noted, [chunk('IEND')], 'first'),
      withChunks(noted, [chunk('QQQQ')], 'last'),
    );
    for (const file of files) {
      const outcome = await decodeImage(file).catch((error: unknown) => error);
      if (outcome instanceof Error) {
        expect(['BAD_IMAGE', 'REQUEST_TOO_LARGE']).toContain((outcome as ServingError).code);
      }
    }
  });
});

interface Tag {
  readonly tag: number;
  readonly type: 1 | 3 | 4;
  readonly count: number;
  readonly value: number;
}

const PIXELS_AT = 8;

/** A gray TIFF of 28 x 28 pixels with other tags, or other values of its own. */
function tiff(tags: readonly Tag[], order: 'II' | 'MM' = 'II'): Buffer {
  const long = (tag: number, value: number): Tag => ({ tag, type: 4, count: 1, value });
  const own = [
    long(256, 28),
    long(257, 28),
    { tag: 258, type: 3, count: 1, value: 8 } as const,
    long(259, 1),
    long(262, 1),
    long(273, PIXELS_AT),
    long(277, 1),
    long(278, 28),
    long(279, 784),
  ].filter(({ tag }) => !tags.some((other) => other.tag === tag));
  const all = [...own, ...tags].sort((a, b) => a.tag - b.tag);
  const bytes = Buffer.alloc(PIXELS_AT + 4 * 784 + 2 + 12 * all.length + 4);
  const little = order === 'II';
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = PIXELS_AT + 4 * 784;
  bytes.write(order, 'latin1');
  view.setUint16(2, 42, little);
  view.setUint32(4, start, little);
  view.setUint16(start, all.length, little);
  for (const [index, { tag, type, count, value }] of all.entries()) {
    const at = start + 2 + 12 * index;
    view.setUint16(at, tag, little);
    view.setUint16(at + 2, type, little);
    view.setUint32(at + 4, count, little);
    if (type === 3 && count === 1) view.setUint16(at + 8, value, little);
    else view.setUint32(at + 8, value, little);
  }
  return bytes;
}

const short = (tag: number, value: number): Tag => ({ tag, type: 3, count: 1, value });

describe('TIFF', () => {
  test.each(['II', 'MM'] as const)('%s: what is plain is read', async (order) => {
    await expect(decodeImage(tiff([], order))).resolves.toMatchObject({ width: 28, height: 28 });
  });

  test.each([
    ['floating-point', 32, 3],
    ['floating-point', 16, 3],
    ['signed', 8, 2],
    ['signed', 16, 2],
    ['complex', 64, 6],
  ])('%s samples of %i bits are refused, not shown as black', async (kind, bits, format) => {
    for (const order of ['II', 'MM'] as const) {
      const bytes = tiff([short(258, bits), short(339, format)], order);
      const error = await failure(decodeImage(bytes));
      expect(error).toMatchObject({ code: 'BAD_IMAGE', status: 400 });
      expect(error.message).toContain(`${kind} samples of ${bits} bits`);
      expect(error.message).toContain('8 or 16 bits are read');
    }
  });

  test('whole numbers of 32 bits are refused', async () => {
    expect((await failure(decodeImage(tiff([short(258, 32)])))).message).toContain('of 32 bits');
  });

  test.each(['II', 'MM'] as const)('%s: no directory behind the first is read', async (order) => {
    const first = tiff([], order);
    // A directory that no decoder reads: it lacks a side.
    const bytes = Buffer.concat([
      first,
      Buffer.from([...(order === 'II' ? [1, 0] : [0, 1])]),
      Buffer.alloc(16),
    ]);
    const next = first.length - 4;
    if (order === 'II') bytes.writeUInt32LE(first.length, next);
    else bytes.writeUInt32BE(first.length, next);
    const sent = Buffer.from(bytes);
    await expect(decodeImage(sent)).resolves.toMatchObject({ width: 28, height: 28 });
    expect(sent.equals(bytes)).toBe(true);
  });

  test('tags that all claim the same bytes are refused', async () => {
    const tags = Array.from(
      { length: 1000 },
      (_, index): Tag => ({ tag: 50_000 + index, type: 1, count: 3000, value: PIXELS_AT }),
    );
    const error = await failure(decodeImage(tiff(tags)));
    expect(error).toMatchObject({ code: 'BAD_IMAGE' });
    expect(error.message).toContain('claim');
  });
});

describe('a side longer than any decoder should meet', () => {
  const long = maxImageSide + 1;

  function png(width: number, height: number): Buffer {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(height, 4);
    header[8] = 8;
    const pixels = deflateSync(Buffer.alloc((width + 1) * height));
    const signature = Buffer.from('89504e470d0a1a0a', 'hex');
    return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND')]);
  }

  /** Its canvas is all that is looked at. */
  function webp(width: number, height: number): Buffer {
    const bytes = Buffer.alloc(64);
    bytes.write('RIFF', 0, 'latin1');
    bytes.writeUInt32LE(56, 4);
    bytes.write('WEBPVP8X', 8, 'latin1');
    bytes.writeUInt32LE(10, 16);
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
    return bytes;
  }

  const withSides = (width: number, height: number): Buffer =>
    tiff([
      { tag: 256, type: 4, count: 1, value: width },
      { tag: 257, type: 4, count: 1, value: height },
    ]);

  test.each([
    ['png', png],
    ['webp', webp],
    ['tiff', withSides],
  ])('%s', async (_, make) => {
    for (const [width, height] of [
      [1, long],
      [long, 1],
    ] as const) {
      const error = await failure(decodeImage(make(width, height)));
      expect(error).toMatchObject({ code: 'REQUEST_TOO_LARGE', status: 413 });
      expect(error.message).toContain(`${width} x ${height}`);
      expect(error.message).toContain(String(maxImageSide));
    }
  });

  test('the longest that is read', async () => {
    const size = { width: 8, height: 8 };
    for (const bytes of [png(1, maxImageSide), png(maxImageSide, 1)]) {
      for (const antialias of [false, true]) {
        await expect(decodeImage(bytes, { ...size, antialias })).resolves.toMatchObject(size);
      }
    }
  });
});
