/** Errors as TensorFlow Serving answers them: a status code and a text, the same over gRPC and REST. */

import { TensorError } from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { LibTensorFlowError, type LibTensorFlowErrorCode } from '../errors.ts';

export { StatusError };

export function invalidArgument(message: string, options?: ErrorOptions): StatusError {
  return new StatusError(Code.INVALID_ARGUMENT, message, options);
}

export function notFound(message: string): StatusError {
  return new StatusError(Code.NOT_FOUND, message);
}

export function failedPrecondition(message: string): StatusError {
  return new StatusError(Code.FAILED_PRECONDITION, message);
}

/** `NOT_FOUND: Could not find ...`, as TensorFlow prints a status. */
export function statusText(error: StatusError): string {
  return `${Code[error.code]}: ${error.message}`;
}

/**
 * Any thrown value as a status: ours as it is, bad tensor data as INVALID_ARGUMENT, TensorFlow's own errors
 * with their code, everything else as INTERNAL.
 */
export function toStatusError(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof TensorError) return invalidArgument(error.message, { cause: error });
  if (error instanceof LibTensorFlowError) {
    const code = error.tfCode ?? LIBRARY_CODES[error.code] ?? Code.INTERNAL;
    return new StatusError(code in Code ? code : Code.UNKNOWN, error.message, { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new StatusError(Code.INTERNAL, message, { cause: error });
}

/** Codes of errors that the binding finds before TensorFlow is asked. */
const LIBRARY_CODES: Readonly<Partial<Record<LibTensorFlowErrorCode, Code>>> = {
  NOT_A_SAVED_MODEL: Code.NOT_FOUND,
  UNKNOWN_SIGNATURE: Code.INVALID_ARGUMENT,
  UNKNOWN_INPUT: Code.INVALID_ARGUMENT,
  MISSING_INPUT: Code.INVALID_ARGUMENT,
  UNKNOWN_OUTPUT: Code.INVALID_ARGUMENT,
  WRONG_DTYPE: Code.INVALID_ARGUMENT,
  WRONG_SHAPE: Code.INVALID_ARGUMENT,
  SESSION_CLOSED: Code.UNAVAILABLE,
};
