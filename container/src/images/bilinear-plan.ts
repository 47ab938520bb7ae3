/** The plan of a resize between two rows and two pixels: bilinear without antialias. */

import type { Placement } from '@sagemaker-tfs/tensors/placement';
import { BAND_BYTES, type BandPlan, type Pixels, type Run } from './band-plan.ts';
import { type Columns, layOut } from './resample-kernel.ts';

/** For each target position the two source positions between which it lies, and how far along. */
interface Taps {
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  readonly weight: Float32Array;
}

function taps(start: number, length: number, count: number): Taps {
  const low = new Uint32Array(count);
  const high = new Uint32Array(count);
  const weight = new Float32Array(count);
  // Float32 throughout, as TensorFlow's kernel computes it, so that weights are the same to the last bit.
  const step = Math.fround(length / count);
  for (let index = 0; index < count; index++) {
    const position = Math.fround(Math.fround((index + 0.5) * step) - 0.5);
    const floor = Math.floor(position);
    low[index] = start + Math.min(length - 1, Math.max(0, floor));
    high[index] = start + Math.min(length - 1, Math.max(0, floor + 1));
    weight[index] = position - floor;
  }
  return { low, high, weight };
}

/** The plan of a bilinear resize. */
export function bilinearPlan(
  { width, channels }: Pixels,
  { source, target }: Placement,
): readonly BandPlan[] {
  const rows = taps(source.y, source.height, target.height);
  const columns = columnsOf(taps(source.x, source.width, target.width), channels);
  const bytes = Math.max(width, target.width) * channels;
  const mostRows = Math.max(2, Math.floor(BAND_BYTES / bytes) - 2);
  const bands: BandPlan[] = [];
  for (let first = 0; first < rows.low.length; ) {
    const { plan, count } = bandFrom(first, rows, columns, width * channels, mostRows);
    bands.push(plan);
    first += count;
  }
  return bands;
}

/** Beyond the border the pixel at it counts alone. */
function columnsOf({ low, high, weight }: Taps, channels: number): Columns {
  return {
    left: low.map((column) => column * channels),
    weight: weight.map((value, index) => (low[index] === high[index] ? 0 : value)),
    channels,
  };
}

/** The target rows from `first` on that make a band, with the source rows that they need, each once. */
function bandFrom(
  first: number,
  rows: Taps,
  columns: Columns,
  rowBytes: number,
  mostRows: number,
): { plan: BandPlan; count: number } {
  const runs: Run[] = [];
  const [low, high]: [number[], number[]] = [[], []];
  let packed = 0;
  const place = (row: number): number => {
    const run = runs.at(-1);
    if (run && row < run.to) return (packed - (run.to - row)) * rowBytes;
    if (run?.to === row) run.to += 1;
    else runs.push({ from: row, to: row + 1 });
    packed += 1;
    return (packed - 1) * rowBytes;
  };
  const last = Math.min(rows.low.length, first + mostRows);
  for (let row = first; row < last && packed < mostRows; row++) {
    low.push(place(rows.low[row] as number));
    high.push(place(rows.high[row] as number));
  }
  const weight = rows.weight.slice(first, first + low.length);
  const band = { low: Uint32Array.from(low), high: Uint32Array.from(high), weight };
  const plan = { first, runs, band: layOut(columns, band, packed * rowBytes) };
  return { plan, count: low.length };
}
