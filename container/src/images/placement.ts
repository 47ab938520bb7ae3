/** Where a picture lies in its frame for each resize mode: geometry alone, no pixels. */
import type { Preprocess } from '@sagemaker-tfs/manifest';

/** `stretch` changes the aspect ratio, `cover` cuts off what hangs over, `contain` adds bars. */
export type ResizeMode = Preprocess['resize'];

/** A rectangle in pixels. */
export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Which part of the picture fills which part of the frame. */
export interface Placement {
  /** Part of the picture that is seen, in whole pixels; what lies around it counts for nothing. */
  readonly source: Rectangle;
  /** Part of the frame that it fills, in whole pixels; the rest is padding. */
  readonly target: Rectangle;
}

/** The size of a picture or a frame in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Places a picture in a frame. `cover` crops as Keras does (`crop_to_aspect_ratio`, `smart_resize`): to whole pixels,
 * rounded down, and an odd pixel more is cut off at the right and the bottom. `contain` places and rounds as
 * `tf.image.resize_with_pad` does: the picture's size is rounded down, and an odd pixel of padding goes to the right and
 * the bottom.
 */
export function placePicture(picture: Size, frame: Size, mode: ResizeMode): Placement {
  const whole = { x: 0, y: 0, width: picture.width, height: picture.height };
  const filled = { x: 0, y: 0, width: frame.width, height: frame.height };
  // Cross products instead of ratios: whole numbers, so equal proportions are exactly equal.
  const byWidth = picture.height * frame.width;
  const byHeight = picture.width * frame.height;
  if (mode === 'stretch' || byWidth === byHeight) return { source: whole, target: filled };
  if (mode === 'cover') {
    const width = Math.min(picture.width, wholePixels(byWidth / frame.height));
    const height = Math.min(picture.height, wholePixels(byHeight / frame.width));
    const x = Math.floor((picture.width - width) / 2);
    const y = Math.floor((picture.height - height) / 2);
    return { source: { x, y, width, height }, target: filled };
  }
  const fullHeight = byHeight > byWidth ? byWidth / picture.width : frame.height;
  const fullWidth = byHeight > byWidth ? frame.width : byHeight / picture.height;
  const target = {
    x: Math.floor((frame.width - fullWidth) / 2),
    y: Math.floor((frame.height - fullHeight) / 2),
    width: wholePixels(fullWidth),
    height: wholePixels(fullHeight),
  };
  return { source: whole, target };
}

function wholePixels(length: number): number {
  return Math.max(1, Math.floor(length));
}
