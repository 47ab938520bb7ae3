/** NumPy's fixed-width strings: `S` (bytes) and `U` (UTF-32 text), both padded with zeros. */
import { TensorError } from './errors.ts';
import type { StringTensor } from './tensor.ts';
import { dataViewOf, utf8DecodeStrict, utf8Encode } from './text.ts';

/** Every element takes the width of the longest; more bytes than this in all are refused. */
const MAX_BYTES = 1024 ** 3;

/** The values of `count` elements of `width` bytes (`S`), without their trailing zeros, as views. */
export function readByteStrings(data: Uint8Array, count: number, width: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => {
    let end = (i + 1) * width;
    while (end > i * width && data[end - 1] === 0) end--;
    return data.subarray(i * width, end);
  });
}

/**
 * The values of `count` elements of `width` code points (`U`), as UTF-8.
 * @throws TensorError MALFORMED for a number that is no code point
 */
export function readTextStrings(
  data: Uint8Array,
  count: number,
  width: number,
  littleEndian: boolean,
): Uint8Array[] {
  const view = dataViewOf(data);
  return Array.from({ length: count }, (_, i) => {
    const points: number[] = [];
    for (let at = i * width; at < (i + 1) * width; at++) {
      const point = view.getUint32(at * 4, littleEndian);
      if (point > 0x10ffff) {
        throw new TensorError(
          'MALFORMED',
          `.npy element ${i} has ${point}, which is no code point`,
        );
      }
      points.push(point);
    }
    while (points.at(-1) === 0) points.pop();
    return utf8Encode(points.map((point) => String.fromCodePoint(point)).join(''));
  });
}

/**
 * The tensor's values as `U` where all are UTF-8 text, else as `S`.
 * @throws TensorError VALUE_OUT_OF_RANGE for a value that ends in a zero byte, which NumPy would lose;
 *   TOO_LARGE where padding to the longest value would take more than 1 GiB
 */
export function writeStrings(tensor: StringTensor): { descr: string; data: Uint8Array } {
  const zero = tensor.values.findIndex((value) => value.at(-1) === 0);
  if (zero >= 0) {
    throw new TensorError(
      'VALUE_OUT_OF_RANGE',
      `value ${zero} ends in a zero byte, which .npy strings cannot hold: ask for JSON instead`,
    );
  }
  const texts: string[] = [];
  for (const value of tensor.values) {
    const text = utf8DecodeStrict(value);
    if (text === undefined) return writeByteStrings(tensor.values);
    texts.push(text);
  }
  return writeTextStrings(texts);
}

function writeByteStrings(values: readonly Uint8Array[]): { descr: string; data: Uint8Array } {
  const width = values.reduce((most, value) => Math.max(most, value.byteLength), 1);
  const data = paddedBytes(values.length, width);
  for (const [i, value] of values.entries()) data.set(value, i * width);
  return { descr: `|S${width}`, data };
}

function writeTextStrings(texts: readonly string[]): { descr: string; data: Uint8Array } {
  const points = texts.map((text) => Array.from(text, (char) => char.codePointAt(0) as number));
  const width = points.reduce((most, list) => Math.max(most, list.length), 1);
  const data = paddedBytes(texts.length, width * 4);
  const view = dataViewOf(data);
  for (const [i, list] of points.entries()) {
    for (const [k, point] of list.entries()) view.setUint32((i * width + k) * 4, point, true);
  }
  return { descr: `<U${width}`, data };
}

function paddedBytes(count: number, width: number): Uint8Array {
  if (count * width > MAX_BYTES) {
    throw new TensorError(
      'TOO_LARGE',
      `${count} strings padded to ${width} bytes each are too large for .npy: ask for JSON instead`,
    );
  }
  return new Uint8Array(count * width);
}
