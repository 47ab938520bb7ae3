/**
 * Memory of pictures is used again. Whatever is sent, and whatever lies in that memory, the pixels are the same:
 * none of them come from the picture before.
 */

import type { PixelsInput } from '@sagemaker-tfs/manifest';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { giveBytes, takeBytes, takeSharedBytes } from '../memory/byte-pool.ts';
import { decodeImage } from './decode-image.ts';
import type { DecodeImageOptions } from './decode-options.ts';
import { runImageBatch } from './image-tasks.ts';
import type { Pixels } from './resample.ts';
import { sourceRows } from './resample-kernel.ts';
import { gradient, plain } from './test-pictures.ts';

const SIDE = 192;

/** Fills all memory that pictures use again with one value. */
async function poison(value: number): Promise<void> {
  for (const size of [SIDE * SIDE * 3, SIDE * 160 * 3, SIDE * SIDE, 160 * 160 * 3, 600 * 600 * 3]) {
    const buffers = [
      takeBytes(size),
      takeBytes(size),
      takeSharedBytes(size),
      takeSharedBytes(size),
    ];
    for (const buffer of buffers) giveBytes(buffer.fill(value));
  }
  // The tables and rows of the resizing module, then the rows that it reads.
  const spoiler = await plain(600, 600, value, value, value).jpeg().toBuffer();
  for (const [width, height] of [
    [160, 160],
    [64, 200],
  ])
    await decodeImage(spoiler, { width, height });
  sourceRows(786_432)?.fill(value);
}

function generator(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % limit;
  };
}

async function spoiled(count: number): Promise<Buffer[]> {
  const picture = gradient(SIDE, SIDE);
  const whole = await Promise.all([
    picture.clone().jpeg().toBuffer(),
    picture.clone().jpeg({ progressive: true }).toBuffer(),
    picture.clone().grayscale().jpeg().toBuffer(),
    picture.clone().png().toBuffer(),
    picture.clone().webp().toBuffer(),
    picture.clone().gif().toBuffer(),
    picture.clone().tiff({ compression: 'none' }).toBuffer(),
  ]);
  const random = generator(3);
  const files = Array.from({ length: count }, (_, index) => {
    const bytes = Buffer.from(whole[index % whole.length] as Buffer);
    for (let change = random(3); change >= 0; change--) {
      bytes[random(random(2) ? bytes.length : Math.min(700, bytes.length))] = random(256);
    }
    return random(4) ? bytes : bytes.subarray(0, random(bytes.length));
  });
  return [...whole, ...files];
}

const CASES: readonly DecodeImageOptions[] = [
  { width: SIDE, height: SIDE },
  { width: 160, height: 160 },
  { width: 64, height: 200, resize: 'contain', channels: 'gray' },
  { width: 160, height: 160, interpolation: 'bicubic' },
];

function hash(pixels: Pixels | string): string {
  if (typeof pixels === 'string') return pixels;
  return `${pixels.width}x${pixels.height}x${pixels.channels} ${Buffer.from(pixels.data).toString('base64')}`;
}

async function decodeAll(files: readonly Buffer[], value: number): Promise<string[]> {
  const results: string[] = [];
  for (const [index, file] of files.entries()) {
    const options = { ...CASES[index % CASES.length], limits: DEFAULT_DECODE_LIMITS };
    const channels = options.channels === 'gray' ? 1 : 3;
    const size = (options.width ?? 0) * (options.height ?? 0) * channels;
    await poison(value);
    const out = index % 2 === 0 ? takeBytes(size).fill(value) : undefined;
    const decoded = decodeImage(file, options, out).catch((error: Error) => error.message);
    results.push(hash(await decoded));
  }
  return results;
}

test('no pixel comes from memory that is used again', async () => {
  const files = await spoiled(150);
  const once = await decodeAll(files, 0xa5);
  expect(await decodeAll(files, 0x5a)).toEqual(once);
  expect(once.filter((result) => result.startsWith('1')).length).toBeGreaterThan(40);
}, 60_000);

const FLOATS: PixelsInput = {
  bytes: false,
  input: 'image',
  dtype: 'float32',
  height: SIDE,
  width: SIDE,
  channels: 'rgb',
  layout: 'NCHW',
  channelDimension: true,
  batchDimension: true,
  resize: 'stretch',
  padding: 0,
  interpolation: 'bilinear',
  antialias: false,
  shrink: false,
  scale: [1, 1, 1],
  offset: [0, 0, 0],
};

test.each(['stretch', 'contain'] as const)(
  'nor do those of a batch, whole or damaged (%s)',
  async (resize) => {
    const files = await spoiled(30);
    // Narrower than the pictures: `contain` leaves bars.
    const input = { ...FLOATS, resize, width: 160 };
    const rowBytes = SIDE * 160 * 3 * 4;
    const run = async (value: number) => {
      const results: string[] = [];
      for (const bytes of files) {
        await poison(value);
        for (const buffer of [takeBytes(rowBytes), takeSharedBytes(rowBytes)]) {
          giveBytes(buffer.fill(value));
        }
        const task = { bytes, input, limits: DEFAULT_DECODE_LIMITS };
        const batch = await runImageBatch([task], rowBytes, { name: () => 'x' }).catch(String);
        results.push(typeof batch === 'string' ? batch : Buffer.from(batch).toString('base64'));
        if (typeof batch !== 'string') giveBytes(batch);
      }
      return results;
    };
    expect(await run(0xa5)).toEqual(await run(0x5a));
  },
  60_000,
);

test('the pixels from which floats are made lie in memory that the next picture uses too', async () => {
  const bytes = await gradient(SIDE, SIDE).jpeg().toBuffer();
  const [width, height] = [181, 173];
  const { data } = await decodeImage(bytes, { width, height });
  const task = { bytes, input: { ...FLOATS, width, height }, limits: DEFAULT_DECODE_LIMITS };
  await runImageBatch([task], width * height * 3 * 4, { name: () => 'x' });
  expect(takeBytes(width * height * 3).equals(data)).toBe(true);
});

test('pictures decoded at the same time do not mix', async () => {
  const colors = Array.from({ length: 24 }, (_, index) => index * 10);
  const files = await Promise.all(
    colors.map((color) => plain(100, 100, color, color, color).jpeg().toBuffer()),
  );
  const size = { width: 64, height: 64 };
  const alone: string[] = [];
  for (const file of files) alone.push(hash(await decodeImage(file, size)));
  const together = await Promise.all(files.map((file) => decodeImage(file, size)));
  expect(together.map(hash)).toEqual(alone);
});

test('memory of the caller is not given to another picture where the first decoder fails', async () => {
  const jpeg = await gradient(SIDE, SIDE).jpeg().toBuffer();
  const damaged = Buffer.from(jpeg);
  damaged.fill(0, jpeg.length - 400, jpeg.length - 2);
  const out = takeBytes(SIDE * SIDE * 3);
  await decodeImage(damaged, { width: SIDE, height: SIDE }, out).catch(() => undefined);
  expect(takeBytes(SIDE * SIDE * 3).buffer).not.toBe(out.buffer);
});

test('room of another size than the pixels is refused', async () => {
  const jpeg = await gradient(20, 20).jpeg().toBuffer();
  const size = { width: 20, height: 20 };
  await expect(decodeImage(jpeg, size, new Uint8Array(1199))).rejects.toThrow(RangeError);
  await expect(decodeImage(jpeg, size, new Uint8Array(1201))).rejects.toThrow(RangeError);
});
