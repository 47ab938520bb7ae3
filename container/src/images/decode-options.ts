/** What the pixels of a picture should be. */
import type { Preprocess } from '@sagemaker-tfs/manifest';
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import type { ResizeMode } from '@sagemaker-tfs/tensors/placement';
import type { ImageLimits } from '../decode-limits.ts';
import { imageLimits } from './image-limits.ts';

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

/** What may be decoded: the options' own limits, or the runtime's. */
export function limitsOf({ limits = imageLimits(), maxPixels }: DecodeImageOptions): ImageLimits {
  return maxPixels === undefined
    ? limits
    : { ...limits, maxImagePixels: maxPixels, pixelSetting: 'maxPixels' };
}

/**
 * Where the pixels go; undefined if the size is not given.
 * @throws RangeError if the pixels would not fill `out`, or end beyond it
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
