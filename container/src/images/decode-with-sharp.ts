/** Decodes with sharp: all formats but JPEG, and JPEGs that libjpeg-turbo cannot read. */
import sharp from 'sharp';
import type { ImageLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import { cmykToRgb } from './cmyk.ts';
import { tooManyPixels } from './declared-size.ts';
import { type DecodeImageOptions, limitsOf } from './decode-options.ts';
import { decoderReason } from './decoder-reason.ts';
import type { JpegHeader } from './jpeg-header.ts';
import { orderChannels } from './order-channels.ts';
import { pngGray } from './png-gray.ts';
import type { Pixels } from './resample.ts';
import { shrinkFactor, uprightSize } from './shrink-factor.ts';
import type { TiffColors } from './tiff-colors.ts';
import { ycbcrToRgb } from './ycbcr.ts';

// One thread for each picture: pictures, not their parts, are what runs side by side.
sharp.concurrency(1);
sharp.cache(false);

/** The luma of a PNG as TensorFlow computes it. */
export async function decodeGrayPng(png: Uint8Array, options: DecodeImageOptions): Promise<Pixels> {
  return pngGray(await decodeWithSharp(png, { ...options, channels: 'rgb' }), png);
}

/** The pixels of a picture, upright, shrunk if its header is given and asks for it. @throws ServingError 4xx */
export async function decodeWithSharp(
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
  limits: ImageLimits,
): Promise<ServingError> {
  const text = error instanceof Error ? error.message : String(error);
  if (/pixel limit/.test(text)) {
    const size = await sharp(bytes, { limitInputPixels: false })
      .metadata()
      .catch(() => undefined);
    if (size) return tooManyPixels(size, limits);
  }
  if (text.startsWith('timeout')) {
    const message = `the image takes more than ${limits.maxImageSeconds} s to decode (SAGEMAKER_TFS_MAX_IMAGE_SECONDS). Send a smaller one.`;
    return new ServingError('BAD_IMAGE', message, { cause: error });
  }
  return new ServingError(
    'BAD_IMAGE',
    `the image is damaged or cut short: ${decoderReason(error)}`,
    {
      cause: error,
    },
  );
}
