/** Where a picture lies in its frame for each resize mode: geometry alone, no pixels. */
import { letterbox, type Rectangle, type Size } from './letterbox.ts';

/** `stretch` changes the aspect ratio, `cover` cuts off what hangs over, `contain` adds bars. */
export const RESIZE_MODES = ['stretch', 'cover', 'contain'] as const;
export type ResizeMode = (typeof RESIZE_MODES)[number];

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

/** The model's frame as a part of the picture, or the picture as a part of it. */
export interface FrameInPicture {
  /** The frame's upper edge: 0 is the picture's own upper edge, 1 its lower. */
  readonly top: number;
  /** The frame's left edge: 0 is the picture's own left edge, 1 its right. */
  readonly left: number;
  /** In heights of the picture. */
  readonly height: number;
  /** In widths of the picture. */
  readonly width: number;
}

/** The frame in units of the picture's height and width: `contain` makes it larger than the picture, `cover` smaller. */
export function frameInPicture(picture: Size, frame: Size, mode: ResizeMode): FrameInPicture {
  const { source, target } = placePicture(picture, frame, mode);
  // Pixels of the picture for each of the frame.
  const across = source.width / target.width;
  const down = source.height / target.height;
  return {
    top: (source.y - target.y * down) / picture.height,
    left: (source.x - target.x * across) / picture.width,
    height: (frame.height * down) / picture.height,
    width: (frame.width * across) / picture.width,
  };
}
