/** Samples of luma and two chromas to RGB, as TIFF 6.0 section 21 says. */
import { ServingError } from '../errors.ts';
import type { Pixels } from './resample.ts';
import type { TiffDirectory } from './tiff-directory.ts';

/** What the samples mean. */
export interface YcbcrScale {
  /** YCbCrCoefficients: the shares of red, green and blue in luma. */
  readonly luma: readonly number[];
  /** ReferenceBlackWhite: black and white of luma, of Cb and of Cr. */
  readonly range: readonly number[];
}

const TAGS = { compression: 259, planar: 284, luma: 529, subsampling: 530, range: 532 };
const OLD_JPEG = 6;
const JPEG = 7;
/** Rec. 601, the default of the tag. */
const LUMA = [0.299, 0.587, 0.114];
/** What libtiff takes where a file does not say. */
const FULL_RANGE = [0, 255, 128, 255, 128, 255];

/**
 * @returns undefined if libvips converts: JPEGs, and files with fewer samples of chroma
 * @throws ServingError BAD_IMAGE if the tags are none that a conversion could follow
 */
export function readTiffYcbcr({ values }: TiffDirectory): YcbcrScale | undefined {
  const compression = (values.get(TAGS.compression) ?? [1])[0];
  if (compression === JPEG) return undefined;
  const planar = (values.get(TAGS.planar) ?? [1])[0];
  const [across, down] = values.get(TAGS.subsampling) ?? [2, 2];
  const luma = values.get(TAGS.luma) ?? LUMA;
  const range = values.get(TAGS.range) ?? FULL_RANGE;
  const isPlain = compression !== undefined && planar === 1 && isLuma(luma) && isRange(range);
  const isSubsampled = across !== undefined && down !== undefined && across * down > 1;
  if (isPlain && isSubsampled) return undefined;
  if (isPlain && across === 1 && down === 1 && compression !== OLD_JPEG) return { luma, range };
  throw new ServingError(
    'BAD_IMAGE',
    'the TIFF is YCbCr in a way that is not read: in planes, or with odd YCbCrSubSampling, YCbCrCoefficients or ReferenceBlackWhite. Save it as RGB.',
  );
}

function isLuma(luma: readonly number[]): boolean {
  const sum = luma.reduce((total, share) => total + share, 0);
  return luma.length === 3 && luma.every((share) => share > 0) && Math.abs(sum - 1) < 0.01;
}

function isRange(range: readonly number[]): boolean {
  const isWide = [0, 2, 4].every((at) => (range[at] as number) < (range[at + 1] as number));
  return range.length === 6 && isWide && range.every((value) => value <= 255);
}

/** Writes RGB over the samples. */
export function ycbcrToRgb(pixels: Pixels, { luma, range }: YcbcrScale): Pixels {
  const [red, green, blue] = luma as [number, number, number];
  const brightness = levels(range, 0, 255);
  const blues = levels(range, 2, 127);
  const reds = levels(range, 4, 127);
  const { data } = pixels;
  for (let at = 0; at < data.length; at += 3) {
    const y = brightness[data[at] as number] as number;
    const r = y + (2 - 2 * red) * (reds[data[at + 2] as number] as number);
    const b = y + (2 - 2 * blue) * (blues[data[at + 1] as number] as number);
    data[at] = toByte(r);
    data[at + 1] = toByte((y - red * r - blue * b) / green);
    data[at + 2] = toByte(b);
  }
  return pixels;
}

/** What each sample of 0-255 stands for, where white is `full`: whole numbers, cut as libtiff does. */
function levels(range: readonly number[], at: number, full: number): Float64Array {
  const [black, white] = [range[at] as number, range[at + 1] as number];
  return Float64Array.from({ length: 256 }, (_, sample) =>
    Math.trunc(((sample - black) * full) / (white - black)),
  );
}

function toByte(value: number): number {
  return Math.min(255, Math.max(0, Math.round(value)));
}
