/**
 * The runtime's errors: answers to clients, whose codes (`RUNTIME_ERRORS`) have an HTTP status, and what ends the start.
 * Messages say what was wrong, where, and what to do. Clients get `{"error": message, "code": code}`.
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

/** Every code that the start can end with. TensorFlow's library has codes of its own, which pass through. */
export const START_ERRORS = {
  ENVIRONMENT_INVALID:
    'A variable has an impossible value, contradicts another one, or names a model or version that the archive lacks. The message has a line for each.',
  MODELS_INVALID:
    'The model directory cannot be read, holds no SavedModel in a version directory or one without the file of its variables, or holds two models of one name.',
  ARCHIVE_INVALID:
    'The manifest or a file that it names cannot be used, or a declaration does not fit the model.',
  HANDLER_INVALID: 'The archive has a handler that cannot be loaded.',
  LIBRARY_NOT_FOUND: "In-process: this machine lacks TensorFlow's library.",
  PORT_REFUSED: 'A port is in use, or this user may not take it.',
  MODEL_SERVER_FAILED: 'TensorFlow Serving could not be started, or did not load the models.',
  WORKER_FAILED: 'One of several processes ended before it served.',
} as const;

/** A code of {@link START_ERRORS}. */
export type StartErrorCode = keyof typeof START_ERRORS;

/** Ends the start; in a multi-model endpoint, the load of one model. */
export class StartError extends Error {
  readonly code: StartErrorCode;

  constructor(code: StartErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartError';
    this.code = code;
  }
}
