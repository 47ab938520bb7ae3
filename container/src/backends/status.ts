/** What clients get where the model's runtime answered with an error, whichever way it was called. */
import { httpStatusOf } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { type ErrorCode, ServingError } from '../errors.ts';
import { notWithin } from '../waiting/request-signal.ts';

/**
 * What gRPC and TensorFlow say where the limit of a call was over, which says no more than the limit. Another text is of
 * the model's own.
 */
const LIMIT_OVER: ReadonlySet<string> = new Set([
  'Deadline Exceeded',
  'Timed out waiting for notification',
]);

/** Words of TensorFlow for a model without its variables or tables, at every request: no fault of theirs, whatever the status. */
const NOT_RESTORED =
  /Could not find variable|Error while reading resource variable|uninitialized value|Table not initialized/;

/** The error that a client of the runtime gets: TensorFlow Serving's text under its own HTTP status. */
export function servingErrorOf(error: StatusError, timeoutMs?: number): ServingError {
  return modelError(error.message, httpStatusOf(error.code), { cause: error, timeoutMs });
}

/** The answer. @throws ServingError for its StatusError; other errors as they are */
export async function inServingErrors<T>(answer: Promise<T>, timeoutMs?: number): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof StatusError ? servingErrorOf(error, timeoutMs) : error;
  }
}

/**
 * The error for an HTTP status of the model server, or for what its gRPC status is in HTTP.
 * @param options.timeoutMs the limit that it was given
 */
export function modelError(
  message: string,
  status: number,
  { cause, timeoutMs }: { readonly cause?: Error; readonly timeoutMs?: number | undefined } = {},
): ServingError {
  // An invalid argument to TensorFlow Serving, whose words these are (server_core.cc); as no version, it is not found.
  if (message.startsWith('Unrecognized servable version label')) {
    return new ServingError('MODEL_NOT_FOUND', message, { cause });
  }
  const isOver = status === 504 && timeoutMs !== undefined && LIMIT_OVER.has(message);
  const text = isOver ? notWithin(timeoutMs) : message;
  const own = status < 500 && NOT_RESTORED.test(message) ? 500 : status;
  return new ServingError(errorCodeOf(own), text, { status: own, cause });
}

/** The catalogue's code for an HTTP status that the model server gave. */
function errorCodeOf(status: number): ErrorCode {
  if (status === 404) return 'MODEL_NOT_FOUND';
  if (status === 504) return 'REQUEST_TIMEOUT';
  return 'MODEL_FAILED';
}
