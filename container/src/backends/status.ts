/** What clients get where the model's runtime answered with an error, whichever way it was called. */
import { httpStatusOf } from '@sagemaker-tfs/tensors/grpc-status';
import type { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { type ErrorCode, ServingError } from '../errors.ts';

/** The error that a client of the runtime gets: TensorFlow Serving's text under its own HTTP status. */
export function servingErrorOf(error: StatusError): ServingError {
  const status = httpStatusOf(error.code);
  const message = `${error.message}${adviceOn(error.message)}`;
  return modelError(message, status, error);
}

/** What the model server answered with an HTTP status, or what its status of gRPC is over HTTP. */
export function modelError(message: string, status: number, cause?: Error): ServingError {
  // An invalid argument to TensorFlow Serving, whose words these are (server_core.cc).
  if (message.startsWith('Unrecognized servable version label')) {
    return new ServingError('MODEL_NOT_FOUND', message, { status, cause });
  }
  return new ServingError(errorCodeOf(status), message, { status, cause });
}

/** What TensorFlow Serving's words about batching (batching_session.cc) mean for who deployed the model. */
function adviceOn(message: string): string {
  if (message.includes('from different tasks have different shapes')) {
    return ' (requests of different shapes came together: SAGEMAKER_TFS_BATCH_PADDING=true pads them, without SAGEMAKER_TFS_ENABLE_BATCHING each runs alone)';
  }
  if (/^Batched output tensor|^Batching Run\(\) input/.test(message)) {
    return ' (this signature cannot be batched: unset SAGEMAKER_TFS_ENABLE_BATCHING, or use SAGEMAKER_TFS_BACKEND=in-process, where it runs alone)';
  }
  return '';
}

/** The catalogue's code for an HTTP status that the model server gave. */
function errorCodeOf(status: number): ErrorCode {
  if (status === 404) return 'MODEL_NOT_FOUND';
  if (status === 504) return 'REQUEST_TIMEOUT';
  return 'MODEL_FAILED';
}
