/** Where a picture lies between bars, as `tf.image.resize_with_pad` places it: geometry alone, no pixels. */

/** A size in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A rectangle in pixels. */
export interface Rectangle extends Size {
  readonly x: number;
  readonly y: number;
}

/**
 * The part of the frame that the picture fills, its proportions kept. TensorFlow reckons in 32-bit floats and rounds
 * down, so that a side which should fill the frame may be a pixel short: 64 pixels are 14 of 15 where 64 / 15 was
 * rounded up. Where TensorFlow refuses a picture of less than a pixel, one is left.
 */
export function letterbox(picture: Size, frame: Size): Rectangle {
  const ratio = Math.max(
    Math.fround(picture.width / frame.width),
    Math.fround(picture.height / frame.height),
  );
  const width = Math.fround(picture.width / ratio);
  const height = Math.fround(picture.height / ratio);
  return {
    x: barBefore(frame.width, width),
    y: barBefore(frame.height, height),
    width: Math.max(1, Math.floor(width)),
    height: Math.max(1, Math.floor(height)),
  };
}

/** An odd pixel of bar goes to the right and the bottom. */
function barBefore(frame: number, picture: number): number {
  return Math.max(0, Math.floor(Math.fround(frame - picture) / 2));
}
