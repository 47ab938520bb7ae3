/** What the bytes of one request may make their readers do: looked at before memory or time goes. */
import { SAGEMAKER_RECORD_LIMITS } from '@sagemaker-tfs/tensors/sagemaker-record-limits';

/** Bounds of a picture. */
export interface ImageLimits {
  /** Width times height before any resize. */
  readonly maxImagePixels: number;
  /** What raises that, if not `SAGEMAKER_TFS_MAX_IMAGE_PIXELS`. */
  readonly pixelSetting?: string;
  /** Pixels of a side: decoders that go row by row take minutes for one column of 100 million rows. */
  readonly maxImageSide: number;
  /** Chunks of a PNG. */
  readonly maxPngChunks: number;
  /** Scans of a JPEG: each goes over the whole picture once more. */
  readonly maxJpegScans: number;
  /** Seconds that sharp may take for a picture, whole. */
  readonly maxImageSeconds: number;
}

/** Bounds of a request's body. */
export interface DecodeLimits extends ImageLimits {
  /** Bytes of all decoded tensors. */
  readonly maxDecodedBytes: number;
  /** Bytes of the pixels of pictures whose size the model leaves open: a file of a kilobyte may declare a large one. */
  readonly maxOpenSizeBytes: number;
  /** Strings, and records: an object is made for each, some 200 bytes besides its own; TensorFlow makes another. */
  readonly maxStrings: number;
  /** Features of a tf.Example or a SageMaker Record: an object is made for each, many times the size of a small one. */
  readonly maxFeatures: number;
  /** Bytes of the name of an array in a `.npz`, and of a feature in a SageMaker Record. */
  readonly maxNameBytes: number;
  /** A `.npz` may hold this multiple of its own bytes, or `smallNpzBytes`, whichever is more. */
  readonly maxNpzRatio: number;
  readonly smallNpzBytes: number;
  /** Parts that a RecordIO record may be written in. */
  readonly maxRecordParts: number;
  /** Bytes of the sparse vectors of a body of SageMaker Records made dense, together. */
  readonly maxSparseBytes: number;
  /** Such a vector may grow to this multiple of its own bytes, or to `smallSparseBytes`, whichever is more. */
  readonly maxSparseRatio: number;
  readonly smallSparseBytes: number;
  /** Bytes of the values of a Parquet file, and of its pages, unpacked. */
  readonly maxParquetBytes: number;
  /** Whether Parquet is read. */
  readonly parquet: boolean;
}

/** The defaults, from which those of the variables are made; the runtime computes two others from the memory (derived.ts). */
export const DEFAULT_DECODE_LIMITS: DecodeLimits = {
  ...SAGEMAKER_RECORD_LIMITS,
  maxDecodedBytes: 2 ** 31 - 1,
  maxOpenSizeBytes: 2 ** 31 - 1,
  maxImagePixels: 100_000_000,
  // What JPEG and GIF can say at most.
  maxImageSide: 65_535,
  // Encoders write one IDAT for each 8 KB or so, and a chunk takes 12 bytes.
  maxPngChunks: 250_000,
  // Cameras write a dozen; libjpeg-turbo's own tools have the same limit.
  maxJpegScans: 100,
  maxImageSeconds: 60,
  // Tensors that compress better are masks, or made to harm.
  maxNpzRatio: 100,
  smallNpzBytes: 64 * 2 ** 20,
  // As many only where the data is made of the format's own magic number.
  maxRecordParts: 65_536,
  maxParquetBytes: 256 * 2 ** 20,
  // It is packed, has dictionaries, and few models need it.
  parquet: false,
};
