/** NumPy's fixed-width strings: `S` (bytes) and `U` (UTF-32 text), both padded with zeros. */
import { TensorError } from './errors.ts';
import { pauseAfter, type Steps } from './steps.ts';
import type { StringTensor } from './tensor.ts';
import { dataViewOf, utf8Decode, utf8DecodeStrict, utf8Encode } from './text.ts';
import { utf8Parts } from './utf8-parts.ts';

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
          `.npy element ${i} has ${point}, which is no code point.`,
        );
      }
      points.push(point);
    }
    while (points.at(-1) === 0) points.pop();
    return utf8Encode(points.map((point) => String.fromCodePoint(point)).join(''));
  });
}

/** What was found of the values before any is written. */
interface Look {
  /** Code points of the longest value, at least 1; of no meaning without `isText`. */
  readonly points: number;
  /** Bytes of the longest value, at least 1. */
  readonly bytes: number;
  /** Whether all values are UTF-8. */
  readonly isText: boolean;
}

/** Bytes looked at, or elements written, between two pauses; a value counts some more. */
const STEP_WORK = 2 ** 18;
const VALUE_WORK = 64;

/**
 * The tensor's values as `U` where all are UTF-8 text, else as `S`; many or long values in steps.
 * @throws TensorError VALUE_OUT_OF_RANGE for a value that ends in a zero byte, which NumPy would lose;
 *   TOO_LARGE where padding to the longest value would take more than 1 GiB
 */
export function* writeStrings({
  values,
}: StringTensor): Steps<{ readonly descr: string; readonly data: Uint8Array }> {
  const { points, bytes, isText } = yield* lookAt(values);
  if (!isText) {
    const data = paddedBytes(values.length, bytes);
    yield* writeByteStrings(values, bytes, data);
    return { descr: `|S${bytes}`, data };
  }
  const data = paddedBytes(values.length, points * 4);
  yield* writeTextStrings(values, points, dataViewOf(data));
  return { descr: `<U${points}`, data };
}

function* lookAt(values: readonly Uint8Array[]): Steps<Look> {
  let [most, bytes] = [1, 1];
  let isText = true;
  const isDue = pauseAfter(STEP_WORK);
  for (const [index, value] of values.entries()) {
    const length = value.byteLength;
    if (length > 0 && value[length - 1] === 0) throw endsInZero(index);
    bytes = Math.max(bytes, length);
    if (isDue(VALUE_WORK)) yield;
    let points = 0;
    for (const part of partsOf(value)) {
      if (!isText) break;
      if (isAscii(part)) points += part.byteLength;
      else {
        isText = utf8DecodeStrict(part) !== undefined;
        points += codePoints(part);
      }
      if (isDue(part.byteLength)) yield;
    }
    most = Math.max(most, points);
  }
  return { points: most, bytes, isText };
}

/** Values of usual length are one part, without more ado. */
function partsOf(value: Uint8Array): Iterable<Uint8Array> {
  return value.byteLength <= STEP_WORK ? [value] : utf8Parts(value, STEP_WORK);
}

function isAscii(value: Uint8Array): boolean {
  for (let at = 0; at < value.byteLength; at++) if ((value[at] as number) > 0x7f) return false;
  return true;
}

/** Of UTF-8: all bytes but those that continue a code point. */
function codePoints(value: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < value.byteLength; at++) {
    if (((value[at] as number) & 0xc0) !== 0x80) count++;
  }
  return count;
}

function* writeByteStrings(
  values: readonly Uint8Array[],
  width: number,
  data: Uint8Array,
): Steps<void> {
  const isDue = pauseAfter(STEP_WORK);
  for (const [index, value] of values.entries()) {
    data.set(value, index * width);
    if (isDue(VALUE_WORK)) yield;
  }
}

function* writeTextStrings(
  values: readonly Uint8Array[],
  width: number,
  view: DataView,
): Steps<void> {
  const isDue = pauseAfter(STEP_WORK);
  for (const [index, value] of values.entries()) {
    let at = index * width * 4;
    if (isDue(VALUE_WORK)) yield;
    for (const part of partsOf(value)) {
      at = writePart(part, view, at);
      if (isDue(part.byteLength)) yield;
    }
  }
}

/** Writes the code points of UTF-8; returns where the next one goes. */
function writePart(part: Uint8Array, view: DataView, start: number): number {
  let at = start;
  if (isAscii(part)) {
    for (let k = 0; k < part.byteLength; k++, at += 4) view.setUint32(at, part[k] as number, true);
    return at;
  }
  for (const char of utf8Decode(part)) {
    view.setUint32(at, char.codePointAt(0) as number, true);
    at += 4;
  }
  return at;
}

function endsInZero(index: number): TensorError {
  return new TensorError(
    'VALUE_OUT_OF_RANGE',
    `value ${index} ends in a zero byte, which .npy strings cannot hold. Ask for JSON instead.`,
  );
}

function paddedBytes(count: number, width: number): Uint8Array {
  if (count * width > MAX_BYTES) {
    throw new TensorError(
      'TOO_LARGE',
      `${count} strings padded to ${width} bytes each are too large for .npy. Ask for JSON instead.`,
    );
  }
  return new Uint8Array(count * width);
}
