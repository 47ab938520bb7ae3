/** Which JPEGs are shrunk while they are decoded, and by how much. */
import type { DecodeImageOptions } from './decode-options.ts';
import type { JpegHeader } from './jpeg-header.ts';

/** From here on shrinking while decoding (by sharp), where asked for, is faster than decoding everything. */
const SHRINK_PIXELS = 8_000_000;

/** By how much the decoder may shrink the JPEG and still give no less than the wanted size: 1, 2, 4 or 8. */
export function shrinkFactor(header: JpegHeader, options: DecodeImageOptions): number {
  const { width, height } = uprightSize(header);
  if (!options.shrink || width * height < SHRINK_PIXELS) return 1;
  if (options.interpolation === 'nearest') return 1;
  const spare = Math.min(width / (options.width ?? width), height / (options.height ?? height));
  return [8, 4, 2].find((factor) => spare >= factor) ?? 1;
}

/** The size of a JPEG when it is turned as its EXIF data says. */
export function uprightSize({ width, height, orientation }: JpegHeader): {
  width: number;
  height: number;
} {
  return orientation >= 5 ? { width: height, height: width } : { width, height };
}
