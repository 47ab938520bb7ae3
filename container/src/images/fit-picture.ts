/** Brings decoded pixels to the wanted size. */
import type { Preprocess } from '@sagemaker-tfs/manifest';
import { placePicture, type ResizeMode } from '@sagemaker-tfs/tensors/placement';
import { ServingError } from '../errors.ts';
import { decoderReason } from './decoder-reason.ts';
import { type Pixels, resample } from './resample.ts';

/** The wanted size and how to get there; see `DecodeImageOptions`. */
interface FitOptions {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly resize?: ResizeMode;
  readonly interpolation?: Preprocess['interpolation'];
  readonly antialias?: boolean;
  readonly padding?: number;
}

/**
 * The picture in a frame of the wanted size: in `out` where it is given, else in a new array; the picture
 * itself where nothing is to be done.
 * @throws ServingError BAD_IMAGE for shapes that cannot be resized, as sharp may decode them
 */
export function fitPicture(picture: Pixels, options: FitOptions, out?: Uint8Array): Pixels {
  try {
    return fitted(picture, options, out);
  } catch (cause) {
    const { width, height } = picture;
    throw new ServingError(
      'BAD_IMAGE',
      `the image of ${width} x ${height} pixels cannot be resized: ${decoderReason(cause)}`,
      { cause },
    );
  }
}

function fitted(picture: Pixels, options: FitOptions, out?: Uint8Array): Pixels {
  const { channels } = picture;
  const { width = picture.width, height = picture.height } = options;
  const isFitting = width === picture.width && height === picture.height;
  if (isFitting && !out) return picture;
  const data = out ?? new Uint8Array(width * height * channels);
  const frame = { data, width, height, channels };
  const placement = placePicture(picture, frame, options.resize ?? 'stretch');
  const { target } = placement;
  if (target.width < width || target.height < height) data.fill(options.padding ?? 0);
  const { interpolation = 'bilinear', antialias = false } = options;
  resample(picture, frame, placement, { interpolation, antialias });
  return frame;
}
