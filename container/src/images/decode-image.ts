/**
 * Decodes one picture to 8-bit pixels of the wanted size and channels.
 *
 * JPEGs go through libjpeg-turbo, whose pixels equal those of `tf.io.decode_jpeg`. Sharp reads what it cannot read: CMYK,
 * damage that other decoders forgive, and all other formats. The pixels of CMYK equal those of
 * `dct_method="INTEGER_ACCURATE"`. As in `tf.io.decode_image`, color profiles are not applied, CMYK becomes RGB by
 * arithmetic alone, and transparency is dropped. 16-bit samples become 8.
 */
import type { ImageLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import { checkSides, declaredSize, tooManyPixels } from './declared-size.ts';
import { type DecodeImageOptions, limitsOf, roomForPixels } from './decode-options.ts';
import { inTurn } from './decode-turns.ts';
import { decodeGrayPng, decodeWithSharp } from './decode-with-sharp.ts';
import { decodeWithTurbo, isSmall, turboDecodes } from './decode-with-turbo.ts';
import { fitPicture } from './fit-picture.ts';
import { IMAGE_FORMATS, type ImageFormat, imageFormat } from './image-format.ts';
import { countScans, type JpegHeader, readJpegHeader } from './jpeg-header.ts';
import { pngForPixels } from './png-chunks.ts';
import type { Pixels } from './resample.ts';
import { readTiffColors } from './tiff-colors.ts';
import { unreadFormat } from './unread-format.ts';
import { webpForPixels } from './webp-chunks.ts';

/**
 * Decodes, resizes and orders the channels of one picture (JPEG, PNG, WebP, TIFF, or the first frame of a
 * GIF), upright by its EXIF orientation.
 *
 * With `shrink`, JPEGs from 8,000,000 pixels on that are to become much smaller are shrunk by 2, 4 or 8
 * in the decoder first, to no less than the wanted size (not with `nearest`).
 * @param out where the pixels go if the size is given: exactly height * width * channels bytes
 * @returns rows of pixels, channels innermost: 1 channel for `gray`, else 3
 * @throws ServingError BAD_IMAGE if the bytes are no whole picture, REQUEST_TOO_LARGE beyond `maxPixels` or with a
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
    return inTurn(async () => fitPicture(await decode(), options, room), options.signal);
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
  return fitPicture(picture, options, out);
}

function notAnImage(bytes: Uint8Array): ServingError {
  if (bytes.length === 0) return new ServingError('BAD_IMAGE', 'the image is empty (0 bytes).');
  const format = unreadFormat(bytes);
  if (format !== undefined) {
    const message = `the image is ${format}, which is not read. Convert it to JPEG or PNG.`;
    return new ServingError('BAD_IMAGE', message);
  }
  const start = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  return new ServingError(
    'BAD_IMAGE',
    `${bytes.length} bytes that begin with ${start} (hex) are no image. Send ${IMAGE_FORMATS}.`,
  );
}

function checkJpeg(bytes: Uint8Array, header: JpegHeader | undefined, limits: ImageLimits): void {
  const { maxImagePixels, maxJpegScans } = limits;
  if (header && header.width * header.height > maxImagePixels) {
    throw tooManyPixels(header, limits);
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
