/** The plan of a resize by weighted sums: every filter but nearest and plain bilinear. */

import type { Placement } from '@sagemaker-tfs/tensors/placement';
import { BAND_BYTES, type BandPlan, type Pixels, type Planner, type Run } from './band-plan.ts';
import { type Filter, filterWeights, type Weights } from './filter-weights.ts';
import { layOutFilter } from './resample-kernel.ts';

/** What the columns of all bands are. */
interface Columns {
  readonly left: Uint32Array;
  readonly columnWeights: Float32Array;
  readonly columnTaps: number;
  readonly channels: number;
}

/** A planner of the filter's resizes. */
export function filterPlanner(filter: Filter, antialias: boolean): Planner {
  return ({ width, channels }: Pixels, { source, target }: Placement) => {
    const down = { start: source.y, length: source.height, count: target.height };
    const rows = filterWeights(filter, antialias, down);
    const across = { start: source.x, length: source.width, count: target.width };
    const { first, weights, taps } = filterWeights(filter, antialias, across);
    const left = first.map((column) => column * channels * 4);
    const columns = { left, columnWeights: weights, columnTaps: taps, channels };
    const bytes = Math.max(width, target.width) * channels;
    const mostRows = Math.max(rows.taps, Math.floor(BAND_BYTES / bytes));
    return bandsOf(rows, columns, width * channels, mostRows);
  };
}

function bandsOf(
  rows: Weights,
  columns: Columns,
  rowBytes: number,
  mostRows: number,
): readonly BandPlan[] {
  const bands: BandPlan[] = [];
  for (let first = 0; first < rows.first.length; ) {
    const { plan, count } = bandFrom(first, rows, columns, rowBytes, mostRows);
    bands.push(plan);
    first += count;
  }
  return bands;
}

/** The target rows from `first` on whose source rows, each packed once, stay within the limit. */
function bandFrom(
  first: number,
  { first: firsts, weights, taps }: Weights,
  columns: Columns,
  rowBytes: number,
  mostRows: number,
): { plan: BandPlan; count: number } {
  const runs: Run[] = [];
  const top: number[] = [];
  let packed = 0;
  for (let row = first; row < firsts.length && top.length < mostRows; row++) {
    const from = firsts[row] as number;
    const run = runs.at(-1);
    const known = run && from <= run.to ? run.to - from : 0;
    if (packed + taps - known > mostRows) break;
    top.push((packed - known) * rowBytes);
    packed += Math.max(0, taps - known);
    if (run && from <= run.to) run.to = Math.max(run.to, from + taps);
    else runs.push({ from, to: from + taps });
  }
  const rowWeights = weights.subarray(first * taps, (first + top.length) * taps);
  const filtering = { top: Uint32Array.from(top), rowWeights, rowTaps: taps, rowBytes, ...columns };
  const plan = { first, runs, band: layOutFilter(filtering, packed * rowBytes) };
  return { plan, count: top.length };
}
