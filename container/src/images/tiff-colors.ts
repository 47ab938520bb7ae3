/**
 * Which colors a TIFF's samples are (TIFF 6.0 sections 4 to 6, 16, 18, 20, 21). What is read equals what Pillow and
 * libtiff make of it; all else is refused, because libvips takes some of it for RGB or gray.
 */
import { ServingError } from '../errors.ts';
import {
  readTiffDirectory,
  type TiffDirectory,
  withFirstDirectory,
  withTiffTag,
} from './tiff-directory.ts';
import { readTiffYcbcr, type YcbcrScale } from './ycbcr.ts';

/** What remains to be done with the samples that libvips read. */
export interface TiffColors {
  /** The file, with its first directory alone and an orientation that the decoder takes. */
  readonly bytes: Uint8Array;
  /** `cmyk`: four inks. `ycbcr`: three channels, in the range of `scale`. `done`: nothing. */
  readonly left: 'cmyk' | 'ycbcr' | 'done';
  readonly scale?: YcbcrScale;
}

const TAGS = {
  bits: 258,
  photometric: 262,
  orientation: 274,
  samples: 277,
  inkSet: 332,
  sampleFormat: 339,
};

/** Kinds of samples, by PhotometricInterpretation: the numbers of bits, and of channels, that are read. */
const KINDS: Readonly<
  Record<number, { readonly bits: readonly number[]; readonly min: number; readonly max: number }>
> = {
  0: { bits: [1, 2, 4, 8, 16], min: 1, max: 1 },
  1: { bits: [1, 2, 4, 8, 16], min: 1, max: 2 },
  2: { bits: [8, 16], min: 3, max: 5 },
  3: { bits: [1, 2, 4, 8], min: 1, max: 2 },
  5: { bits: [8], min: 4, max: 5 },
  6: { bits: [8], min: 3, max: 3 },
};

const NAMES: Readonly<Record<number, string>> = {
  0: 'gray in which 0 is white',
  1: 'gray',
  2: 'RGB',
  3: 'palette indices',
  4: 'transparency',
  5: 'separated inks',
  6: 'YCbCr',
  8: 'CIELab',
  9: 'ICCLab',
  10: 'ITULab',
  32803: 'color filter array',
  32844: 'LogL',
  32845: 'LogLuv',
};

const READ =
  'Palettes, gray and RGB of 8 or 16 bits, CMYK and YCbCr of 8 are read. Convert it, or send the values as a tensor.';

/**
 * @returns undefined if the file has no directory that can be read: the decoder says what is wrong
 * @throws ServingError BAD_IMAGE for kinds of samples that are not read
 */
export function readTiffColors(bytes: Uint8Array): TiffColors | undefined {
  const directory = readTiffDirectory(bytes);
  if (!directory) return undefined;
  checkSamples(directory);
  const photometric = firstOf(directory, TAGS.photometric, Number.NaN);
  checkKind(directory, photometric);
  const file = withFirstDirectory(withOrientation(bytes, directory), directory);
  if (photometric === 5) return { bytes: file, left: 'cmyk' };
  const scale = photometric === 6 ? readTiffYcbcr(directory) : undefined;
  return scale ? { bytes: file, left: 'ycbcr', scale } : { bytes: file, left: 'done' };
}

/** The first value of a tag, NaN where its type is not read. */
function firstOf({ values }: TiffDirectory, tag: number, byDefault: number): number {
  const found = values.get(tag);
  return found ? (found[0] ?? Number.NaN) : byDefault;
}

/** Samples that are no whole numbers of at most 16 bits have no range that could be made 0-255. */
function checkSamples(directory: TiffDirectory): void {
  const bits = firstOf(directory, TAGS.bits, 1);
  const sampleFormat = firstOf(directory, TAGS.sampleFormat, 1);
  const isWhole = sampleFormat === 1 || sampleFormat === 4;
  if (isWhole && bits <= 16) return;
  const kind = isWhole ? '' : ` ${SAMPLE_KINDS[sampleFormat] ?? 'unknown'}`;
  throw new ServingError(
    'BAD_IMAGE',
    `the TIFF has${kind} samples of ${bits} bits. Unsigned ones of 8 or 16 bits are read. Convert it, or send the values as a tensor.`,
  );
}

const SAMPLE_KINDS: Readonly<Record<number, string>> = {
  2: 'signed',
  3: 'floating-point',
  5: 'complex',
  6: 'complex',
};

function checkKind(directory: TiffDirectory, photometric: number): void {
  const kind = KINDS[photometric];
  const bits = firstOf(directory, TAGS.bits, 1);
  const samples = firstOf(directory, TAGS.samples, 1);
  // Palettes of less than a byte have no room for transparency.
  const max = photometric === 3 && bits < 8 ? 1 : kind?.max;
  const isRead = kind && max && kind.bits.includes(bits) && samples >= kind.min && samples <= max;
  if (isRead && (photometric !== 5 || firstOf(directory, TAGS.inkSet, 1) === 1)) return;
  const name = NAMES[photometric] ?? 'samples of unknown meaning';
  const what = photometric === 5 && isRead ? 'inks other than CMYK' : name;
  const number = Number.isNaN(photometric) ? 'none that can be read' : photometric;
  throw new ServingError(
    'BAD_IMAGE',
    `the TIFF has ${samples} ${samples === 1 ? 'channel' : 'channels'} of ${bits}-bit ${what} (PhotometricInterpretation: ${number}). ${READ}`,
  );
}

/** Orientations that EXIF does not know are 1, as in other formats; libtiff refuses them. */
function withOrientation(bytes: Uint8Array, directory: TiffDirectory): Uint8Array {
  const orientation = firstOf(directory, TAGS.orientation, 1);
  if (orientation >= 1 && orientation <= 8) return bytes;
  return withTiffTag(bytes, directory, TAGS.orientation, 1);
}
