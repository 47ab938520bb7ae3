/**
 * Resizing of 8-bit pixels, own code because it is on the hot path: it takes a fraction of the time that a
 * trip through sharp takes (`node --import tsx container/src/images/resample.bench.ts` shows it), and gives
 * the pixels that TensorFlow gives, so that a model sees at serving what it saw in training.
 *
 * The convention is that of `tf.image.resize(..., antialias=False)` of TensorFlow 2: pixel centers lie at
 * half-integers (`half_pixel_centers=True`), positions outside clamp to the border, bilinear values are
 * computed in float32 and rounded to the nearest of 0-255.
 */
import type { Placement } from './placement.ts';
import { type Band, type Columns, layOut, resizeBand } from './resample-kernel.ts';

/** 8-bit pixels, row-major, channels innermost. */
export interface Pixels {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** 1 or 3. */
  readonly channels: number;
}

/** Interpolations done here; the others are sharp's. */
export type FastInterpolation = 'nearest' | 'bilinear';

/**
 * Writes the picture into the frame; pixels outside `placement.target` are left as they are.
 * `frame.channels` is the picture's.
 */
export function resample(
  picture: Pixels,
  frame: Pixels,
  placement: Placement,
  interpolation: FastInterpolation,
): void {
  if (isCopy(placement)) copyRows(picture, frame, placement);
  else if (interpolation === 'nearest') nearest(picture, frame, placement);
  else bilinear(picture, frame, placement);
}

function isCopy({ source, target }: Placement): boolean {
  const whole = Number.isInteger(source.x) && Number.isInteger(source.y);
  return whole && source.width === target.width && source.height === target.height;
}

function copyRows(picture: Pixels, frame: Pixels, { source, target }: Placement): void {
  const rowBytes = target.width * picture.channels;
  for (let row = 0; row < target.height; row++) {
    const from = ((source.y + row) * picture.width + source.x) * picture.channels;
    const to = ((target.y + row) * frame.width + target.x) * picture.channels;
    frame.data.set(picture.data.subarray(from, from + rowBytes), to);
  }
}

function nearest(picture: Pixels, frame: Pixels, { source, target }: Placement): void {
  const { channels } = picture;
  const columns = nearestIndices(source.x, source.width, target.width, picture.width);
  const rows = nearestIndices(source.y, source.height, target.height, picture.height);
  for (let row = 0; row < target.height; row++) {
    const from = (rows[row] as number) * picture.width;
    let to = ((target.y + row) * frame.width + target.x) * channels;
    for (let column = 0; column < target.width; column++) {
      const at = (from + (columns[column] as number)) * channels;
      for (let channel = 0; channel < channels; channel++) {
        frame.data[to++] = picture.data[at + channel] as number;
      }
    }
  }
}

function nearestIndices(start: number, length: number, count: number, limit: number): Uint32Array {
  const step = length / count;
  return Uint32Array.from({ length: count }, (_, index) =>
    Math.min(limit - 1, Math.floor(start + (index + 0.5) * step)),
  );
}

/** For each target position the two source positions between which it lies, and how far along. */
interface Taps {
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  readonly weight: Float32Array;
}

function taps(start: number, length: number, count: number, limit: number): Taps {
  const low = new Uint32Array(count);
  const high = new Uint32Array(count);
  const weight = new Float32Array(count);
  // Float32 throughout, as TensorFlow's kernel computes it, so that weights are the same to the last bit.
  const step = Math.fround(length / count);
  for (let index = 0; index < count; index++) {
    const position = Math.fround(Math.fround(start + Math.fround((index + 0.5) * step)) - 0.5);
    const floor = Math.floor(position);
    low[index] = Math.min(limit - 1, Math.max(0, floor));
    high[index] = Math.min(limit - 1, Math.max(0, floor + 1));
    weight[index] = position - floor;
  }
  return { low, high, weight };
}

/** Source and target rows of at most so many bytes are resized at a time. */
const BAND_BYTES = 2 ** 20;
/** Pictures mostly come in few sizes. */
const MOST_PLANS = 16;

/** Which rows and columns a part of a resize takes; the same for all pictures of a size. */
interface BandPlan {
  /** The first target row. */
  readonly first: number;
  /** Source rows, from the first to the one after the last. */
  readonly runs: readonly Run[];
  readonly band: Band;
}

interface Run {
  readonly from: number;
  to: number;
}

const plans = new Map<string, readonly BandPlan[]>();

function bilinear(picture: Pixels, frame: Pixels, placement: Placement): void {
  const { channels } = picture;
  const { target } = placement;
  const rowBytes = picture.width * channels;
  const length = target.width * channels;
  for (const { first, runs, band } of planOf(picture, placement)) {
    const source = runs.map(({ from, to }) =>
      picture.data.subarray(from * rowBytes, to * rowBytes),
    );
    const resized = resizeBand(band, source);
    const start = ((target.y + first) * frame.width + target.x) * channels;
    if (target.width === frame.width) frame.data.set(resized, start);
    else setRows(frame, start, resized, length);
  }
}

/** Where the target is narrower than the frame. */
function setRows(
  { data, width, channels }: Pixels,
  start: number,
  rows: Uint8Array,
  length: number,
) {
  for (let from = 0, to = start; from < rows.length; from += length, to += width * channels) {
    data.set(rows.subarray(from, from + length), to);
  }
}

function planOf(
  { width, height, channels }: Pixels,
  { source, target }: Placement,
): readonly BandPlan[] {
  const key = `${width},${height},${channels},${target.width},${target.height},${source.x},${source.y},${source.width},${source.height}`;
  const known = plans.get(key);
  if (known) return known;
  const rows = taps(source.y, source.height, target.height, height);
  const columns = columnsOf(taps(source.x, source.width, target.width, width), channels);
  const bytes = Math.max(width, target.width) * channels;
  const mostRows = Math.max(2, Math.floor(BAND_BYTES / bytes) - 2);
  const plan = bandsOf(rows, columns, width * channels, mostRows);
  if (plans.size === MOST_PLANS) plans.clear();
  plans.set(key, plan);
  return plan;
}

/** Beyond the border the pixel at it counts alone. */
function columnsOf({ low, high, weight }: Taps, channels: number): Columns {
  return {
    left: low.map((column) => column * channels),
    weight: weight.map((value, index) => (low[index] === high[index] ? 0 : value)),
    channels,
  };
}

function bandsOf(rows: Taps, columns: Columns, rowBytes: number, mostRows: number): BandPlan[] {
  const bands: BandPlan[] = [];
  for (let first = 0; first < rows.low.length; ) {
    const plan = bandFrom(first, rows, columns, rowBytes, mostRows);
    bands.push(plan);
    first += plan.band.rows.low.length;
  }
  return bands;
}

/** The target rows from `first` on that make a band, with the source rows that they need, each once. */
function bandFrom(
  first: number,
  rows: Taps,
  columns: Columns,
  rowBytes: number,
  mostRows: number,
): BandPlan {
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
  return { first, runs, band: layOut(columns, band, packed * rowBytes) };
}
