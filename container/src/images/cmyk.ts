/** Pixels of four inks to RGB. */
import type { Pixels } from './resample.ts';

/**
 * CMYK (0 no ink, 255 full) as RGB, without color profiles: what `tf.io.decode_jpeg` and Pillow compute, light that
 * each ink and the black leave, rounded down as TensorFlow does.
 * @param isLight the numbers are the light that is left, 255 no ink: what libvips makes of a JPEG without Adobe's
 *   marker, whose inks it turns around as if they were stored inverted. TensorFlow takes them as they are.
 */
export function cmykToRgb({ data, width, height }: Pixels, isLight: boolean): Pixels {
  const rgb = new Uint8Array(width * height * 3);
  const full = isLight ? 0 : 255;
  for (let from = 0, to = 0; to < rgb.length; from += 4, to += 3) {
    const light = full ^ (data[from + 3] as number);
    rgb[to] = ((full ^ (data[from] as number)) * light) / 255;
    rgb[to + 1] = ((full ^ (data[from + 1] as number)) * light) / 255;
    rgb[to + 2] = ((full ^ (data[from + 2] as number)) * light) / 255;
  }
  return { data: rgb, width, height, channels: 3 };
}
