import { decodeImage } from './decode-image.ts';
import goldens from './fixtures/tiff-goldens.json' with { type: 'json' };
import { largestDifference } from './test-pictures.ts';

/** Made by fixtures/make_tiffs.py. Of each kind the pixels of Pillow, or false where the file is refused. */
const cases = goldens.map(({ kind, data, pixels }) => ({
  kind,
  data: Buffer.from(data, 'base64'),
  pixels: typeof pixels === 'string' ? Buffer.from(pixels, 'base64') : undefined,
}));

describe('TIFFs of every kind of samples', () => {
  const read = cases.filter(({ pixels }) => pixels);
  const refused = cases.filter(({ pixels }) => !pixels);

  test.each(read)("$kind: Pillow's pixels", async ({ data, pixels = Buffer.alloc(0) }) => {
    const decoded = await decodeImage(data);
    expect(largestDifference(decoded.data, pixels)).toBeLessThanOrEqual(1);
    const bgr = await decodeImage(data, { channels: 'bgr' });
    expect(Array.from(bgr.data.subarray(0, 3))).toEqual(
      Array.from(decoded.data.subarray(0, 3)).reverse(),
    );
  });

  test.each(refused)('$kind is refused', async ({ data }) => {
    await expect(decodeImage(data)).rejects.toMatchObject({ code: 'BAD_IMAGE', status: 400 });
  });

  test('BigTIFF is refused by its name', async () => {
    const big = cases.find(({ kind }) => kind === 'BigTIFF');
    await expect(decodeImage(big?.data ?? new Uint8Array(0))).rejects.toThrow(
      /BigTIFF.*Convert it to/,
    );
  });

  test('a refusal says what the samples are', async () => {
    const lab = cases.find(({ kind }) => kind === 'PhotometricInterpretation 8, 3 x 8 bits');
    const refusal = decodeImage(lab?.data ?? new Uint8Array(0));
    await expect(refusal).rejects.toThrow(
      /3 channels of 8-bit CIELab \(PhotometricInterpretation: 8\).*Convert it/,
    );
  });
});
