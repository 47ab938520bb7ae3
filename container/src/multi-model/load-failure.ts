/** What a failed load means: too little memory, or files that are no model. */
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { servingErrorOf } from '../backends/status.ts';
import { ServingError } from '../errors.ts';
import { hadNoThread } from '../model-server/unseen.ts';
import { ConnectionLost } from '../transport/connection-lost.ts';

/**
 * What a load failed for where that was memory; else undefined. TensorFlow Serving answers a reload with
 * UNKNOWN and has the status of each model in its text.
 */
export function shortageOf(error: unknown, name: string): string | undefined {
  if (error instanceof ConnectionLost) {
    return `the model server ended while it loaded model "${name}", most likely for lack of memory`;
  }
  if (!(error instanceof StatusError) || hadNoThread(error)) return undefined;
  const isShortage =
    error.code === GrpcStatus.RESOURCE_EXHAUSTED ||
    /RESOURCE_EXHAUSTED|Resource exhausted|bad_alloc|Cannot allocate memory/.test(error.message);
  return isShortage ? error.message : undefined;
}

/** TensorFlow's codes for files that are no model. */
const UNUSABLE: ReadonlySet<string> = new Set([
  'DATA_LOSS',
  'FAILED_PRECONDITION',
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
]);

/** What a load answers that failed for another reason than memory. */
export function refusalOf(error: StatusError): ServingError {
  // Older releases write "Data loss".
  const inText = /due to error: ([A-Za-z_ ]+):/.exec(error.message)?.[1];
  const code = inText?.toUpperCase().replaceAll(' ', '_') ?? nameOf(error.code);
  return UNUSABLE.has(code)
    ? new ServingError('BAD_ARCHIVE', error.message, { cause: error })
    : servingErrorOf(error);
}

function nameOf(code: number): string {
  return Object.entries(GrpcStatus).find(([, number]) => number === code)?.[0] ?? '';
}
