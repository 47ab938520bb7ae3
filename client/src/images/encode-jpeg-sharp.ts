/** Resizing and JPEG encoding in Node, by sharp. */
import { PredictionError } from '../errors/prediction-error.ts';
import type { FitImageOptions } from './fit-image-options.ts';
import { place } from './placement.ts';

/** As `fitImage`. */
export async function encodeJpeg(
  image: Uint8Array,
  { width, height, mode, quality }: Required<FitImageOptions>,
): Promise<Uint8Array> {
  const sharp = await loadSharp();
  try {
    const { autoOrient } = await sharp(image).metadata();
    const target = place(autoOrient, { width, height }, mode);
    return await sharp(image)
      .autoOrient()
      .flatten({ background: 'black' })
      .resize({ width: target.width, height: target.height, fit: 'fill' })
      .extend({
        left: target.x,
        top: target.y,
        right: width - target.x - target.width,
        bottom: height - target.y - target.height,
        background: 'black',
      })
      .jpeg({ quality })
      .toBuffer();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PredictionError('BAD_IMAGE', `the image cannot be decoded: ${why}`, { cause });
  }
}

async function loadSharp() {
  try {
    return (await import('sharp')).default;
  } catch (cause) {
    throw new PredictionError(
      'BAD_IMAGE',
      'fitImage needs sharp to decode images in Node. Run: npm install sharp',
      { cause },
    );
  }
}
