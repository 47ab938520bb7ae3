/** Figures of a tensor for a look at it. */
import type { TypedTensor } from '@sagemaker-tfs/client';

/** Counts of values in equal ranges from min to max. */
export interface Statistics {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  /** Values that are NaN or infinite; they are in none of the other figures. */
  readonly notFinite: number;
  readonly histogram: readonly number[];
}

const BINS = 32;

/** Undefined for strings and for a tensor without a finite value. */
export function statisticsOf({ dtype, data }: TypedTensor): Statistics | undefined {
  if (dtype === 'string') return undefined;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let sum = 0;
  let finite = 0;
  for (const element of data) {
    const value = Number(element);
    if (!Number.isFinite(value)) continue;
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
    finite += 1;
  }
  if (finite === 0) return undefined;
  const histogram: number[] = new Array(BINS).fill(0);
  const width = max - min || 1;
  for (const element of data) {
    const value = Number(element);
    if (!Number.isFinite(value)) continue;
    const bin = Math.min(BINS - 1, Math.floor(((value - min) / width) * BINS));
    histogram[bin] = (histogram[bin] ?? 0) + 1;
  }
  return { min, max, mean: sum / finite, notFinite: data.length - finite, histogram };
}

/** A slice of two dimensions. */
export interface Plane {
  readonly rows: number;
  readonly columns: number;
  /** Index of its first element. */
  readonly start: number;
  /** Elements from one column to the next. */
  readonly step: number;
}

/** Rows and columns of a picture, at least: less is read in numbers. */
const SIDE = 8;
/** Elements of a plane beyond which none is drawn. */
const MAX_PLANE = 4_000_000;

/** How many planes the tensor has, and one of them; undefined if they are no pictures. Channels may be last. */
export function planeOf(
  shape: readonly number[],
  index: number,
): { count: number; plane: Plane } | undefined {
  const last = shape.at(-1) ?? 1;
  // Channels that are last: the planes lie within one another.
  const step = shape.length > 2 && last <= 4 ? last : 1;
  const sizes = step > 1 || last === 1 ? shape.slice(0, -1) : shape;
  const [rows = 1, columns = 1] = sizes.slice(-2);
  if (sizes.length < 2 || rows < SIDE || columns < SIDE) return undefined;
  if (rows * columns > MAX_PLANE) return undefined;
  const outer = sizes.slice(0, -2).reduce((a, b) => a * b, 1);
  const start = Math.floor(index / step) * rows * columns * step + (index % step);
  return { count: outer * step, plane: { rows, columns, start, step } };
}

/** Channels of pictures as bytes, with or without a batch: 3 for colors, 1 for gray and masks. Undefined for other tensors. */
export function channelsOf({
  dtype,
  shape,
}: Pick<TypedTensor, 'dtype' | 'shape'>): 1 | 3 | undefined {
  const last = shape.at(-1);
  if (dtype !== 'uint8' || shape.length > 4 || !planeOf(shape, 0)) return undefined;
  if (last === 3 && shape.length > 2) return 3;
  return last === 1 || (shape.length < 4 && (last ?? 0) >= SIDE) ? 1 : undefined;
}

/** Values of a row, at most, for rows that are read one below the other. */
const WIDE = 16;

/** Indices of the first rows of the last dimension, `2` or `0, 2`; undefined if its values are better read in one line. */
export function rowsOf(shape: readonly number[], most: number): string[] | undefined {
  const outer = shape.slice(0, -1);
  const count = outer.reduce((a, b) => a * b, 1);
  const width = shape.at(-1) ?? 1;
  if (count < 2 || width < 2 || width > WIDE) return undefined;
  return Array.from({ length: Math.min(count, most) }, (_, row) => {
    let rest = row;
    const places = outer.map(() => 0);
    for (let at = outer.length - 1; at >= 0; at--) {
      const size = outer[at] as number;
      places[at] = rest % size;
      rest = Math.floor(rest / size);
    }
    return places.filter((_, at) => outer[at] !== 1).join(', ');
  });
}

/** Four significant digits, whole numbers whole. */
export function figure(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e15
    ? String(value)
    : String(Number(value.toPrecision(4)));
}
