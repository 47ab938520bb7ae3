/** What a failed load means: too little memory, or files that are no model. */
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { servingErrorOf } from '../backends/status.ts';
import { ServingError } from '../errors.ts';
import { hadNoThread } from '../model-server/unseen.ts';
import { ConnectionLost } from '../transport/connection-lost.ts';

/**
 * What a load failed for where that was memory; else undefined. TensorFlow Serving answers a reload with
 * UNKNOWN and has the status of each model in its text. Behind the status may stand words of the model's files: they
 * say nothing here.
 */
export function shortageOf(error: unknown, name: string): string | undefined {
  if (error instanceof ConnectionLost) {
    return `the model server ended while it loaded model "${name}", most likely for lack of memory`;
  }
  if (!(error instanceof StatusError) || hadNoThread(error)) return undefined;
  const isShortage = codeOf(error) === 'RESOURCE_EXHAUSTED' || NO_MEMORY.test(error.message);
  return isShortage ? error.message : undefined;
}

/** A failed system call, whose text TensorFlow puts last (tsl/platform/default/posix_file_system.cc), or operator new. */
const NO_MEMORY =
  /; Cannot allocate memory[\s},]*$|due to error: [A-Za-z_ ]+: std::bad_alloc[\s},]*$/;

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
  return UNUSABLE.has(codeOf(error))
    ? new ServingError('BAD_ARCHIVE', error.message, { cause: error })
    : servingErrorOf(error);
}

/** The name of the code: of the model's status where the text has one, else of the call's. */
function codeOf(error: StatusError): string {
  const inText = /due to error: ([A-Za-z_ ]+):/.exec(error.message)?.[1];
  // Older releases write "Data loss".
  return inText?.toUpperCase().replaceAll(' ', '_') ?? nameOf(error.code);
}

function nameOf(code: number): string {
  return Object.entries(GrpcStatus).find(([, number]) => number === code)?.[0] ?? '';
}
