/** One picture to the elements of one row of a tensor: the unit of work that a thread of the pool does. */
import type { PixelsInput } from '@sagemaker-tfs/manifest';
import { type AbortSignalLike, DTYPES } from '@sagemaker-tfs/tensors';
import type { ImageLimits } from '../decode-limits.ts';
import { giveBytes, takeBytes } from '../memory/byte-pool.ts';
import { decodeImage } from './decode-image.ts';
import { type PixelEncoder, pixelEncoder } from './pixel-encoder.ts';

/** What to do with one encoded picture. */
export interface ImageTask {
  readonly bytes: Uint8Array;
  readonly input: PixelsInput;
  readonly limits: ImageLimits;
  /** Where the elements go, aligned for the dtype; only where the input's size is known. */
  readonly row?: Uint8Array;
}

/** One row of the batch. */
export interface ImageElements {
  /** Elements in the tensor's dtype and layout. */
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
}

const encoders = new WeakMap<PixelsInput, PixelEncoder>();

function encoderFor(input: PixelsInput): PixelEncoder {
  const known = encoders.get(input);
  if (known) return known;
  const encoder = pixelEncoder(input);
  encoders.set(input, encoder);
  return encoder;
}

/**
 * Decodes, resizes and converts one picture.
 * @param signal ends the wait for a core
 * @throws ServingError BAD_IMAGE or REQUEST_TOO_LARGE
 */
export async function runImageTask(
  task: ImageTask,
  signal?: AbortSignalLike,
): Promise<ImageElements> {
  const { bytes, input, limits, row } = task;
  const encoder = encoderFor(input);
  const { width, height, channels, resize, interpolation, antialias, shrink, padding } = input;
  const options = {
    width,
    height,
    channels,
    resize,
    interpolation,
    antialias,
    shrink,
    padding,
    limits,
    signal,
  };
  const { size: elementBytes } = DTYPES[input.dtype];
  const room = row && !encoder.isIdentity ? takeBytes(row.byteLength / elementBytes) : row;
  const { data, width: across, height: down } = await decodeImage(bytes, options, room);
  const size = { width: across, height: down };
  if (encoder.isIdentity) return { bytes: data, ...size };
  const elements = row ?? new Uint8Array(data.length * elementBytes);
  encoder.write(data, elements);
  if (room) giveBytes(room);
  return { bytes: elements, ...size };
}
