import sharp from 'sharp';
import { fitImage } from './fit-image.ts';

const RED = { r: 255, g: 0, b: 0 };

function picture(width: number, height: number) {
  return sharp({ create: { width, height, channels: 3, background: RED } });
}

/** Red of the pixel at x, y. */
async function redAt(jpeg: Uint8Array, x: number, y: number): Promise<number> {
  const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true });
  return data[(y * info.width + x) * info.channels] as number;
}

test('stretch fills the frame', async () => {
  const jpeg = await fitImage(await picture(80, 40).png().toBuffer(), { width: 30, height: 30 });
  expect(await sharp(jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 30, height: 30 });
  expect(await redAt(jpeg, 0, 0)).toBeGreaterThan(240);
  expect(await redAt(jpeg, 29, 29)).toBeGreaterThan(240);
});

test('letterbox keeps the aspect ratio between black bars', async () => {
  const image = await picture(80, 40).webp().toBuffer();
  const jpeg = await fitImage(image, { width: 32, height: 32, mode: 'letterbox', quality: 95 });
  expect(await redAt(jpeg, 16, 16)).toBeGreaterThan(240);
  expect(await redAt(jpeg, 16, 3)).toBeLessThan(10);
  expect(await redAt(jpeg, 16, 28)).toBeLessThan(10);
  expect(await redAt(jpeg, 1, 16)).toBeGreaterThan(240);
});

test('letterbox leaves the bars that the runtime and TensorFlow leave', async () => {
  const image = await picture(64, 48).png().toBuffer();
  const jpeg = await fitImage(image, { width: 15, height: 31, mode: 'letterbox', quality: 100 });
  expect(await redAt(jpeg, 2, 12)).toBeGreaterThan(240);
  expect(await redAt(jpeg, 14, 12)).toBeLessThan(100);
});

test('the EXIF orientation decides which way is up', async () => {
  const lying = await picture(80, 40).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const jpeg = await fitImage(lying, { width: 32, height: 32, mode: 'letterbox' });
  expect(await redAt(jpeg, 16, 1)).toBeGreaterThan(240);
  expect(await redAt(jpeg, 2, 16)).toBeLessThan(10);
});

test('transparency lies on black', async () => {
  const clear = await sharp({
    create: { width: 8, height: 8, channels: 4, background: { ...RED, alpha: 0 } },
  })
    .png()
    .toBuffer();
  expect(await redAt(await fitImage(clear, { width: 8, height: 8 }), 4, 4)).toBeLessThan(10);
});

test('lower quality makes fewer bytes', async () => {
  const noise = Buffer.from(Uint8Array.from({ length: 64 * 64 * 3 }, (_, i) => (i * i) % 251));
  const image = await sharp(noise, { raw: { width: 64, height: 64, channels: 3 } })
    .png()
    .toBuffer();
  const [low, high] = await Promise.all(
    [10, 95].map((quality) => fitImage(image, { width: 64, height: 64, quality })),
  );
  expect(low?.byteLength).toBeLessThan(high?.byteLength as number);
});

test('bytes that are no image, and sizes that are none, are clear errors', async () => {
  const options = { width: 8, height: 8 };
  await expect(fitImage(Uint8Array.of(1, 2, 3), options)).rejects.toMatchObject({
    code: 'BAD_IMAGE',
    message: expect.stringContaining('cannot be decoded'),
  });
  await expect(fitImage(Uint8Array.of(), { ...options, quality: 101 })).rejects.toMatchObject({
    code: 'BAD_OPTION',
    message: 'quality 101 is not a whole number from 1 to 100.',
  });
});
