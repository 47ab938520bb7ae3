/**
 * Decodes one picture to 8-bit pixels of the wanted size and channels.
 *
 * JPEGs go through libjpeg-turbo, whose pixels equal those of `tf.io.decode_jpeg`. Sharp reads what it cannot read: CMYK,
 * damage that other decoders forgive, and all other formats. The pixels of CMYK equal those of
 * `dct_method="INTEGER_ACCURATE"`. As in `tf.io.decode_image`, color profiles are not applied, CMYK becomes RGB by
 * arithmetic alone, and transparency is dropped. 16-bit samples become 8.
 */
import jpegTurbo from '@julusian/jpeg-turbo';
import type { Preprocess } from '@sagemaker-tfs/manifest';
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import type { ResizeMode } from '@sagemaker-tfs/tensors/placement';
import sharp from 'sharp';
import type { ImageLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import { giveBytes, takeBytes } from '../memory/byte-pool.ts';
import { cmykToRgb } from './cmyk.ts';
import { checkSides, declaredSize } from './declared-size.ts';
import { inTurn } from './decode-turns.ts';
import { fitPicture } from './fit-picture.ts';
import { IMAGE_FORMATS, type ImageFormat, imageFormat } from './image-format.ts';
import { imageLimits } from './image-limits.ts';
import { countScans, type JpegHeader, readJpegHeader } from './jpeg-header.ts';
import { orderChannels } from './order-channels.ts';
import { pngForPixels } from './png-chunks.ts';
import { pngGray } from './png-gray.ts';
import type { Pixels } from './resample.ts';
import { sourceRows } from './resample-kernel.ts';
import { readTiffColors, type TiffColors } from './tiff-colors.ts';
import { turnUpright } from './turn-upright.ts';
import { webpForPixels } from './webp-chunks.ts';
import { ycbcrToRgb } from './ycbcr.ts';

/** What the pixels should be. */
export interface DecodeImageOptions {
  /** Pixels. Default: the picture's own. */
  readonly width?: number | undefined;
  /** Pixels. Default: the picture's own. */
  readonly height?: number | undefined;
  /** Default: `rgb`. `gray` is Rec. 601 luma: JPEG's own, `tf.io.decode_png(channels=1)`, else rounded. */
  readonly channels?: 'rgb' | 'bgr' | 'gray';
  /** Default: `stretch`. */
  readonly resize?: ResizeMode;
  /** Default: `bilinear`, computed as `tf.image.resize` does. */
  readonly interpolation?: Preprocess['interpolation'];
  /** As `tf.image.resize(..., antialias=True)`, and Pillow. Default: false, TensorFlow's own default. */
  readonly antialias?: boolean;
  /**
   * JPEGs of 8,000,000 pixels and more that become much smaller are first shrunk by 2, 4 or 8 in the decoder:
   * faster, but then neither resize of TensorFlow. Default: false.
   */
  readonly shrink?: boolean;
  /** Color of the bars that `contain` adds, 0-255. Default: 0. */
  readonly padding?: number;
  /** Width times height that the encoded picture may have. Default: the runtime's `SAGEMAKER_TFS_MAX_IMAGE_PIXELS`. */
  readonly maxPixels?: number;
  /** What the encoded picture may make the decoders do. Default: the runtime's. `maxPixels` goes before it. */
  readonly limits?: ImageLimits;
  /** Ends the wait for a core. Default: none. */
  readonly signal?: AbortSignalLike | undefined;
}

/** JPEGs up to this many pixels are decoded at once, which takes about a millisecond; larger ones in a thread. */
const INLINE_JPEG_PIXELS = 262_144;

/** From here on shrinking while decoding (by sharp), where asked for, is faster than decoding everything. */
const SHRINK_PIXELS = 8_000_000;

/** The decoder counts bytes in 32 bits. */
const MAX_TURBO_BYTES = 2 ** 31 - 1;

// One thread for each picture: pictures, not their parts, are what runs side by side.
sharp.concurrency(1);
sharp.cache(false);

/**
 * Decodes, resizes and orders the channels of one picture (JPEG, PNG, WebP, TIFF, or the first frame of a
 * GIF), upright by its EXIF orientation.
 *
 * With `shrink`, JPEGs from {@link SHRINK_PIXELS} pixels on that are to become much smaller are shrunk by 2, 4 or 8
 * in the decoder first, to no less than the wanted size (not with `nearest`).
 * @param out where the pixels go if the size is given: exactly height * width * channels bytes
 * @returns rows of pixels, channels innermost: 1 channel for `gray`, else 3
 * @throws ServingError BAD_IMAGE where the bytes are no whole picture, REQUEST_TOO_LARGE beyond `maxPixels` or with a
 *   side longer than `maxImageSide`
 */
export async function decodeImage(
  bytes: Uint8Array,
  options: DecodeImageOptions = {},
  out?: Uint8Array,
): Promise<Pixels> {
  const format = imageFormat(bytes);
  if (!format) throw notAnImage(bytes);
  const limits = limitsOf(options);
  const room = roomForPixels(options, out);
  if (format !== 'jpeg') {
    checkSides(declaredSize(bytes, format), limits);
    const decode = decoderOf(format, bytes, options);
    return inTurn(async () => fit(await decode(), options, room), options.signal);
  }
  const header = readJpegHeader(bytes);
  checkJpeg(bytes, header, limits);
  const decode = (): Promise<Pixels> => decodeJpeg(bytes, header, options, room);
  return header && isSmall(header) ? decode() : inTurn(decode, options.signal);
}

/** @throws ServingError BAD_IMAGE for TIFFs of kinds that are refused */
function decoderOf(
  format: Exclude<ImageFormat, 'jpeg'>,
  bytes: Uint8Array,
  options: DecodeImageOptions,
): () => Promise<Pixels> {
  if (format === 'png') {
    const needed = pngForPixels(bytes, limitsOf(options));
    const decode = options.channels === 'gray' ? decodeGrayPng : decodeWithSharp;
    return () => decode(needed, options);
  }
  if (format === 'webp') {
    const needed = webpForPixels(bytes);
    return () => decodeWithSharp(needed, options);
  }
  const colors = format === 'tiff' ? readTiffColors(bytes) : undefined;
  return () => decodeWithSharp(colors?.bytes ?? bytes, options, undefined, colors);
}

/** What may be decoded: the options' own limits, or the runtime's. */
export function limitsOf({ limits = imageLimits(), maxPixels }: DecodeImageOptions): ImageLimits {
  return maxPixels === undefined ? limits : { ...limits, maxImagePixels: maxPixels };
}

/**
 * Where the pixels go; undefined if the size is not given.
 * @throws RangeError where the pixels would not fill `out`, or end beyond it
 */
export function roomForPixels(
  options: DecodeImageOptions,
  out?: Uint8Array,
): Uint8Array | undefined {
  const { width, height, channels } = options;
  if (!out || width === undefined || height === undefined) return undefined;
  const size = width * height * (channels === 'gray' ? 1 : 3);
  if (out.length === size) return out;
  throw new RangeError(`out has ${out.length} bytes, the pixels take ${size}`);
}

/** What sharp decodes it may still refuse to resize, for its shape. */
function fit(picture: Pixels, options: DecodeImageOptions, out: Uint8Array | undefined): Pixels {
  try {
    return fitPicture(picture, options, out);
  } catch (cause) {
    const { width, height } = picture;
    throw new ServingError(
      'BAD_IMAGE',
      `the image of ${width} x ${height} pixels cannot be resized: ${reasonOf(cause)}`,
      { cause },
    );
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split('\n')[0] ?? '';
}

async function decodeJpeg(
  bytes: Uint8Array,
  header: JpegHeader | undefined,
  options: DecodeImageOptions,
  out: Uint8Array | undefined,
): Promise<Pixels> {
  if (header && turboDecodes(header, options)) {
    const decoded = await decodeWithTurbo(bytes, header, options, out);
    if (decoded) return decoded;
  }
  const picture = await decodeWithSharp(bytes, options, header);
  if (!header) checkSides(picture, limitsOf(options));
  return fit(picture, options, out);
}

function isSmall({ width, height }: JpegHeader): boolean {
  return width * height <= INLINE_JPEG_PIXELS;
}

function notAnImage(bytes: Uint8Array): ServingError {
  if (bytes.length === 0) return new ServingError('BAD_IMAGE', 'the image is empty (0 bytes).');
  const start = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  if (start === '49492b00' || start === '4d4d002b') {
    const message = 'the image is a BigTIFF, which is not read. Save it as TIFF.';
    return new ServingError('BAD_IMAGE', message);
  }
  return new ServingError(
    'BAD_IMAGE',
    `${bytes.length} bytes that begin with ${start} (hex) are no image. Send ${IMAGE_FORMATS}.`,
  );
}

function checkJpeg(bytes: Uint8Array, header: JpegHeader | undefined, limits: ImageLimits): void {
  const { maxImagePixels, maxJpegScans } = limits;
  if (header && header.width * header.height > maxImagePixels) {
    throw tooManyPixels(header.width, header.height, maxImagePixels);
  }
  checkSides(header, limits);
  if (header && !header.severalScans) return;
  const scans = countScans(bytes);
  if (scans > maxJpegScans) {
    throw new ServingError(
      'BAD_IMAGE',
      `the JPEG has ${scans} scans. At most ${maxJpegScans} are decoded (SAGEMAKER_TFS_MAX_JPEG_SCANS). Save it anew.`,
    );
  }
}

function tooManyPixels(width: number, height: number, limit: number): ServingError {
  return new ServingError(
    'REQUEST_TOO_LARGE',
    `the image is ${width} x ${height} = ${width * height} pixels. At most ${limit} are decoded. Send a smaller one or raise the limit.`,
  );
}

function turboDecodes(header: JpegHeader, options: DecodeImageOptions): boolean {
  const { width, height, components, precision } = header;
  const isPlain = precision === 8 && (components === 1 || components === 3);
  return isPlain && shrinkFactor(header, options) === 1 && width * height * 3 <= MAX_TURBO_BYTES;
}

/** By how much the decoder may shrink the JPEG and still give no less than the wanted size: 1, 2, 4 or 8. */
function shrinkFactor(header: JpegHeader, options: DecodeImageOptions): number {
  const { width, height } = uprightSize(header);
  if (!options.shrink || width * height < SHRINK_PIXELS) return 1;
  if (options.interpolation === 'nearest') return 1;
  const spare = Math.min(width / (options.width ?? width), height / (options.height ?? height));
  return [8, 4, 2].find((factor) => spare >= factor) ?? 1;
}

function uprightSize({ width, height, orientation }: JpegHeader): {
  width: number;
  height: number;
} {
  return orientation >= 5 ? { width: height, height: width } : { width, height };
}

const TURBO_FORMATS = {
  rgb: jpegTurbo.FORMAT_RGB,
  bgr: jpegTurbo.FORMAT_BGR,
  gray: jpegTurbo.FORMAT_GRAY,
};

/** @returns undefined if the decoder finds fault; another may still read the picture */
async function decodeWithTurbo(
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
  const fitted = fit(upright, options, out);
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

async function decodeGrayPng(png: Uint8Array, options: DecodeImageOptions): Promise<Pixels> {
  return pngGray(await decodeWithSharp(png, { ...options, channels: 'rgb' }), png);
}

async function decodeWithSharp(
  bytes: Uint8Array,
  options: DecodeImageOptions,
  header?: JpegHeader,
  colors?: TiffColors,
): Promise<Pixels> {
  const limits = limitsOf(options);
  const image = sharp(bytes, {
    failOn: 'error',
    // For sharp 0 is no limit.
    limitInputPixels: Math.max(1, Math.floor(limits.maxImagePixels)),
    autoOrient: true,
    ignoreIcc: true,
  }).timeout({ seconds: limits.maxImageSeconds });
  const factor = header ? shrinkFactor(header, options) : 1;
  if (header && factor > 1) {
    const { width, height } = uprightSize(header);
    image.resize(Math.ceil(width / factor), Math.ceil(height / factor), { fit: 'fill' });
  }
  try {
    const isCmyk = header?.components === 4 || colors?.left === 'cmyk';
    if (!header || !isCmyk) image.removeAlpha();
    const wanted = isCmyk
      ? image.pipelineColourspace('cmyk').toColourspace('cmyk')
      : image.toColourspace('srgb');
    const { data, info } = await wanted
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    if (channels !== (isCmyk ? 4 : 3) || data.length !== width * height * channels) {
      throw new Error(`it has ${channels} channels that are no colors`);
    }
    const decoded = { data, width, height, channels };
    const rgb = isCmyk ? cmykToRgb(decoded, header?.isAdobe === false) : decoded;
    return orderChannels(
      colors?.scale ? ycbcrToRgb(rgb, colors.scale) : rgb,
      options.channels ?? 'rgb',
    );
  } catch (error) {
    throw await sharpError(error, bytes, limits);
  }
}

async function sharpError(
  error: unknown,
  bytes: Uint8Array,
  { maxImagePixels, maxImageSeconds }: ImageLimits,
): Promise<ServingError> {
  const text = error instanceof Error ? error.message : String(error);
  if (/pixel limit/.test(text)) {
    const size = await sharp(bytes, { limitInputPixels: false })
      .metadata()
      .catch(() => undefined);
    if (size) return tooManyPixels(size.width, size.height, maxImagePixels);
  }
  if (text.startsWith('timeout')) {
    const message = `the image takes more than ${maxImageSeconds} s to decode (SAGEMAKER_TFS_MAX_IMAGE_SECONDS). Send a smaller one.`;
    return new ServingError('BAD_IMAGE', message, { cause: error });
  }
  return new ServingError('BAD_IMAGE', `the image is damaged or cut short: ${reasonOf(error)}`, {
    cause: error,
  });
}
