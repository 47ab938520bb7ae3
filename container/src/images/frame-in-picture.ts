/**
 * Where the model's frame lies in a picture that was fitted into it, so that what the model says of the frame can be
 * said of the picture.
 */
import type { Size } from '@sagemaker-tfs/tensors/letterbox';
import { type FrameInPicture, frameInPicture } from '@sagemaker-tfs/tensors/placement';
import sharp, { type Metadata } from 'sharp';
import type { ImageLimits } from '../decode-limits.ts';
import { imageFormat } from './image-format.ts';
import { imageInput } from './image-to-tensor.ts';
import { readJpegHeader } from './jpeg-header.ts';
import type { PictureContext } from './picture-context.ts';
import { pngForPixels } from './png-chunks.ts';

/**
 * The frame in each picture; undefined if it is not asked for, if frame and picture are the same (`stretch`, the
 * model's own size), or where the graph decodes pictures itself.
 * @param images encoded pictures that were decoded without error
 */
export async function framesOf(
  images: readonly Uint8Array[],
  { signature, preprocess, wantsFrames, limits }: PictureContext,
): Promise<readonly FrameInPicture[] | undefined> {
  if (!wantsFrames) return undefined;
  const input = imageInput(signature, preprocess);
  if (input.bytes || input.resize === 'stretch') return undefined;
  const { width, height, resize } = input;
  if (width === undefined || height === undefined) return undefined;
  const sizes = await Promise.all(images.map((bytes) => uprightSize(bytes, limits)));
  return sizes.map((size) => frameInPicture(size, { width, height }, resize));
}

/** Pixels of the picture as it is seen: EXIF orientation applied. */
async function uprightSize(bytes: Uint8Array, limits: ImageLimits): Promise<Size> {
  const header = readJpegHeader(bytes);
  const { width, height, orientation = 1 } = header ?? (await readWithSharp(bytes, limits));
  return orientation >= 5 ? { width: height, height: width } : { width, height };
}

function readWithSharp(bytes: Uint8Array, limits: ImageLimits): Promise<Metadata> {
  const needed = imageFormat(bytes) === 'png' ? pngForPixels(bytes, limits) : bytes;
  return sharp(needed).metadata();
}
