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

const { fround } = Math;

/** A block of the kernel and a part of one. */
const data = Uint8Array.from({ length: 4_500 * 3 }, (_, at) => (at * 31 + (at >> 8)) % 256);

describe.each(DTYPE_NAMES)('%s', (dtype) => {
  const isFloat = dtype.includes('float');
  const scale = isFloat ? [1 / 127.5, 0.3, -2] : [0.25, 0.5, 0.1];
  const offset = isFloat ? [-1, 0.7, 3] : [0, 1, 2];
  const expected = Array.from(data, (pixel, at) => {
    const [factor, term] = [scale[at % 3] as number, offset[at % 3] as number];
    if (dtype === 'float32') return fround(fround(pixel * fround(factor)) + fround(term));
    const value = pixel * factor + term;
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

const three = (scale: number, offset: number) => ({
  scale: [scale, scale, scale],
  offset: [offset, offset, offset],
});
const normalized = (mean: number[], std: number[]) => ({
  ...three(1 / 255, 0),
  normalized: { mean, std },
});

/** Of 0, 1, ... 255: the sum of the bits, each times its index + 1, modulo 2^32, which NumPy and Keras have computed. */
test.each<[string, Partial<PixelsInput>, string]>([
  ['Rescaling(1/255)', three(1 / 255, 0), 'dc7d91f1'],
  ['Rescaling(1/127.5, -1)', three(1 / 127.5, -1), 'c306814e'],
  ['preprocess_input, torch', normalized([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]), '3f64bbba'],
  [
    'preprocess_input, caffe',
    { scale: [1, 1, 1], offset: [-123.68, -116.779, -103.939] },
    'c5f4a486',
  ],
])('%s: float32 to the bit as Keras has it', (_, changes, sum) => {
  const pixels = Uint8Array.from({ length: 256 * 3 }, (_, at) => at / 3);
  const out = new Float32Array(pixels.length);
  pixelEncoder(pixelsOf({ dtype: 'float32', ...changes })).write(
    pixels,
    new Uint8Array(out.buffer),
  );
  const bits = new Uint32Array(out.buffer);
  expect(bits.reduce((all, one, at) => (all + Math.imul(one, at + 1)) >>> 0, 0).toString(16)).toBe(
    sum,
  );
});
