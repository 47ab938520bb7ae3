/** The room's catalogue: what can be wrong with a text that names or lists objects. */
export const BATCH_ERRORS = {
  S3_URI_INVALID: { exitStatus: 2, meaning: 'The text is not `s3://BUCKET/KEY`.' },
  MANIFEST_INVALID: { exitStatus: 1, meaning: 'The file is not a manifest of SageMaker.' },
} as const;

/** A code of the catalogue. */
export type BatchErrorCode = keyof typeof BATCH_ERRORS;

/** Thrown for a text that is not what it should be; the message says what is wrong and what to write. */
export class BatchError extends Error {
  readonly code: BatchErrorCode;
  readonly exitStatus: number;

  constructor(code: BatchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BatchError';
    this.code = code;
    this.exitStatus = BATCH_ERRORS[code].exitStatus;
  }
}
