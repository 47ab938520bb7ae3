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
interface Plane {
  readonly rows: number;
  readonly columns: number;
  /** Index of its first element. */
  readonly start: number;
  /** Elements from one column to the next. */
  readonly step: number;
}

/** How many planes the tensor has, and one of them: the last two dimensions, channels last left out. */
export function planeOf(shape: readonly number[], index: number): { count: number; plane: Plane } {
  const sizes = [...shape];
  const last = sizes.at(-1) ?? 1;
  // Pictures: channels are the last dimension and the planes lie within one another.
  if (sizes.length >= 3 && last <= 4) {
    const [rows = 1, columns = 1] = sizes.slice(-3, -1);
    const outer = sizes.slice(0, -3).reduce((a, b) => a * b, 1);
    const image = Math.floor(index / last);
    const start = image * rows * columns * last + (index % last);
    return { count: outer * last, plane: { rows, columns, start, step: last } };
  }
  const rows = sizes.length >= 2 ? (sizes.at(-2) as number) : 1;
  const count = sizes.slice(0, -2).reduce((a, b) => a * b, 1);
  return { count, plane: { rows, columns: last, start: index * rows * last, step: 1 } };
}

/** Four significant digits, whole numbers whole. */
export function figure(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e15
    ? String(value)
    : String(Number(value.toPrecision(4)));
}
