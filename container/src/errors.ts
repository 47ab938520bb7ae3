/**
 * The runtime's errors. Each has a code of the catalogue (`RUNTIME_ERRORS`), an HTTP status and a message that says what
 * was wrong, where, and what to do. Clients get `{"error": message, "code": code}`.
 */

import { RUNTIME_ERRORS, type RuntimeErrorCode } from '@sagemaker-tfs/tensors/runtime-errors';

/** A code of the catalogue. */
export type ErrorCode = RuntimeErrorCode;

/** An error with an answer for the client. */
export class ServingError extends Error {
  readonly code: ErrorCode;
  /** HTTP status, the code's own unless the model server or a handler gave another. */
  readonly status: number;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { status?: number }) {
    super(message, options);
    this.name = 'ServingError';
    this.code = code;
    this.status = options?.status ?? RUNTIME_ERRORS[code].status;
  }
}
