/** What clients get where the model's runtime answered with an error, whichever way it was called. */
import { httpStatusOf } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { type ErrorCode, ServingError } from '../errors.ts';

/** The error that a client of the runtime gets: TensorFlow Serving's text under its own HTTP status. */
export function servingErrorOf(error: StatusError): ServingError {
  return modelError(error.message, httpStatusOf(error.code), error);
}

/** The answer. @throws ServingError for its StatusError; other errors as they are */
export async function inServingErrors<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof StatusError ? servingErrorOf(error) : error;
  }
}

/** What the model server answered with an HTTP status, or what its status of gRPC is over HTTP. */
export function modelError(message: string, status: number, cause?: Error): ServingError {
  // An invalid argument to TensorFlow Serving, whose words these are (server_core.cc); as no version, it is not found.
  if (message.startsWith('Unrecognized servable version label')) {
    return new ServingError('MODEL_NOT_FOUND', message, { cause });
  }
  return new ServingError(errorCodeOf(status), message, { status, cause });
}

/** The catalogue's code for an HTTP status that the model server gave. */
function errorCodeOf(status: number): ErrorCode {
  if (status === 404) return 'MODEL_NOT_FOUND';
  if (status === 504) return 'REQUEST_TIMEOUT';
  return 'MODEL_FAILED';
}
