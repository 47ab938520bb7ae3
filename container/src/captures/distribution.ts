/** Distributions of values: made once as a baseline, counted again later, compared by their population stability. */
import * as z from 'zod';
import type { Value } from './values.ts';

/** Bins of numbers, and categories with a bin of their own. */
const BINS = 10;
const MAX_CATEGORIES = 50;

const counts = z.array(z.int().min(0));
const numbers = z.strictObject({
  kind: z.literal('numbers'),
  /** Upper edges of all bins but the last, ascending; a value that is an edge is below it. */
  edges: z.array(z.number()),
  /** One more than edges. */
  counts,
  missing: z.int().min(0),
  mean: z.number(),
});
const categories = z.strictObject({
  kind: z.literal('categories'),
  names: z.array(z.string()),
  /** One more than names: the last is of all other categories. */
  counts,
  missing: z.int().min(0),
});

/** Schema of one distribution. */
export const distributionSchema = z
  .discriminatedUnion('kind', [numbers, categories])
  .refine(
    (one) => one.counts.length === (one.kind === 'numbers' ? one.edges : one.names).length + 1,
    'counts do not fit the bins',
  );
export type Distribution = z.output<typeof distributionSchema>;

/** The distribution of values: tenths of the numbers, or the most frequent categories if any value is a text. */
export function distributionOf(values: readonly Value[]): Distribution {
  const texts = values.some((value) => typeof value === 'string');
  const empty = texts ? categoriesOf(values) : binsOf(values as readonly number[]);
  return countedIn(empty, values);
}

/** The same bins, with the counts of other values. */
export function countedIn(bins: Distribution, values: readonly Value[]): Distribution {
  const counted = new Array<number>(bins.counts.length).fill(0);
  let missing = 0;
  const place = placeIn(bins);
  for (const value of values) {
    if (typeof value === 'number' && Number.isNaN(value)) missing++;
    else {
      const at = place(value);
      counted[at] = (counted[at] ?? 0) + 1;
    }
  }
  if (bins.kind === 'categories') return { ...bins, counts: counted, missing };
  return { ...bins, counts: counted, missing, mean: meanOf(values) };
}

/** Of the finite numbers. Divided before they are added: the sum of large ones is no number of JSON. */
function meanOf(values: readonly Value[]): number {
  const finite = values.filter((value) => Number.isFinite(value)) as readonly number[];
  return finite.reduce((sum, value) => sum + value / finite.length, 0);
}

function placeIn(bins: Distribution): (value: Value) => number {
  if (bins.kind === 'categories') {
    const places = new Map(bins.names.map((name, i) => [name, i]));
    return (value) => places.get(String(value)) ?? bins.names.length;
  }
  const { edges } = bins;
  return (value) => {
    // A text where numbers were expected lies beyond all of them.
    const number = typeof value === 'number' ? value : Number.POSITIVE_INFINITY;
    const at = edges.findIndex((edge) => number <= edge);
    return at < 0 ? edges.length : at;
  };
}

function binsOf(values: readonly number[]): Distribution {
  const sorted = Float64Array.from(values.filter((value) => !Number.isNaN(value))).sort();
  const quantiles = Array.from({ length: BINS - 1 }, (_, i) => quantile(sorted, (i + 1) / BINS));
  const edges = [...new Set(quantiles.flatMap((value) => edgesAt(value, quantiles)))];
  return {
    kind: 'numbers',
    edges,
    counts: new Array(edges.length + 1).fill(0),
    missing: 0,
    mean: 0,
  };
}

/**
 * A value that several tenths end at has a bin of its own: if it shared one with what is below it, a feature that falls
 * from its maximum to anything else would look the same.
 */
function edgesAt(value: number, quantiles: readonly number[]): number[] {
  if (Number.isNaN(value)) return [];
  if (!Number.isFinite(value)) return [Math.sign(value) * Number.MAX_VALUE];
  const tenths = quantiles.filter((other) => other === value).length;
  return tenths > 1 ? [below(value), value] : [value];
}

/** The greatest float64 that is less. */
function below(value: number): number {
  if (value === 0) return -Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) - (value > 0 ? 1n : -1n));
  return view.getFloat64(0);
}

/** As NumPy's `inverted_cdf`: a value that is there. */
function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

function categoriesOf(values: readonly Value[]): Distribution {
  const frequency = new Map<string, number>();
  for (const value of values) {
    if (typeof value === 'number' && Number.isNaN(value)) continue;
    frequency.set(String(value), (frequency.get(String(value)) ?? 0) + 1);
  }
  const names = [...frequency]
    .sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
    .slice(0, MAX_CATEGORIES)
    .map(([name]) => name);
  return { kind: 'categories', names, counts: new Array(names.length + 1).fill(0), missing: 0 };
}

/** How far two distributions over the same bins are apart. */
interface Stability {
  /** Population stability index: 0 is equal; by custom 0.1 is a small shift, 0.25 a large one. */
  readonly index: number;
  /** What 19 of 20 comparisons of two samples of this size stay below if nothing has changed. */
  readonly noise: number;
  readonly baselineCount: number;
  readonly count: number;
}

/** Half a value is added to every bin, so that an empty one is no infinity. */
const SMOOTHING = 0.5;

/** Compares two countings of the same bins; missing values are a bin too. */
export function stabilityOf(baseline: Distribution, now: Distribution): Stability {
  const before = [...baseline.counts, baseline.missing];
  const after = [...now.counts, now.missing];
  // A bin that neither has is none.
  const used = before.flatMap((count, i) => (count + (after[i] ?? 0) > 0 ? [i] : []));
  const total = (list: readonly number[]) => used.reduce((sum, i) => sum + (list[i] ?? 0), 0);
  const baselineCount = total(before);
  const count = total(after);
  const share = (list: readonly number[], i: number, all: number) =>
    ((list[i] ?? 0) + SMOOTHING) / (all + SMOOTHING * used.length);
  const index = used.reduce((sum, i) => {
    const p = share(before, i, baselineCount);
    const q = share(after, i, count);
    return sum + (q - p) * Math.log(q / p);
  }, 0);
  if (baselineCount === 0 || count === 0) return { index: 0, noise: 0, baselineCount, count };
  const noise = chiSquared95(used.length - 1) * (1 / baselineCount + 1 / count);
  return { index, noise, baselineCount, count };
}

/** 95th percentile of chi-squared, by Wilson and Hilferty's approximation (within 4% for one degree of freedom, 1% from two on). */
function chiSquared95(degrees: number): number {
  if (degrees <= 0) return 0;
  const part = 2 / (9 * degrees);
  return degrees * (1 - part + 1.6449 * Math.sqrt(part)) ** 3;
}
