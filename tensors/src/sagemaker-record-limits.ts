/** The limits of a SageMaker Record, alone: settings that name them load no reader. */

/** What a Record may make the reader allocate. */
export interface SageMakerRecordLimits {
  /** Strings of a feature, and features of a record: an object is made for each. */
  readonly maxStrings: number;
  readonly maxFeatures: number;
  /** Bytes of a feature's name. */
  readonly maxNameBytes: number;
  /** Bytes that a record's sparse vectors made dense may have, together: a few keys can claim a huge one. */
  readonly maxSparseBytes: number;
  /** A sparse vector may grow to this multiple of its own bytes, or to {@link smallSparseBytes}, whichever is more. */
  readonly maxSparseRatio: number;
  readonly smallSparseBytes: number;
}

/** The defaults, for the runtime's settings too. */
export const SAGEMAKER_RECORD_LIMITS: SageMakerRecordLimits = {
  maxStrings: 2 ** 20,
  maxFeatures: 65_536,
  maxNameBytes: 1024,
  maxSparseBytes: 256 * 1024 ** 2,
  maxSparseRatio: 4096,
  smallSparseBytes: 1024 ** 2,
};
