/** How an image becomes a tensor, and outputs become an answer, declared instead of programmed. */
import { RESIZE_MODES } from '@sagemaker-tfs/tensors/placement';
import * as z from 'zod';
import { PREPROCESS_DEFAULTS } from './preprocess-defaults.ts';

const perChannel = z.union([z.number(), z.array(z.number()).min(1).max(4)]);

/** Turns decoded pixels into an input tensor of [N,H,W,C] or [N,C,H,W]. */
export const preprocessSchema = z.strictObject({
  /** Input that the image feeds. Default: the signature's only input. */
  input: z.string().min(1).optional(),
  /** How the picture meets the input's height and width. Default: stretch. */
  resize: z.enum(RESIZE_MODES).default(PREPROCESS_DEFAULTS.resize),
  /** [height, width] where the signature leaves them open. */
  size: z.tuple([z.int().positive(), z.int().positive()]).optional(),
  /** Color of the bars that `contain` adds, 0-255 for each channel. Default: 0. */
  padding: z.number().min(0).max(255).default(PREPROCESS_DEFAULTS.padding),
  /** Method of `tf.image.resize`. Default: bilinear. */
  interpolation: z
    .enum(['nearest', 'bilinear', 'bicubic', 'lanczos3', 'area'])
    .default(PREPROCESS_DEFAULTS.interpolation),
  /** Whether filters widen where the picture shrinks, as in `tf.image.resize` and Pillow. Default: false. */
  antialias: z.boolean().default(PREPROCESS_DEFAULTS.antialias),
  /** Lets the JPEG decoder shrink large pictures by 2, 4 or 8 first: faster, less exact. Default: false. */
  shrink: z.boolean().default(PREPROCESS_DEFAULTS.shrink),
  /** Order of the color channels in the tensor. Default: rgb. */
  channels: z.enum(['rgb', 'bgr', 'gray']).optional(),
  /** Order of the dimensions. Default: from the signature's shape (a size of 1, 3 or 4 marks the channels). */
  layout: z.enum(['NHWC', 'NCHW']).optional(),
  /** value = pixel * scale + offset, pixel in 0-255. Default: 1 and 0. Not together with mean and std. */
  scale: perChannel.optional(),
  offset: perChannel.optional(),
  /** value = (pixel / 255 - mean) / std, for each channel. */
  mean: perChannel.optional(),
  std: perChannel.optional(),
});

/** Turns output tensors into what the client reads. */
export const postprocessSchema = z.strictObject({
  /** Outputs to keep, in order. Default: all. */
  outputs: z.array(z.string().min(1)).min(1).optional(),
  /** New names by output name. */
  rename: z.record(z.string(), z.string().min(1)).optional(),
  /** Softmax over the last dimension of this output first. */
  softmax: z.string().min(1).optional(),
  /** The K best classes of a [N, classes] output instead of all scores. */
  topK: z
    .strictObject({
      output: z.string().min(1).optional(),
      k: z.int().positive().default(5),
      /** A text file in `code/`, one label a line. */
      labels: z.string().min(1).optional(),
    })
    .optional(),
  /** Detections with a score at or above a threshold, as a list of boxes. */
  boxes: z
    .strictObject({
      boxes: z.string().default('detection_boxes'),
      scores: z.string().default('detection_scores'),
      classes: z.string().default('detection_classes'),
      threshold: z.number().min(0).max(1).default(0.5),
      /** At most this many for each image. Default: all at or above the threshold. */
      limit: z.int().positive().optional(),
      labels: z.string().min(1).optional(),
    })
    .optional(),
});

/** A checked `preprocess` declaration, defaults filled in. */
export type Preprocess = z.output<typeof preprocessSchema>;
/** A `preprocess` declaration as people write it. */
export type PreprocessInput = z.input<typeof preprocessSchema>;
/** A checked `postprocess` declaration, defaults filled in. */
export type Postprocess = z.output<typeof postprocessSchema>;
/** A `postprocess` declaration as people write it. */
export type PostprocessInput = z.input<typeof postprocessSchema>;
