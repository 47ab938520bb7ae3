/**
 * Resizing of 8-bit pixels, own code because it is on the hot path: it takes a fraction of the time that a
 * trip through sharp takes (`npm run bench -- --only resizing` shows it), and makes
 * TensorFlow's own pixels, so that a model sees at serving what it saw in training.
 *
 * The conventions are those of `tf.image.resize` of TensorFlow 2, with `antialias` false or true: pixel centers
 * lie at half-integers, positions outside clamp to the border, values are computed in float32. Here they are
 * then rounded to the nearest of 0-255.
 */
import type { Preprocess } from '@sagemaker-tfs/manifest';
import type { Placement } from '@sagemaker-tfs/tensors/placement';
import { type Pixels, resizeInBands } from './band-plan.ts';
import { bilinearPlan } from './bilinear-plan.ts';
import { filterPlanner } from './filter-plan.ts';
import type { Filter } from './filter-weights.ts';

export type { Pixels };

/** How pixels between pixels are made. */
export interface Interpolation {
  readonly interpolation: Preprocess['interpolation'];
  /** True: where the picture shrinks, the filter is as wide as a target pixel. No matter for nearest and area. */
  readonly antialias: boolean;
}

/**
 * Writes the picture into the frame; pixels outside `placement.target` are left as they are.
 * `frame.channels` is the picture's.
 */
export function resample(
  picture: Pixels,
  frame: Pixels,
  placement: Placement,
  { interpolation, antialias }: Interpolation,
): void {
  if (isCopy(placement)) copyRows(picture, frame, placement);
  else if (interpolation === 'nearest') nearest(picture, frame, placement);
  else if (interpolation === 'bilinear' && !(antialias && shrinks(placement))) {
    resizeInBands(picture, frame, placement, 'bilinear', bilinearPlan);
  } else filter(picture, frame, placement, interpolation, antialias);
}

function isCopy({ source, target }: Placement): boolean {
  return source.width === target.width && source.height === target.height;
}

/** Where neither side shrinks, antialias changes nothing. */
function shrinks({ source, target }: Placement): boolean {
  return source.width > target.width || source.height > target.height;
}

function filter(
  picture: Pixels,
  frame: Pixels,
  placement: Placement,
  name: Filter,
  antialias: boolean,
): void {
  const key = antialias ? `${name} antialias` : `${name} filter`;
  resizeInBands(picture, frame, placement, key, filterPlanner(name, antialias));
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
  const columns = nearestIndices(source.x, source.width, target.width);
  const rows = nearestIndices(source.y, source.height, target.height);
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

/** Float32 throughout, as TensorFlow's kernel. */
function nearestIndices(start: number, length: number, count: number): Uint32Array {
  const step = Math.fround(length / count);
  return Uint32Array.from(
    { length: count },
    (_, index) => start + Math.min(length - 1, Math.floor(Math.fround((index + 0.5) * step))),
  );
}
