/**
 * Which source pixels make a target pixel, and with what weights, along one axis: the definitions of
 * `tf.image.resize` (TensorFlow 2), with and without `antialias`.
 *
 * Without `antialias`, `bicubic` is the kernel of ResizeBicubic (Keys, a = -0.5, whose table has 1,024 steps) and
 * `lanczos3` that of ScaleAndTranslate at its own width. With it, both and `bilinear` (a triangle) are as wide as
 * the target pixel where the picture shrinks, which is what Pillow's filters do too. `area` averages what a target
 * pixel covers; `antialias` does not change it.
 */

/** Filters that take any number of source pixels. */
export type Filter = 'bilinear' | 'bicubic' | 'lanczos3' | 'area';

/** The part of an axis of the picture that becomes an axis of the target. */
interface Axis {
  /** The first source pixel that the target shows. */
  readonly start: number;
  /** Source pixels that the target shows; no others count. */
  readonly length: number;
  /** Target pixels. */
  readonly count: number;
}

/** The source pixels of every target pixel: `taps` from `first` on, each with its weight. */
export interface Weights {
  readonly taps: number;
  /** The first source pixel of each target pixel; `first + taps` never lies beyond those that are shown. */
  readonly first: Uint32Array;
  /** `taps` weights for each target pixel, one after another. */
  readonly weights: Float32Array;
}

/** Source pixels of a target pixel, counted from the first that is shown. */
interface Span {
  first: number;
  readonly weights: number[];
}

/** The weights of a filter along an axis. */
export function filterWeights(filter: Filter, antialias: boolean, axis: Axis): Weights {
  const { start, length, count } = axis;
  const span = spanOf(filter, antialias, axis);
  const spans = Array.from({ length: count }, (_, index) => span(index));
  const taps = spans.reduce((most, { weights }) => Math.max(most, weights.length), 1);
  const first = new Uint32Array(count);
  const weights = new Float32Array(count * taps);
  for (const [index, span] of spans.entries()) {
    // All take as many pixels; those that a target pixel does not need weigh nothing.
    const from = Math.min(span.first, length - taps);
    first[index] = start + from;
    weights.set(span.weights, index * taps + span.first - from);
  }
  return { taps, first, weights };
}

function spanOf(filter: Filter, antialias: boolean, axis: Axis): (index: number) => Span {
  if (filter === 'area') return (index) => areaSpan(axis, index);
  if (filter === 'bicubic' && !antialias) return (index) => cubicSpan(axis, index);
  const step = stepOf(axis);
  const width = antialias ? Math.max(1, step) : 1;
  return (index) => kernelSpan(KERNELS[filter], width, step, axis, index);
}

interface Kernel {
  readonly radius: number;
  /** The weight at a distance of 0 to `radius`. */
  at(distance: number): number;
}

const KERNELS: Readonly<Record<Exclude<Filter, 'area'>, Kernel>> = {
  bilinear: { radius: 1, at: (x) => Math.max(0, 1 - x) },
  bicubic: { radius: 2, at: keys },
  lanczos3: { radius: 3, at: lanczos3 },
};

/** Keys' cubic with a = -0.5 (Catmull-Rom). */
function keys(x: number): number {
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1;
}

function lanczos3(x: number): number {
  if (x > 3) return 0;
  if (x <= 1e-3) return 1;
  const angle = Math.PI * x;
  return (3 * Math.sin(angle) * Math.sin(angle / 3)) / (angle * angle);
}

/** Source pixels for a target pixel. Positions are float32 throughout, as TensorFlow's. */
function stepOf({ length, count }: Axis): number {
  return Math.fround(1 / Math.fround(count / length));
}

/** ScaleAndTranslate: the kernel, `width` times as wide, around the target pixel's center. */
function kernelSpan(kernel: Kernel, width: number, step: number, axis: Axis, index: number): Span {
  const center = Math.fround((index + 0.5) * step);
  const reach = kernel.radius * width;
  const from = Math.max(0, Math.ceil(Math.fround(center - reach - 0.5)));
  const to = Math.min(axis.length - 1, Math.floor(Math.fround(center + reach - 0.5)));
  const weights: number[] = [];
  for (let at = from; at <= to; at++) {
    weights.push(kernel.at(Math.abs(at + 0.5 - center) / width));
  }
  return { first: from, weights: normalized(weights) };
}

/** Steps between two pixels for which ResizeBicubic knows weights. */
const CUBIC_STEPS = 1024;

/** ResizeBicubic: four pixels, those outside the picture without weight. */
function cubicSpan({ length, count }: Axis, index: number): Span {
  const step = Math.fround(length / count);
  const position = Math.fround(Math.fround((index + 0.5) * step) - 0.5);
  const floor = Math.floor(position);
  const along = roundHalfEven((position - floor) * CUBIC_STEPS) / CUBIC_STEPS;
  const from = Math.max(0, floor - 1);
  const to = Math.min(length - 1, floor + 2);
  const weights: number[] = [];
  for (let at = from; at <= to; at++) weights.push(keys(Math.abs(at - floor - along)));
  return { first: from, weights: normalized(weights) };
}

function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** ResizeArea: every source pixel by the part of it that the target pixel covers. */
function areaSpan({ length, count }: Axis, index: number): Span {
  const step = Math.fround(length / count);
  const low = Math.fround(index * step);
  const high = Math.fround((index + 1) * step);
  const from = Math.min(length - 1, Math.floor(low));
  const to = Math.min(length, Math.max(from + 1, Math.ceil(high)));
  const weights: number[] = [];
  for (let at = from; at < to; at++) {
    weights.push((Math.min(at + 1, high) - Math.max(at, low)) / step);
  }
  return { first: from, weights };
}

function normalized(weights: readonly number[]): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
