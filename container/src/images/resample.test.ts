import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { placePicture } from '@sagemaker-tfs/tensors/placement';
import { type Interpolation, type Pixels, resample } from './resample.ts';
import { largestDifference } from './test-pictures.ts';

/** Made by fixtures/make_goldens.py. */
const goldens = JSON.parse(
  readFileSync(join(__dirname, 'fixtures', 'tensorflow-goldens.json'), 'utf8'),
) as {
  picture: { height: number; width: number; pixels: number[] };
  cases: {
    method: Interpolation['interpolation'];
    antialias: boolean;
    height: number;
    width: number;
    pixels: number[];
  }[];
  contain: { height: number; width: number; padding: number; pixels: number[] };
};

const picture: Pixels = {
  ...goldens.picture,
  data: Uint8Array.from(goldens.picture.pixels),
  channels: 3,
};

function blank(width: number, height: number, channels = 3): Pixels {
  return { data: new Uint8Array(width * height * channels), width, height, channels };
}

const FILTERS: Interpolation[] = [
  { interpolation: 'bilinear', antialias: true },
  { interpolation: 'bicubic', antialias: false },
  { interpolation: 'bicubic', antialias: true },
  { interpolation: 'lanczos3', antialias: false },
  { interpolation: 'lanczos3', antialias: true },
];
const BILINEAR: Interpolation = { interpolation: 'bilinear', antialias: false };

describe('resample', () => {
  test.each(goldens.cases)(
    "$method (antialias: $antialias) to $width x $height gives TensorFlow's pixels",
    ({ method, antialias, width, height, pixels }) => {
      const frame = blank(width, height);
      const how = { interpolation: method, antialias };
      resample(picture, frame, placePicture(picture, frame, 'stretch'), how);
      // Sums of float32 in another order: what lies halfway between two levels may go to either.
      const exact = method === 'nearest' || (method === 'bilinear' && !antialias);
      expect(largestDifference(frame.data, Uint8Array.from(pixels))).toBeLessThanOrEqual(
        exact ? 0 : 1,
      );
      const different = frame.data.filter((value, at) => value !== pixels[at]).length;
      expect(different / pixels.length).toBeLessThan(0.03);
    },
  );

  test.each(FILTERS)('%p enlarges a ramp to a ramp, with no shift', (how) => {
    const ramp = blank(64, 1, 1);
    for (let at = 0; at < 64; at++) ramp.data[at] = 4 * at;
    const frame = blank(128, 1, 1);
    resample(ramp, frame, placePicture(ramp, frame, 'stretch'), how);
    // As `tf.image.resize` and Pillow: target pixel x lies at (x + 0.5) / 2 - 0.5, not half a pixel beside it.
    expect(Array.from(frame.data.subarray(60, 64))).toEqual([119, 121, 123, 125]);
  });

  test.each(FILTERS)('%p in bands gives what it gives at once', (how) => {
    const tall = blank(301, 1500);
    for (let at = 0; at < tall.data.length; at++) tall.data[at] = (at * 7919) % 251;
    // More than 1 MiB in three channels: several bands; each channel alone is one.
    const frame = blank(97, 83);
    resample(tall, frame, placePicture(tall, frame, 'stretch'), how);
    for (const channel of [0, 1, 2]) {
      const ofChannel = (_: number, at: number) => at % 3 === channel;
      const gray = { ...tall, channels: 1, data: tall.data.filter(ofChannel) };
      const single = blank(97, 83, 1);
      resample(gray, single, placePicture(gray, single, 'stretch'), how);
      expect(largestDifference(single.data, frame.data.filter(ofChannel))).toBe(0);
    }
  });

  test.each(FILTERS)('%p sees nothing of what `cover` cuts off', (how) => {
    const wide = blank(90, 40);
    for (let at = 0; at < wide.data.length; at++) wide.data[at] = (at * 7919) % 251;
    for (const side of [17, 40, 67]) {
      const frame = blank(side, side);
      const placement = placePicture(wide, frame, 'cover');
      resample(wide, frame, placement, how);
      const cut = blank(40, 40);
      resample(wide, cut, { ...placement, target: { x: 0, y: 0, width: 40, height: 40 } }, how);
      const expected = blank(side, side);
      resample(cut, expected, placePicture(cut, expected, 'stretch'), how);
      expect(largestDifference(frame.data, expected.data)).toBe(0);
    }
  });

  test('contain gives the pixels of tf.image.resize_with_pad', () => {
    const frame = blank(goldens.contain.width, goldens.contain.height);
    resample(picture, frame, placePicture(picture, frame, 'contain'), BILINEAR);
    expect(Array.from(frame.data)).toEqual(goldens.contain.pixels);
  });

  test('gray pixels are resized as each channel of color ones', () => {
    const gray = { ...picture, channels: 1, data: picture.data.filter((_, at) => at % 3 === 1) };
    const color = blank(7, 5);
    const single = blank(7, 5, 1);
    resample(picture, color, placePicture(picture, color, 'stretch'), BILINEAR);
    resample(gray, single, placePicture(gray, single, 'stretch'), BILINEAR);
    expect(single.data).toEqual(color.data.filter((_, at) => at % 3 === 1));
  });

  test('a row wider than the kept memory is resized too', () => {
    const wide = blank(3_000_000, 1, 1);
    wide.data.fill(77);
    const frame = blank(10, 3, 1);
    resample(wide, frame, placePicture(wide, frame, 'stretch'), BILINEAR);
    expect(Array.from(frame.data)).toEqual(new Array(30).fill(77));
  });
});
