/** Errors of this room. */

/** What can be wrong with a text that names or lists objects. */
export type BatchErrorCode = 'S3_URI_INVALID' | 'MANIFEST_INVALID';

/** Status with which a command ends; 2 is wrong usage. */
const EXIT_STATUS: Readonly<Record<BatchErrorCode, number>> = {
  S3_URI_INVALID: 2,
  MANIFEST_INVALID: 1,
};

/** Thrown for a text that is not what it should be; the message says what is wrong and what to write. */
export class BatchError extends Error {
  readonly code: BatchErrorCode;
  readonly exitStatus: number;

  constructor(code: BatchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BatchError';
    this.code = code;
    this.exitStatus = EXIT_STATUS[code];
  }
}
