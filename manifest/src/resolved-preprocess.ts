/** A `preprocess` declaration with everything decided. */
import type { NumericDType } from '@sagemaker-tfs/tensors';
import type { Preprocess } from './image-declaration.ts';

/** An input that takes the encoded picture (JPEG, PNG) as it is: a DT_STRING input. */
export interface BytesInput {
  readonly bytes: true;
  /** Name of the input. */
  readonly input: string;
}

/** An input that takes decoded pixels. */
export interface PixelsInput {
  readonly bytes: false;
  /** Name of the input. */
  readonly input: string;
  readonly dtype: Exclude<NumericDType, 'bool'>;
  /** Pixels; undefined if the model takes any and none is declared: the picture's own height. */
  readonly height: number | undefined;
  /** Pixels; undefined if the model takes any and none is declared: the picture's own width. */
  readonly width: number | undefined;
  readonly channels: 'rgb' | 'bgr' | 'gray';
  /** Order of the dimensions of the tensor. */
  readonly layout: 'NHWC' | 'NCHW';
  /** False if the tensor is [N,H,W], gray without a dimension for the channels. */
  readonly channelDimension: boolean;
  /** False if the tensor is one picture, [H,W,C]. */
  readonly batchDimension: boolean;
  readonly resize: Preprocess['resize'];
  /** Color of the bars that `contain` adds, 0-255. */
  readonly padding: number;
  readonly interpolation: Preprocess['interpolation'];
  /** Whether filters widen where the picture shrinks. */
  readonly antialias: boolean;
  /** Whether the JPEG decoder may shrink large pictures first. */
  readonly shrink: boolean;
  /** value = pixel * scale + offset, pixel in 0-255: one for each channel, in the tensor's channel order. */
  readonly scale: readonly number[];
  readonly offset: readonly number[];
  /** Where mean and std are declared: value = (pixel / 255 - mean) / std, which scale and offset are up to rounding. */
  readonly normalized?: { readonly mean: readonly number[]; readonly std: readonly number[] };
}

/** How pictures become the input tensor, everything decided. */
export type ResolvedPreprocess = BytesInput | PixelsInput;
