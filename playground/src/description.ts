/** What `serve` tells its page of the models: plain data, sent as JSON. */

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
  readonly resize: 'stretch' | 'cover' | 'contain';
  /** Pixels; undefined if the model takes any size or the encoded bytes. */
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** One signature. */
export interface SignatureDescription {
  readonly inputs: Readonly<Record<string, TensorDescription>>;
  readonly outputs: Readonly<Record<string, TensorDescription>>;
  /** Null where pictures cannot be sent without a handler. */
  readonly picture: PictureInput | null;
}

/** One model. */
export interface ModelDescription {
  readonly name: string;
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

/** Everything that the page knows before the first request. */
export interface PlaygroundDescription {
  readonly models: readonly ModelDescription[];
  readonly hasHandler: boolean;
  /** True where answers are made by a declared `postprocess`. */
  readonly hasPostprocess: boolean;
  /** True where that makes boxes, which are then in the picture's own coordinates. */
  readonly hasBoxes: boolean;
  /** Name of each class by its index; empty where the package declares none. */
  readonly labels: readonly string[];
  readonly samples: readonly SampleDescription[];
}
