import type { PixelsInput } from '@sagemaker-tfs/manifest';
import { DTYPES, tensorFromValues } from '@sagemaker-tfs/tensors';
import { pixelEncoder } from './pixel-encoder.ts';
import { pixelsOf } from './test-pictures.ts';

const DTYPE_NAMES = [
  'float32',
  'float64',
  'float16',
  'bfloat16',
  'uint8',
  'uint16',
  'uint32',
  'int16',
  'int32',
  'int64',
] as const;

/** A block of the kernel and a part of one. */
const data = Uint8Array.from({ length: 4_500 * 3 }, (_, at) => (at * 31 + (at >> 8)) % 256);

describe.each(DTYPE_NAMES)('%s', (dtype) => {
  const isFloat = dtype.includes('float');
  const scale = isFloat ? [1 / 127.5, 0.3, -2] : [0.25, 0.5, 0.1];
  const offset = isFloat ? [-1, 0.7, 3] : [0, 1, 2];
  const expected = Array.from(data, (pixel, at) => {
    const value = pixel * (scale[at % 3] as number) + (offset[at % 3] as number);
    return isFloat ? value : Math.round(value);
  });

  /** The index of the first byte that is not as expected, -1 where all are. */
  function firstDifference(input: PixelsInput, pixels: Uint8Array, values: number[]): number {
    const out = new Uint8Array(pixels.length * DTYPES[dtype].size);
    pixelEncoder(input).write(pixels, out);
    const wanted = tensorFromValues(dtype, [values.length], values);
    return out.findIndex((byte, at) => wanted.dtype === 'string' || byte !== wanted.bytes[at]);
  }

  test('interleaved channels, each with its own scale and offset', () => {
    expect(firstDifference(pixelsOf({ dtype, scale, offset }), data, expected)).toBe(-1);
  });

  test('unscaled, at any offset of memory', () => {
    const input = pixelsOf({ dtype });
    const { size } = DTYPES[dtype];
    for (const at of [0, 1]) {
      const out = new Uint8Array(data.length * size + at).subarray(at);
      pixelEncoder(input).write(data, out);
      const wanted = tensorFromValues(dtype, [data.length], Array.from(data));
      expect(wanted.dtype !== 'string' && Buffer.from(out).equals(wanted.bytes)).toBe(true);
    }
  });

  test('planar channels', () => {
    const planes = [0, 1, 2].flatMap((channel) => expected.filter((_, at) => at % 3 === channel));
    const input = pixelsOf({ dtype, scale, offset, layout: 'NCHW' });
    expect(firstDifference(input, data, planes)).toBe(-1);
  });

  test('gray, of a length that three does not divide', () => {
    const gray = data.subarray(0, 4097);
    const values = Array.from(gray, (pixel) => (isFloat ? pixel * 0.5 + 1 : Math.round(pixel / 2)));
    const input = pixelsOf({ dtype, channels: 'gray', scale: [0.5], offset: [isFloat ? 1 : 0] });
    expect(firstDifference(input, gray, values)).toBe(-1);
  });
});

test('pixels that are the elements already need no writing', () => {
  expect(pixelEncoder(pixelsOf({ dtype: 'uint8' })).isIdentity).toBe(true);
  expect(pixelEncoder(pixelsOf({ dtype: 'uint8', layout: 'NCHW' })).isIdentity).toBe(false);
  expect(pixelEncoder(pixelsOf({ dtype: 'float32' })).isIdentity).toBe(false);
});
