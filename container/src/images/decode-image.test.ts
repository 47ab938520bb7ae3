import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import type { ServingError } from '../errors.ts';
import { failure } from '../testing/serving-failure.ts';
import { decodeImage } from './decode-image.ts';
import { fitPicture } from './fit-picture.ts';
import { imageLimits, setImageLimits } from './image-limits.ts';
import {
  gradient,
  grainyPhoto,
  largestDifference,
  pixelAt,
  plain,
  pngChunk,
} from './test-pictures.ts';

describe('formats', () => {
  const picture = gradient(40, 30);

  test.each([
    ['JPEG', () => picture.clone().jpeg({ quality: 95 }), 12],
    ['progressive JPEG', () => picture.clone().jpeg({ quality: 95, progressive: true }), 12],
    ['PNG', () => picture.clone().png(), 0],
    ['interlaced PNG', () => picture.clone().png({ progressive: true }), 0],
    ['palette PNG', () => picture.clone().png({ palette: true }), 60],
    ['WebP', () => picture.clone().webp({ lossless: true }), 0],
    ['GIF', () => picture.clone().gif(), 60],
    ['TIFF', () => picture.clone().tiff({ compression: 'lzw' }), 0],
    ['big-endian 16-bit PNG', () => picture.clone().toColourspace('rgb16').png(), 1],
  ])('%s decodes to its pixels', async (_, encode, tolerance) => {
    const pixels = await picture.clone().raw().toBuffer();
    const decoded = await decodeImage(await encode().toBuffer());
    expect(decoded).toMatchObject({ width: 40, height: 30, channels: 3 });
    expect(largestDifference(decoded.data, pixels)).toBeLessThanOrEqual(tolerance);
  });

  test('the first frame of an animated GIF', async () => {
    const frames = await Promise.all(
      [plain(8, 8, 255, 0, 0), plain(8, 8, 0, 0, 255)].map((frame) => frame.png().toBuffer()),
    );
    const gif = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();
    expect((await sharp(gif).metadata()).pages).toBe(2);
    expect(pixelAt(await decodeImage(gif), 4, 4)).toEqual([255, 0, 0]);
  });

  test('a frame of a GIF that is smaller than its canvas lies on black', async () => {
    // A canvas of 3 x 2 whose first color, red, is that of its background; one green pixel at (1, 1).
    const gif = Buffer.from(
      '474946383961030002008000 00ff000000ff002c0100010001000100000202 4c01003b'.replaceAll(
        ' ',
        '',
      ),
      'hex',
    );
    const decoded = await decodeImage(gif);
    expect(decoded).toMatchObject({ width: 3, height: 2 });
    expect(pixelAt(decoded, 1, 1)).toEqual([0, 255, 0]);
    expect(pixelAt(decoded, 0, 0)).toEqual([0, 0, 0]);
  });

  test('gray JPEG becomes three equal channels, or one', async () => {
    const jpeg = await gradient(20, 20).grayscale().jpeg().toBuffer();
    const color = await decodeImage(jpeg);
    const [r, g, b] = pixelAt(color, 10, 10);
    expect(r).toBe(g);
    expect(g).toBe(b);
    const gray = await decodeImage(jpeg, { channels: 'gray' });
    expect(gray.channels).toBe(1);
    expect(pixelAt(gray, 10, 10)).toEqual([r]);
  });

  test('CMYK JPEG becomes RGB', async () => {
    const jpeg = await plain(16, 16, 250, 250, 250).toColourspace('cmyk').jpeg().toBuffer();
    expect((await sharp(jpeg).metadata()).space).toBe('cmyk');
    const decoded = await decodeImage(jpeg);
    expect(decoded.channels).toBe(3);
    for (const value of pixelAt(decoded, 8, 8)) expect(value).toBeGreaterThan(230);
  });

  test('transparency is dropped, gray with alpha too', async () => {
    const background = { r: 10, g: 20, b: 30, alpha: 0.5 };
    const rgba = sharp({ create: { width: 4, height: 4, channels: 4, background } });
    expect(pixelAt(await decodeImage(await rgba.clone().png().toBuffer()), 1, 1)).toEqual([
      10, 20, 30,
    ]);
    const grayAlpha = await rgba.clone().toColourspace('b-w').png().toBuffer();
    expect((await decodeImage(grayAlpha)).channels).toBe(3);
  });

  test('the bytes say the format: no name is needed, and a view into a larger buffer will do', async () => {
    const png = await gradient(5, 4).png().toBuffer();
    const larger = new Uint8Array(png.length + 20);
    larger.set(png, 7);
    const decoded = await decodeImage(larger.subarray(7, 7 + png.length));
    expect(decoded).toMatchObject({ width: 5, height: 4 });
  });
});

describe("TensorFlow's own decoder", () => {
  /** Made by fixtures/make_goldens.py. */
  const { jpegs, cmyk } = JSON.parse(
    readFileSync(join(__dirname, 'fixtures', 'tensorflow-goldens.json'), 'utf8'),
  ) as {
    jpegs: { base64: string; rgb: number[]; gray: number[] }[];
    cmyk: { base64: string; rgb: number[] }[];
  };

  test.each(jpegs)('gives the same pixels', async ({ base64, rgb, gray }) => {
    const jpeg = Buffer.from(base64, 'base64');
    expect(Array.from((await decodeImage(jpeg)).data)).toEqual(rgb);
    expect(Array.from((await decodeImage(jpeg, { channels: 'gray' })).data)).toEqual(gray);
  });

  test.each(cmyk)('gives the same pixels of CMYK', async ({ base64, rgb }) => {
    const jpeg = Buffer.from(base64, 'base64');
    expect((await sharp(jpeg).metadata()).space).toBe('cmyk');
    const decoded = await decodeImage(jpeg);
    expect(Array.from(decoded.data)).toEqual(rgb);
  });

  test("takes the inks of CMYK without Adobe's marker as they are stored", async () => {
    const jpeg = Buffer.from(cmyk[0]?.base64 ?? '', 'base64');
    const name = jpeg.indexOf('Adobe');
    const plainer = Buffer.concat([jpeg.subarray(0, name - 4), jpeg.subarray(name + 12)]);
    expect(jpeg.readUInt16BE(name - 4)).toBe(0xffee);
    const inks = await sharp(jpeg)
      .pipelineColourspace('cmyk')
      .toColourspace('cmyk')
      .raw({ depth: 'uchar' })
      .toBuffer();
    // Stored is 255 - ink, which is then the ink: the light that it leaves is the first ink.
    const expected = Array.from({ length: inks.length / 4 }, (_, at) =>
      inks.subarray(at * 4, at * 4 + 4),
    )
      .flatMap(([c = 0, m = 0, y = 0, k = 0]) => [c * k, m * k, y * k])
      .map((light) => Math.floor(light / 255));
    expect(Array.from((await decodeImage(plainer)).data)).toEqual(expected);
    expect(Array.from((await decodeImage(jpeg)).data)).not.toEqual(expected);
  });
});

describe('channels', () => {
  test.each(['jpeg', 'png'] as const)('%s as bgr is rgb in reverse', async (format) => {
    const bytes = await plain(8, 8, 200, 100, 20)[format]({ quality: 100 }).toBuffer();
    const rgb = pixelAt(await decodeImage(bytes), 3, 3);
    expect(pixelAt(await decodeImage(bytes, { channels: 'bgr' }), 3, 3)).toEqual(
      [...rgb].reverse(),
    );
  });

  const COLORS = [
    [17, 57, 211],
    [200, 100, 20],
    [1, 2, 150],
    [250, 52, 1],
    [90, 90, 90],
  ] as const;

  const gamma = (value: number) => {
    const content = Buffer.alloc(4);
    content.writeUInt32BE(value);
    return pngChunk('gAMA', content);
  };

  // Of TensorFlow 2.21.0, decode_png(channels=1).
  test.each([
    ['without a gamma', [], [62, 120, 18, 105, 90]],
    ['with sRGB', [pngChunk('sRGB', Buffer.of(0))], [89, 136, 56, 149, 90]],
    ['with a gamma', [gamma(30_000)], [113, 146, 78, 174, 90]],
    ['with a gamma of 1', [gamma(105_000)], [62, 120, 18, 105, 90]],
    ['with both', [gamma(30_000), pngChunk('sRGB', Buffer.of(1))], [89, 136, 56, 149, 90]],
    ['with a gamma of 0', [gamma(0)], [62, 120, 18, 105, 90]],
  ])("gray from a PNG is TensorFlow's: %s", async (_, chunks, expected) => {
    for (const [index, [r, g, b]] of COLORS.entries()) {
      const png = await plain(8, 8, r, g, b).png().toBuffer();
      const bytes = Buffer.concat([png.subarray(0, 33), ...chunks, png.subarray(33)]);
      const picture = await decodeImage(bytes, { channels: 'gray' });
      expect(pixelAt(picture, 3, 3)).toEqual([expected[index]]);
    }
  });

  test('gray of other formats is rounded, as in Pillow', async () => {
    // Of Pillow 13.0.0, convert('L').
    for (const [index, expected] of [63, 121, 19, 105, 90].entries()) {
      const [r, g, b] = COLORS[index] as (typeof COLORS)[0];
      const picture = plain(8, 8, r, g, b);
      for (const bytes of [
        await picture.clone().webp({ lossless: true }).toBuffer(),
        await picture.clone().tiff({ compression: 'lzw' }).toBuffer(),
      ]) {
        expect(pixelAt(await decodeImage(bytes, { channels: 'gray' }), 3, 3)).toEqual([expected]);
      }
    }
  });

  test('gray is Rec. 601 luma whatever the format', async () => {
    const picture = plain(8, 8, 200, 100, 20);
    const luma = Math.round(0.299 * 200 + 0.587 * 100 + 0.114 * 20);
    for (const bytes of [
      await picture.clone().png().toBuffer(),
      await picture.clone().jpeg({ quality: 100 }).toBuffer(),
    ]) {
      const [value] = pixelAt(await decodeImage(bytes, { channels: 'gray' }), 3, 3);
      expect(Math.abs((value as number) - luma)).toBeLessThanOrEqual(1);
    }
  });
});

/** Where the stored pixel (x, y) is to be seen, by the table of EXIF 2.32. */
function uprightPlace(
  orientation: number,
  x: number,
  y: number,
  width: number,
  height: number,
): readonly [number, number] {
  const [right, down] = [width - 1 - x, height - 1 - y];
  const places = [
    [x, y],
    [right, y],
    [right, down],
    [x, down],
    [y, x],
    [down, x],
    [down, right],
    [y, right],
  ] as const;
  return places[orientation - 1] ?? [x, y];
}

describe('orientation', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('EXIF %i comes out upright', async (orientation) => {
    const jpeg = await gradient(64, 48)
      .jpeg({ quality: 95 })
      .withMetadata({ orientation })
      .toBuffer();
    const upright = await sharp(jpeg).autoOrient().raw().toBuffer({ resolveWithObject: true });
    const decoded = await decodeImage(jpeg);
    expect(decoded).toMatchObject({ width: upright.info.width, height: upright.info.height });
    expect(largestDifference(decoded.data, upright.data)).toBeLessThanOrEqual(6);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'EXIF %i has the pixels of the picture without it, in other places',
    async (orientation) => {
      for (const channels of ['rgb', 'bgr', 'gray'] as const) {
        const noise = Buffer.from(Array.from({ length: 33 * 21 * 3 }, (_, at) => (at * 97) % 251));
        const source = sharp(noise, { raw: { width: 33, height: 21, channels: 3 } });
        const jpeg = await source.jpeg({ quality: 80 }).toBuffer();
        const tagged = await source.jpeg({ quality: 80 }).withMetadata({ orientation }).toBuffer();
        const stored = await decodeImage(jpeg, { channels });
        const decoded = await decodeImage(tagged, { channels });
        for (const [x, y] of [
          [0, 0],
          [32, 0],
          [0, 20],
          [7, 13],
        ] as const) {
          const [toX, toY] = uprightPlace(orientation, x, y, 33, 21);
          expect(pixelAt(decoded, toX, toY)).toEqual(pixelAt(stored, x, y));
        }
      }
    },
  );
});

describe('size', () => {
  const size = { width: 20, height: 20 };

  test.each(['nearest', 'bilinear', 'bicubic', 'lanczos3', 'area'] as const)(
    '%s keeps a plain color and the place of things',
    async (interpolation) => {
      for (const resize of ['stretch', 'cover', 'contain'] as const) {
        const png = await gradient(60, 30).png().toBuffer();
        const decoded = await decodeImage(png, { ...size, resize, interpolation, padding: 9 });
        expect(decoded).toMatchObject({ ...size, channels: 3 });
        const middle = pixelAt(decoded, 10, 10);
        for (const [at, value] of [134, 132, 40].entries()) {
          expect(Math.abs((middle[at] as number) - value)).toBeLessThan(8);
        }
        const isPadded = resize === 'contain';
        expect(JSON.stringify(pixelAt(decoded, 10, 1)) === '[9,9,9]').toBe(isPadded);
      }
    },
  );

  test('gray pictures go through every interpolation with one channel', async () => {
    const jpeg = await plain(30, 30, 90, 90, 90).jpeg().toBuffer();
    for (const interpolation of ['nearest', 'bilinear', 'bicubic', 'lanczos3', 'area'] as const) {
      const decoded = await decodeImage(jpeg, { ...size, interpolation, channels: 'gray' });
      expect(decoded.channels).toBe(1);
      expect(decoded.data).toEqual(new Uint8Array(400).fill(decoded.data[0] as number));
    }
  });

  test('a large JPEG shrunk in the decoder shows the same picture', async () => {
    const small = await gradient(240, 180).png().toBuffer();
    const large = sharp(small).resize(3600, 2400);
    const jpeg = await large.jpeg().withMetadata({ orientation: 6 }).toBuffer();
    const decoded = await decodeImage(jpeg, { width: 90, height: 120, shrink: true });
    const whole = await decodeImage(jpeg, { width: 90, height: 120, interpolation: 'nearest' });
    expect(decoded).toMatchObject({ width: 90, height: 120 });
    expect(largestDifference(decoded.data, whole.data)).toBeLessThanOrEqual(8);
  });

  test('the mean error of a grainy photo shrunk in the decoder is as documented', async () => {
    const jpeg = await grainyPhoto(3600, 2400);
    for (const [antialias, least, most] of [
      [false, 3, 5],
      [true, 0.3, 0.7],
    ] as const) {
      const options = { width: 320, height: 224, channels: 'gray', antialias } as const;
      const whole = (await decodeImage(jpeg, options)).data;
      const shrunk = (await decodeImage(jpeg, { ...options, shrink: true })).data;
      const sum = shrunk.reduce((total, is, at) => total + Math.abs(is - (whole[at] as number)), 0);
      const mean = sum / whole.length;
      expect({ antialias, mean, asDocumented: mean >= least && mean <= most }).toMatchObject({
        asDocumented: true,
      });
    }
  });

  test.each([1, 6])('a large JPEG is resized as a small one (EXIF %i)', async (orientation) => {
    // A checkerboard of three pixels: whatever shrinks it on the way gives gray.
    const side = 2829;
    const data = Buffer.alloc(side * side);
    for (let y = 0, at = 0; y < side; y++) {
      const row = Math.floor(y / 3);
      for (let x = 0; x < side; x++, at++) data[at] = ((Math.floor(x / 3) + row) % 2) * 255;
    }
    const raw = { width: side, height: side, channels: 1 } as const;
    const jpeg = await sharp(data, { raw })
      .jpeg({ quality: 95 })
      .withMetadata({ orientation })
      .toBuffer();
    const whole = await decodeImage(jpeg);
    for (const antialias of [false, true]) {
      const options = { width: 224, height: 224, antialias };
      const { data: resized } = await decodeImage(jpeg, options);
      expect(Buffer.compare(resized, fitPicture(whole, options).data)).toBe(0);
    }
  });

  test.each([
    { width: 2400, height: 1800 },
    { width: 3000, height: 90 },
    { width: 31, height: 17 },
    { width: 1500, height: 1500, resize: 'cover' },
    { width: 1500, height: 1500, resize: 'contain' },
  ] as const)('a JPEG resized as it is decoded is the decoded one resized: %p', async (options) => {
    const noise = Buffer.from(Array.from({ length: 400 * 300 * 3 }, (_, at) => (at * 7919) % 251));
    const raw = { width: 400, height: 300, channels: 3 } as const;
    const jpeg = await sharp(noise, { raw }).jpeg().toBuffer();
    const decoded = await decodeImage(jpeg);
    const expected = await fitPicture(decoded, options);
    const { data } = await decodeImage(jpeg, options);
    // Millions of bytes: `toEqual` takes a minute to compare them.
    expect(Buffer.compare(data, expected.data)).toBe(0);
  });

  test('pixels go where they are wanted', async () => {
    const jpeg = await gradient(20, 20).jpeg().toBuffer();
    const png = await gradient(33, 11).png().toBuffer();
    for (const bytes of [jpeg, png]) {
      const out = new Uint8Array(1200);
      const decoded = await decodeImage(bytes, size, out);
      expect(decoded.data.buffer).toBe(out.buffer);
      expect(out).toEqual(new Uint8Array((await decodeImage(bytes, size)).data));
    }
  });
});

describe('bad input', () => {
  test('bytes that are no image name what they are and what to send', async () => {
    const error = await failure(decodeImage(Buffer.from('hello')));
    expect(error).toMatchObject({ code: 'BAD_IMAGE', status: 400 });
    expect(error.message).toContain('68656c6c');
    expect(error.message).toContain('JPEG, PNG, WebP, GIF or TIFF');
    expect((await failure(decodeImage(new Uint8Array(0)))).message).toContain('0 bytes');
  });

  test.each([
    ['BMP', 'BM\x76\x7e\x05\0\0\0\0\0\x36\0\0\0'],
    ['HEIC', '\0\0\0\x18ftypheic\0\0\0\0mif1heic'],
    ['HEIC', '\0\0\0\x18ftypmif1\0\0\0\0mif1heic'],
    ['AVIF', '\0\0\0\x1cftypavif\0\0\0\0avifmif1'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['SVG', '\xef\xbb\xbf<?xml version="1.0"?>\n<!-- made by hand -->\n<svg\nwidth="1"/>'],
    ['PDF', '%PDF-1.7\n'],
    ['JPEG XL', '\xff\x0a\x7f\x82'],
    ['JPEG XL', '\0\0\0\x0cJXL \r\n\x87\n'],
    ['ICO', '\0\0\x01\0\x01\0\x10\x10'],
    ['PSD', '8BPS\0\x01'],
    ['BigTIFF', 'II+\0\x08\0\0\0'],
    ['none', '<html><svg></svg></html>'],
    ['none', 'BMW and others'],
    ['none', '\0\0\0\x18ftypisom'],
  ])('%s is named, and what to convert it to', async (format, start) => {
    const { message } = await failure(decodeImage(Buffer.from(start, 'latin1')));
    if (format === 'none') expect(message).toContain('are no image');
    else
      expect(message).toBe(`the image is ${format}, which is not read. Convert it to JPEG or PNG.`);
  });

  test('an image cut anywhere is BAD_IMAGE or decodes, never anything else', async () => {
    const picture = gradient(50, 40);
    const encoded = await Promise.all([
      picture.clone().jpeg().toBuffer(),
      picture.clone().jpeg({ progressive: true }).toBuffer(),
      picture.clone().png().toBuffer(),
      picture.clone().webp().toBuffer(),
      picture.clone().gif().toBuffer(),
      picture.clone().tiff().toBuffer(),
    ]);
    for (const bytes of encoded) {
      for (let cut = 0; cut < bytes.length - 2; cut += Math.ceil(bytes.length / 25)) {
        const outcome = await decodeImage(bytes.subarray(0, cut)).catch((error: unknown) => error);
        if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'BAD_IMAGE' });
      }
    }
  });

  test('half a JPEG is an error, not half a picture', async () => {
    const jpeg = await gradient(300, 300).jpeg().toBuffer();
    const error = await failure(decodeImage(jpeg.subarray(0, jpeg.length / 2)));
    expect(error).toMatchObject({ code: 'BAD_IMAGE' });
    expect(error.message).toContain('cut short');
  });

  test('bytes changed at random give a picture or BAD_IMAGE', async () => {
    const picture = gradient(32, 32);
    const originals = [
      await picture.clone().jpeg().toBuffer(),
      await picture.clone().png().toBuffer(),
      await picture.clone().webp().toBuffer(),
      await picture.clone().tiff().toBuffer(),
      await picture.clone().gif().toBuffer(),
    ];
    let seed = 1;
    const random = (limit: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % limit;
    };
    for (let round = 0; round < 300; round++) {
      const bytes = Buffer.from(originals[round % originals.length] as Buffer);
      for (let change = 0; change < 4; change++) bytes[random(bytes.length)] = random(256);
      const outcome = await decodeImage(bytes, { width: 8, height: 8, maxPixels: 1e6 }).catch(
        (error: unknown) => error,
      );
      if (outcome instanceof Error) {
        expect(['BAD_IMAGE', 'REQUEST_TOO_LARGE']).toContain((outcome as ServingError).code);
      }
    }
  });

  test.each(['jpeg', 'png', 'webp', 'gif', 'tiff'] as const)(
    'a %s bomb is refused by its header',
    async (format) => {
      const bytes = await plain(3000, 2000, 0, 0, 0)[format]().toBuffer();
      const error = await failure(decodeImage(bytes, { maxPixels: 1_000_000 }));
      expect(error).toMatchObject({ code: 'REQUEST_TOO_LARGE', status: 413 });
      expect(error.message).toContain('3000 x 2000');
      expect(error.message).toContain('At most 1000000 are decoded (maxPixels).');
    },
  );

  test('a JPEG of thousands of scans is refused', async () => {
    const jpeg = await gradient(16, 16).jpeg({ progressive: true }).toBuffer();
    const scan = jpeg.subarray(jpeg.indexOf(Buffer.from([0xff, 0xda])), -2);
    const bomb = Buffer.concat([jpeg.subarray(0, -2), ...new Array(500).fill(scan)]);
    expect((await failure(decodeImage(bomb))).message).toContain('scans');
  });
});

test('who gives no limit gets that of the container', async () => {
  const png = await plain(100, 100, 1, 2, 3).png().toBuffer();
  const before = imageLimits();
  setImageLimits({ ...DEFAULT_DECODE_LIMITS, maxImagePixels: 9_999 });
  try {
    expect(await failure(decodeImage(png))).toMatchObject({
      code: 'REQUEST_TOO_LARGE',
      message: expect.stringContaining('(SAGEMAKER_TFS_MAX_IMAGE_PIXELS)'),
    });
    await expect(decodeImage(png, { maxPixels: 10_000 })).resolves.toMatchObject({ width: 100 });
  } finally {
    setImageLimits(before);
  }
});

test.each(['gif', 'png', 'webp', 'tiff'] as const)(
  'a damaged %s that claims too many pixels is the fault of who sent it',
  async (format) => {
    const bytes = await gradient(64, 64)[format]().toBuffer();
    for (let at = 4; at < 60; at++) {
      const claim = Buffer.from(bytes.subarray(0, 70));
      claim.fill(0xff, at, at + 2);
      const outcome = await decodeImage(claim, { maxPixels: 5_000 }).catch(
        (error: unknown) => error,
      );
      if (outcome instanceof Error) {
        expect(['BAD_IMAGE', 'REQUEST_TOO_LARGE']).toContain((outcome as ServingError).code);
      }
    }
  },
);
