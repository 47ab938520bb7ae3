import sharp from 'sharp';
import { decodeImage } from './decode-image.ts';
import { webpForPixels } from './webp-chunks.ts';

const WIDTH = 3;
const HEIGHT = 2;

const uint = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
};
const chunk = (type: string, content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(type, 'latin1'),
    uint(content.length, 4),
    content,
    Buffer.alloc(content.length % 2),
  ]);
const riff = (...chunks: Buffer[]): Buffer =>
  chunk('RIFF', Buffer.concat([Buffer.from('WEBP', 'latin1'), ...chunks]));

/** A chunk of a file that sharp wrote. */
function chunkOf(file: Buffer, type: string): Buffer {
  const at = file.indexOf(type, 12, 'latin1');
  const size = file.readUInt32LE(at + 4);
  return file.subarray(at, at + 8 + size + (size % 2));
}

/** Extended, animated, with EXIF. */
const HEAD = Buffer.concat([
  chunk('VP8X', Buffer.concat([uint(0x0a, 4), uint(WIDTH - 1, 3), uint(HEIGHT - 1, 3)])),
  chunk('ANIM', Buffer.alloc(6)),
]);
const frameOf = (coded: Buffer): Buffer =>
  chunk(
    'ANMF',
    Buffer.concat([Buffer.alloc(6), uint(WIDTH - 1, 3), uint(HEIGHT - 1, 3), uint(10, 4), coded]),
  );

let coded: Buffer;
let exif: Buffer;
let pixels: Buffer;
beforeAll(async () => {
  pixels = Buffer.from(Array.from({ length: WIDTH * HEIGHT * 3 }, (_, at) => 10 * at));
  const raw = { width: WIDTH, height: HEIGHT, channels: 3 } as const;
  const file = await sharp(pixels, { raw })
    .withMetadata({ orientation: 3 })
    .webp({ lossless: true })
    .toBuffer();
  coded = chunkOf(file, 'VP8L');
  exif = chunkOf(file, 'EXIF');
});

test('of an animation the first frame goes to the decoder, with the orientation behind all of them', async () => {
  // A second frame that no decoder reads.
  const broken = frameOf(chunk('VP8L', Buffer.alloc(20)));
  const other = chunk('XYZW', Buffer.alloc(3));
  const file = riff(HEAD, frameOf(coded), broken, other, exif, exif);
  const needed = Buffer.from(webpForPixels(file));
  expect(needed.equals(riff(HEAD, frameOf(coded), exif))).toBe(true);
  const decoded = await decodeImage(file);
  const turned = Array.from({ length: WIDTH * HEIGHT }, (_, at) =>
    pixels.subarray(3 * at, 3 * at + 3),
  );
  expect(Buffer.from(decoded.data).equals(Buffer.concat(turned.reverse()))).toBe(true);
});

test('a file with nothing else, and one that is cut short, go as they are', () => {
  const plain = riff(coded);
  expect(webpForPixels(plain)).toBe(plain);
  const whole = riff(HEAD, frameOf(coded), frameOf(coded));
  for (let length = 12; length < whole.length; length++) {
    const cut = whole.subarray(0, length);
    expect(webpForPixels(cut)).toBe(cut);
  }
});
