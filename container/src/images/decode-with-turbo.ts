/** Decodes JPEGs with libjpeg-turbo, whose pixels equal those of `tf.io.decode_jpeg`. */
import jpegTurbo from '@julusian/jpeg-turbo';
import { giveBytes, takeBytes } from '../memory/byte-pool.ts';
import type { DecodeImageOptions } from './decode-options.ts';
import { fitPicture } from './fit-picture.ts';
import type { JpegHeader } from './jpeg-header.ts';
import type { Pixels } from './resample.ts';
import { sourceRows } from './resample-kernel.ts';
import { shrinkFactor } from './shrink-factor.ts';
import { turnUpright } from './turn-upright.ts';

/** JPEGs up to this many pixels are decoded at once, which takes about a millisecond; larger ones in a thread. */
const INLINE_JPEG_PIXELS = 262_144;

/** The decoder counts bytes in 32 bits. */
const MAX_TURBO_BYTES = 2 ** 31 - 1;

const TURBO_FORMATS = {
  rgb: jpegTurbo.FORMAT_RGB,
  bgr: jpegTurbo.FORMAT_BGR,
  gray: jpegTurbo.FORMAT_GRAY,
};

/** Whether a JPEG is decoded at once, on this thread. */
export function isSmall({ width, height }: JpegHeader): boolean {
  return width * height <= INLINE_JPEG_PIXELS;
}

/** Whether libjpeg-turbo can give the wanted pixels of a JPEG. */
export function turboDecodes(header: JpegHeader, options: DecodeImageOptions): boolean {
  const { width, height, components, precision } = header;
  const isPlain = precision === 8 && (components === 1 || components === 3);
  return isPlain && shrinkFactor(header, options) === 1 && width * height * 3 <= MAX_TURBO_BYTES;
}

/** @returns undefined if the decoder finds fault; another may still read the picture */
export async function decodeWithTurbo(
  bytes: Uint8Array,
  header: JpegHeader,
  options: DecodeImageOptions,
  out: Uint8Array | undefined,
): Promise<Pixels | undefined> {
  const { width, height } = header;
  const order = options.channels ?? 'rgb';
  const channels = order === 'gray' ? 1 : 3;
  const format = { format: TURBO_FORMATS[order] };
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isUpright = header.orientation === 1;
  const isSized = (options.width ?? width) === width && (options.height ?? height) === height;
  const isFinal = isUpright && isSized;
  const size = width * height * channels;
  const data = isFinal
    ? (out ?? new Uint8Array(size))
    : (isUpright && isSmall(header) && sourceRows(size)) || takeBytes(size);
  const target = Buffer.from(data.buffer, data.byteOffset, size);
  // Small ones without a wait: their rows lie in memory that the next picture uses too.
  const decoded = isSmall(header)
    ? decompressNow(source, target, format)
    : await decompressLater(source, target, format);
  // Pixels that the decoder did not write would be those of another picture: the memory is used again.
  if (decoded?.width !== width || decoded.height !== height || decoded.size !== size) {
    // The caller's `out` is not ours to give: another decoder may fill it yet.
    if (!isFinal) giveBytes(data);
    return undefined;
  }
  const picture = { data, width, height, channels };
  if (isFinal) return picture;
  const upright = isUpright ? picture : await turnUpright(picture, header.orientation);
  const fitted = fitPicture(upright, options, out);
  giveBytes(data);
  return fitted;
}

/** What the decoder says that it has written: pixels, and bytes. */
type Decoded = Pick<ReturnType<typeof jpegTurbo.decompressSync>, 'width' | 'height' | 'size'>;

/** @returns undefined if the decoder finds fault with the file */
function decompressNow(
  source: Buffer,
  target: Buffer,
  format: { readonly format: number },
): Decoded | undefined {
  try {
    return jpegTurbo.decompressSync(source, target, format);
  } catch {
    return undefined;
  }
}

/** {@link decompressNow} in another thread. What the decoder finds in the header it throws at once, in this one. */
async function decompressLater(
  source: Buffer,
  target: Buffer,
  format: { readonly format: number },
): Promise<Decoded | undefined> {
  try {
    return await jpegTurbo.decompress(source, target, format);
  } catch {
    return undefined;
  }
}
