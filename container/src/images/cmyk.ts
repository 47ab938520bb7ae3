/** Pixels of four inks to RGB. */
import type { Pixels } from './resample.ts';

/**
 * CMYK (0 no ink, 255 full) as RGB, without color profiles: what `tf.io.decode_jpeg` and Pillow compute, light that
 * each ink and the black leave, rounded down as TensorFlow does.
 */
export function cmykToRgb({ data, width, height }: Pixels): Pixels {
  const rgb = new Uint8Array(width * height * 3);
  for (let from = 0, to = 0; to < rgb.length; from += 4, to += 3) {
    const light = 255 - (data[from + 3] as number);
    rgb[to] = ((255 - (data[from] as number)) * light) / 255;
    rgb[to + 1] = ((255 - (data[from + 1] as number)) * light) / 255;
    rgb[to + 2] = ((255 - (data[from + 2] as number)) * light) / 255;
  }
  return { data: rgb, width, height, channels: 3 };
}
