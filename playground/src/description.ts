/** What `serve` tells its page of the models: plain data, sent as JSON. */

import type { ResizeMode } from '@sagemaker-tfs/tensors/placement';

/** An input or output of a signature. */
export interface TensorDescription {
  /** TensorFlow's name, `float32`. */
  readonly dtype: string;
  /** -1 for any size; null where the rank is unknown. */
  readonly shape: readonly number[] | null;
}

/** How pictures enter a signature. */
export interface PictureInput {
  readonly input: string;
  readonly resize: ResizeMode;
  /** Pixels; undefined if the model takes any size or the encoded bytes. */
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  /** What the input gets of a picture, `RGB, stretched to 224x224, values 0 to 255`; null if a handler may read it. */
  readonly pixels: string | null;
  /** Whether these are the picture's own values, which a model that was trained on others takes for something else. */
  readonly isRaw: boolean;
  /** Null if the package declares none, or a handler takes the picture: there is nothing to switch. */
  readonly declared: Declaration | null;
}

/** What the page may switch of a declared `preprocess`; the values that hold now. */
export interface Declaration {
  readonly resize: ResizeMode;
  readonly layout: 'NHWC' | 'NCHW';
  readonly channels: 'rgb' | 'bgr' | 'gray';
  /** value = pixel * scale + offset; a number for each channel. */
  readonly scale: readonly number[];
  readonly offset: readonly number[];
}

/** How a signature takes tf.Examples. */
export interface ExampleInput {
  readonly method: 'predict' | 'classify' | 'regress';
  /** dtype and number of values by the feature's name. */
  readonly features: Readonly<Record<string, { readonly dtype: string; readonly count: number }>>;
}

/** One signature. */
export interface SignatureDescription {
  readonly inputs: Readonly<Record<string, TensorDescription>>;
  /** Those that the archive answers, by the names that answers show. */
  readonly outputs: Readonly<Record<string, TensorDescription>>;
  /** Null where pictures cannot be sent without a handler. */
  readonly picture: PictureInput | null;
  /** Null if the signature takes no tf.Examples, or parses no feature that is known. */
  readonly examples: ExampleInput | null;
}

/** One model. */
interface ModelDescription {
  /** As requests name it. */
  readonly name: string;
  /** As people call it: the only model of an archive is named `model`. */
  readonly title: string;
  /** Oldest first. */
  readonly versions: readonly string[];
  /** Of the newest version. */
  readonly signatures: Readonly<Record<string, SignatureDescription>>;
}

/** A file to try, on the server. */
export interface SampleDescription {
  readonly name: string;
  /** Path on this server. */
  readonly path: string;
  readonly mediaType: string;
}

/** A request that fits what the handler declares. */
export interface DeclaredExample {
  readonly contentType: string;
  readonly text: string;
}

/** Everything that the page knows before the first request. */
export interface PlaygroundDescription {
  readonly models: readonly ModelDescription[];
  readonly hasHandler: boolean;
  /** Null where no handler declares requests in JSON. */
  readonly example: DeclaredExample | null;
  /** True where answers are made by a declared `postprocess`. */
  readonly hasPostprocess: boolean;
  /** The lowest score of the boxes that it makes, in the picture's own coordinates; null where it makes none. */
  readonly minScore: number | null;
  /** Name of each class by its index; empty where the package declares none. */
  readonly labels: readonly string[];
  readonly samples: readonly SampleDescription[];
}
