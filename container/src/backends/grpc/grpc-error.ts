/** Calls that a server answered with an error. */
import { httpStatusOf } from '@sagemaker-tfs/tensors/grpc-status';
import { type ErrorCode, ServingError } from '../../errors.ts';

/** A call that the server answered with a status other than OK. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The error that a client of the runtime gets: TensorFlow Serving's text under its own HTTP status. */
export function servingErrorOf(error: GrpcError): ServingError {
  const status = httpStatusOf(error.status);
  return new ServingError(errorCodeOf(status), error.message, { status, cause: error });
}

/** The catalogue's code for an HTTP status that the model server gave. */
export function errorCodeOf(status: number): ErrorCode {
  if (status === 404) return 'MODEL_NOT_FOUND';
  if (status === 504) return 'REQUEST_TIMEOUT';
  return 'MODEL_FAILED';
}
