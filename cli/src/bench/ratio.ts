/** The interval of a ratio between two series of latencies, by a bootstrap of blocks. */
import { uniform } from './random.ts';

/** In which a value lies with 95% confidence. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** What is taken of each series. */
export type Statistic = 'mean' | 'p50' | 'p95';

const RESAMPLES = 1_000;
/** Blocks of a series. Requests near each other are alike, so whole blocks of neighbors are drawn, not single requests. */
const BLOCKS = 20;
/** Left out on either side. */
const TAIL = 0.025;
/** Places in which values are counted by their rank. Up to this many requests, a percentile is exact. */
const PLACES = 4_096;

/**
 * The ratio of `after` to `before`, resampled; the same for the same series. Changes of the machine from one run to the
 * next are not in it.
 */
export function ratioOf(
  statistic: Statistic,
  before: readonly number[],
  after: readonly number[],
): Interval {
  const random = uniform(1);
  const draw = { before: resampler(statistic, before), after: resampler(statistic, after) };
  const ratios = Float64Array.from(
    { length: RESAMPLES },
    () => draw.after(random) / draw.before(random),
  ).sort();
  const at = (share: number) => ratios[Math.round(share * (RESAMPLES - 1))] as number;
  return { low: at(TAIL), high: at(1 - TAIL) };
}

/** Returns the statistic of blocks drawn with replacement, another at each call. */
function resampler(
  statistic: Statistic,
  series: readonly number[],
): (random: () => number) => number {
  const indices = new Uint32Array(series.length);
  const meanOf = () => {
    let sum = 0;
    for (const at of indices) sum += series[at] as number;
    return sum / indices.length;
  };
  const take =
    statistic === 'mean' ? meanOf : percentileOf(series, indices, statistic === 'p50' ? 0.5 : 0.95);
  return (random) => {
    drawBlocks(indices, random);
    return take();
  };
}

/** Fills with indices of whole blocks; a block may begin anywhere and continues at the start. */
function drawBlocks(indices: Uint32Array, random: () => number): void {
  const count = indices.length;
  const length = Math.max(1, Math.round(count / BLOCKS));
  for (let at = 0; at < count; at += length) {
    const start = Math.floor(random() * count);
    for (let i = 0; i < length && at + i < count; i++) indices[at + i] = (start + i) % count;
  }
}

/** Nearest-rank percentile of the values at the indices: counted by rank, as sorting each time would take too long. */
function percentileOf(
  series: readonly number[],
  indices: Uint32Array,
  share: number,
): () => number {
  const places = Math.min(PLACES, series.length);
  const order = Uint32Array.from(series.keys()).sort(
    (a, b) => (series[a] as number) - (series[b] as number),
  );
  const placeOf = new Uint16Array(series.length);
  const values = new Float64Array(places);
  order.forEach((index, rank) => {
    const place = Math.floor((rank * places) / series.length);
    placeOf[index] = place;
    values[place] = series[index] as number;
  });
  const counts = new Uint32Array(places);
  const rank = Math.max(1, Math.ceil(share * series.length));
  return () => {
    counts.fill(0);
    for (const index of indices) {
      const place = placeOf[index] as number;
      counts[place] = (counts[place] as number) + 1;
    }
    let [seen, at] = [counts[0] as number, 0];
    while (seen < rank) seen += counts[++at] as number;
    return values[at] as number;
  };
}
