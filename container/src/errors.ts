/**
 * The runtime's one catalogue of errors. Each has a code, an HTTP status and a message that says what was
 * wrong, where, and what to do. Clients get `{"error": message, "code": code}`.
 */

/** Every code with its HTTP status. */
export const ERROR_STATUS = {
  BAD_REQUEST: 400,
  BAD_INPUT: 400,
  BAD_IMAGE: 400,
  BAD_ARCHIVE: 400,
  BAD_CUSTOM_ATTRIBUTE: 400,
  UNKNOWN_SIGNATURE: 400,
  UNKNOWN_INPUT: 400,
  UNKNOWN_OUTPUT: 400,
  HOST_REFUSED: 403,
  CROSS_SITE_REFUSED: 403,
  MODEL_NOT_FOUND: 404,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  CLIENT_TOO_SLOW: 408,
  MODEL_ALREADY_LOADED: 409,
  REQUEST_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  CLIENT_CLOSED_REQUEST: 499,
  HANDLER_FAILED: 500,
  RESPONSE_TOO_LARGE: 500,
  INTERNAL: 500,
  /** The model itself failed; the status that TensorFlow Serving gave is kept (see `ServingError.status`). */
  MODEL_FAILED: 500,
  METRICS_UNAVAILABLE: 503,
  MODEL_NOT_READY: 503,
  MODEL_SERVER_GONE: 503,
  SHUTTING_DOWN: 503,
  OVERLOADED: 503,
  PROCESS_GONE: 503,
  REQUEST_TIMEOUT: 504,
  OUT_OF_RESOURCES: 507,
} as const;

/** A code of the catalogue. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** An error with an answer for the client. */
export class ServingError extends Error {
  readonly code: ErrorCode;
  /** HTTP status, the code's own unless the model server or a handler gave another. */
  readonly status: number;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { status?: number }) {
    super(message, options);
    this.name = 'ServingError';
    this.code = code;
    this.status = options?.status ?? ERROR_STATUS[code];
  }
}
