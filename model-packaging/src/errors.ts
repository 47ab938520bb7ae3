/**
 * The catalogue of what can go wrong while packaging. Every error says what was wrong, where (a path), and
 * what to do; the command prints the message and leaves with `exitStatus`.
 */
import { sentence } from '@sagemaker-tfs/manifest/sentence';

/** A row of the catalogue. */
interface Definition {
  readonly exitStatus: 1 | 2;
  /** What docs/errors.md says of the code. */
  readonly meaning: string;
}

/** Every code with the exit status of the command, 1 (the work failed) or 2 (wrong usage), and its meaning. */
export const PACKAGING_ERRORS = {
  SOURCE_NOT_FOUND: usage('A path does not exist, cannot be read, or is of the wrong kind.'),
  BAD_OPTION: usage('An option makes no sense, or options contradict each other.'),
  NOT_A_SAVED_MODEL: usage('The directory or archive holds no SavedModel that can be served.'),
  BAD_VERSION: failed(
    'The name of a version directory is not a decimal number, or a version occurs twice.',
  ),
  TEXT_FORMAT: failed(
    'The model is a `saved_model.pbtxt`, which TensorFlow Serving does not load either.',
  ),
  CORRUPT_FILE: failed(
    'A protobuf, checkpoint index or archive is truncated, or is another kind of file than its name says.',
  ),
  MISSING_FILE: failed('A file that the model needs is missing.'),
  UNSAFE_PATH: failed('A symbolic link, hard link or archive entry leads out of its directory.'),
  BAD_FILE_NAME: failed(
    'The name of a file is not UTF-8, has a control character or is too long, or the file is a special one.',
  ),
  FILE_CHANGED: failed('A file changed while it was being read.'),
  PYTHON_HANDLER: failed(
    '`code/inference.py` is a Python handler, which the runtime does not run.',
  ),
  HANDLER_NOT_BUNDLED: failed('The handler cannot be bundled.'),
  HANDLER_SCHEMA: failed(
    "The handler's export `openapi` cannot be read, or holds what is no JSON Schema.",
  ),
  NATIVE_MODULE: failed('The handler uses a native module.'),
  BAD_DECLARATION: usage('A `preprocess` or `postprocess` declaration does not fit the model.'),
  PYTHON_TENSORFLOW: failed('The work needs Python with TensorFlow, and no working one was found.'),
  CONVERSION_FAILED: failed('Python TensorFlow could not convert or wrap the model.'),
  S3_FAILED: failed('An S3 object cannot be read.'),
  OUTPUT_FAILED: failed('The output cannot be written: no permission or no space.'),
  BAD_SAMPLE: failed('A sample file does not fit the signature.'),
  VERIFY_FAILED: failed('The packaged model does not load or run.'),
  ABORTED: failed("The caller's AbortSignal stopped the work."),
} as const satisfies Readonly<Record<string, Definition>>;

/** A code of the catalogue. */
export type PackagingErrorCode = keyof typeof PACKAGING_ERRORS;

function failed(meaning: string): Definition {
  return { exitStatus: 1, meaning };
}

function usage(meaning: string): Definition {
  return { exitStatus: 2, meaning };
}

/** Thrown by everything in this package. */
export class PackagingError extends Error {
  readonly code: PackagingErrorCode;
  /** Exit status of a command that fails with this error. */
  readonly exitStatus: 1 | 2;

  constructor(code: PackagingErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PackagingError';
    this.code = code;
    this.exitStatus = PACKAGING_ERRORS[code].exitStatus;
  }
}

/** The reason for an abort of the caller's. */
export function aborted(cause: unknown): PackagingError {
  return new PackagingError('ABORTED', 'packaging was stopped. Nothing was written.', { cause });
}

/** @throws PackagingError ABORTED once the caller's signal is aborted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(signal.reason);
}

/** A file that is not what it was a moment ago. */
export function fileChanged(path: string): PackagingError {
  return new PackagingError(
    'FILE_CHANGED',
    `${path} changed while it was being packed. Wait until the export is finished, then package again.`,
  );
}

/** A file that the caller named and that is not there. */
export function doesNotExist(name: string): PackagingError {
  return new PackagingError('SOURCE_NOT_FOUND', `${name} does not exist. Check the name.`);
}

/** A file that cannot be read: one that the caller named, or one that a model needs. */
export function unreadable(
  path: string,
  cause: unknown,
  code: 'SOURCE_NOT_FOUND' | 'MISSING_FILE' = 'SOURCE_NOT_FOUND',
): PackagingError {
  return new PackagingError(
    code,
    `${path} cannot be read: ${sentence(messageOf(cause))} Check the name and its permissions.`,
    { cause },
  );
}

/** A file of a model that is not what its name says. @param what for example `it has no header` */
export function damaged(path: string, what: string, cause?: unknown): PackagingError {
  return new PackagingError(
    'CORRUPT_FILE',
    `${path} is damaged or truncated: ${sentence(what)} Export or copy the model again.`,
    { cause },
  );
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
