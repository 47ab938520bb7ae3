/** Images brought to a network's size before they are sent: fewer bytes on the way. */
import { encodeJpeg } from '#encode-jpeg';
import { PredictionError } from '../errors/prediction-error.ts';
import type { FitImageOptions } from './fit-image-options.ts';

const QUALITY = 90;

/**
 * Decodes an image (JPEG, PNG, WebP, GIF; EXIF orientation applied, transparency on black) and returns a JPEG of
 * exactly `width` x `height`. Node uses sharp, an optional peer dependency; browsers a canvas.
 * @throws PredictionError BAD_IMAGE, BAD_OPTION
 */
export async function fitImage(image: Uint8Array, options: FitImageOptions): Promise<Uint8Array> {
  const { width, height, mode = 'stretch', quality = QUALITY } = options;
  const sizes = { width, height, quality };
  for (const [name, value] of Object.entries(sizes)) {
    if (!Number.isInteger(value) || value < 1 || (name === 'quality' && value > 100)) {
      const range = name === 'quality' ? 'from 1 to 100' : 'from 1 on';
      throw new PredictionError('BAD_OPTION', `${name} ${value} is not a whole number ${range}.`);
    }
  }
  return encodeJpeg(image, { width, height, mode, quality });
}
