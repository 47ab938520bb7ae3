/** A resize in bands: the rows and columns that each part of it takes, planned once for all pictures of a size. */
import type { Placement } from '@sagemaker-tfs/tensors/placement';
import { type Band, resizeBand } from './resample-kernel.ts';

/** 8-bit pixels, row-major, channels innermost. */
export interface Pixels {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** 1 or 3. */
  readonly channels: number;
}

/** Which rows and columns a part of a resize takes; the same for all pictures of a size. */
export interface BandPlan {
  /** The first target row. */
  readonly first: number;
  /** Source rows, from the first to the one after the last. */
  readonly runs: readonly Run[];
  readonly band: Band;
}

/** Source rows that follow each other. */
export interface Run {
  readonly from: number;
  to: number;
}

/** Makes the plan of a resize. */
export type Planner = (picture: Pixels, placement: Placement) => readonly BandPlan[];

/** Most bytes of source and target rows that are resized at a time. */
export const BAND_BYTES = 2 ** 20;
/** Pictures mostly come in few sizes. */
const MAX_PLANS = 16;

const plans = new Map<string, readonly BandPlan[]>();

/**
 * Resizes band by band.
 * @param name what the planner is called: plans are kept by it
 */
export function resizeInBands(
  picture: Pixels,
  frame: Pixels,
  placement: Placement,
  name: string,
  planner: Planner,
): void {
  const { channels } = picture;
  const { target } = placement;
  const rowBytes = picture.width * channels;
  for (const { first, runs, band } of planOf(picture, placement, name, planner)) {
    const source = runs.map(({ from, to }) =>
      picture.data.subarray(from * rowBytes, to * rowBytes),
    );
    const resized = resizeBand(band, source);
    const start = ((target.y + first) * frame.width + target.x) * channels;
    if (target.width === frame.width) frame.data.set(resized, start);
    else setRows(frame, start, resized, target.width * channels);
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
  picture: Pixels,
  placement: Placement,
  name: string,
  planner: Planner,
): readonly BandPlan[] {
  const { width, height, channels } = picture;
  const { source, target } = placement;
  const key = `${name},${width},${height},${channels},${target.width},${target.height},${source.x},${source.y},${source.width},${source.height}`;
  const known = plans.get(key);
  if (known) return known;
  const plan = planner(picture, placement);
  if (plans.size === MAX_PLANS) plans.clear();
  plans.set(key, plan);
  return plan;
}
