/** Where a picture lies in its frame for each resize mode: geometry alone, no pixels. */
import type { Preprocess } from '@sagemaker-tfs/manifest';
import { letterbox, type Rectangle, type Size } from '@sagemaker-tfs/tensors/letterbox';

/** `stretch` changes the aspect ratio, `cover` cuts off what hangs over, `contain` adds bars. */
export type ResizeMode = Preprocess['resize'];

/** Which part of the picture fills which part of the frame. */
export interface Placement {
  /** Part of the picture that is seen, in whole pixels; what lies around it counts for nothing. */
  readonly source: Rectangle;
  /** Part of the frame that it fills, in whole pixels; the rest is padding. */
  readonly target: Rectangle;
}

/**
 * Places a picture in a frame. `cover` crops as Keras does (`crop_to_aspect_ratio`, `smart_resize`): to whole pixels,
 * rounded down, and an odd pixel more is cut off at the right and the bottom.
 */
export function placePicture(picture: Size, frame: Size, mode: ResizeMode): Placement {
  const whole = { x: 0, y: 0, width: picture.width, height: picture.height };
  if (mode === 'contain') return { source: whole, target: letterbox(picture, frame) };
  const filled = { x: 0, y: 0, width: frame.width, height: frame.height };
  if (mode === 'stretch') return { source: whole, target: filled };
  const width = cut(picture.width, (picture.height * frame.width) / frame.height);
  const height = cut(picture.height, (picture.width * frame.height) / frame.width);
  const x = Math.floor((picture.width - width) / 2);
  const y = Math.floor((picture.height - height) / 2);
  return { source: { x, y, width, height }, target: filled };
}

function cut(length: number, wanted: number): number {
  return Math.min(length, Math.max(1, Math.floor(wanted)));
}
