/** What the serving runtime answers with when it refuses or fails: known to the runtime and to all who read its answers. */

/** What is known of a code. */
interface RuntimeError {
  /** HTTP status, unless the model server or a handler sets another. */
  readonly status: number;
  readonly meaning: string;
  /** True if neither handler nor model has seen the request: it can be sent again, whatever they do. */
  readonly notBegun?: true;
  /** True if the message repeats nothing of the request, so that logs may show it. */
  readonly withoutData?: true;
  /** True if the model is away and may be back at the next try. */
  readonly modelAway?: true;
}

const ERRORS = {
  BAD_REQUEST: { status: 400, meaning: 'The request as a whole makes no sense.' },
  BAD_INPUT: { status: 400, meaning: 'The body is damaged, or does not fit the signature.' },
  BAD_IMAGE: { status: 400, meaning: 'The body or a record is no image, or a damaged one.' },
  BAD_ARCHIVE: {
    status: 400,
    meaning: "Multi-model: a model's files, manifest, labels or links cannot be used.",
  },
  BAD_CUSTOM_ATTRIBUTE: { status: 400, meaning: 'A `tfs-*` attribute has an impossible value.' },
  UNKNOWN_SIGNATURE: { status: 400, meaning: 'The model has no such signature.' },
  UNKNOWN_INPUT: { status: 400, meaning: 'The signature has no such input.' },
  UNKNOWN_OUTPUT: { status: 400, meaning: 'The signature has no such output.' },
  FATAL_REQUEST: {
    status: 400,
    meaning:
      'The request ended TensorFlow more than once, the last time alone. Do not send it again.',
  },
  HOST_REFUSED: {
    status: 403,
    meaning: 'Only with `serve`: the Host header does not name this machine.',
  },
  CROSS_SITE_REFUSED: {
    status: 403,
    meaning: 'Only with `serve`: a browser sent the request from a page of another site.',
  },
  MODEL_NOT_FOUND: { status: 404, meaning: 'There is no such model or version.' },
  ROUTE_NOT_FOUND: { status: 404, meaning: 'There is no such path.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The path does not take this method.' },
  NOT_ACCEPTABLE: {
    status: 406,
    meaning: 'The answer cannot take the form that the Accept header asks for.',
  },
  CLIENT_TOO_SLOW: {
    status: 408,
    meaning: 'Headers or body came too slowly.',
    withoutData: true,
  },
  MODEL_ALREADY_LOADED: { status: 409, meaning: 'Multi-model: the model is loaded already.' },
  REQUEST_TOO_LARGE: {
    status: 413,
    meaning: 'The body, its tensors or a picture is larger than a limit.',
    withoutData: true,
  },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'No codec reads the Content-Type.' },
  CLIENT_CLOSED_REQUEST: {
    status: 499,
    meaning: 'The client closed the connection before the answer; only in logs.',
    withoutData: true,
  },
  HANDLER_FAILED: { status: 500, meaning: 'The handler threw, or returned nothing.' },
  RESPONSE_TOO_LARGE: {
    status: 500,
    meaning: 'The answer is larger than `SAGEMAKER_TFS_MAX_RESPONSE_BYTES`.',
  },
  INTERNAL: { status: 500, meaning: 'A fault of the runtime. Please report it.' },
  MODEL_FAILED: {
    status: 500,
    meaning:
      "The model refused or failed. Text and status are TensorFlow Serving's, but 500 if the model lacks its variables.",
  },
  METRICS_UNAVAILABLE: {
    status: 503,
    meaning: 'The metrics cannot be collected now.',
    withoutData: true,
  },
  MODEL_NOT_READY: {
    status: 503,
    meaning: 'The model is still loading.',
    notBegun: true,
    withoutData: true,
    modelAway: true,
  },
  MODEL_SERVER_GONE: {
    status: 503,
    meaning:
      'TensorFlow Serving ended during the request, at the second try too, or others have waited long enough for it.',
    withoutData: true,
    modelAway: true,
  },
  SHUTTING_DOWN: {
    status: 503,
    meaning: 'The container is shutting down.',
    notBegun: true,
    withoutData: true,
    modelAway: true,
  },
  OVERLOADED: {
    status: 503,
    meaning: 'Too many requests, bytes or connections at once. The body was not read.',
    notBegun: true,
    withoutData: true,
  },
  PROCESS_GONE: {
    status: 503,
    meaning: 'The process that had the request ended before it answered.',
    withoutData: true,
    modelAway: true,
  },
  REQUEST_TIMEOUT: {
    status: 504,
    meaning: 'There was no answer within `SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS`.',
    withoutData: true,
  },
  OUT_OF_RESOURCES: {
    status: 507,
    meaning: 'Multi-model: there is no memory for another model.',
  },
} as const satisfies Readonly<Record<string, RuntimeError>>;

/** One of the runtime's codes. */
export type RuntimeErrorCode = keyof typeof ERRORS;

/** Every code of the runtime. */
export const RUNTIME_ERRORS: Readonly<Record<RuntimeErrorCode, RuntimeError>> = ERRORS;

/**
 * What is known of a code that somebody else wrote.
 * @returns undefined if it is none of the runtime's
 */
export function runtimeError(code: string): RuntimeError | undefined {
  return Object.hasOwn(RUNTIME_ERRORS, code) ? RUNTIME_ERRORS[code as RuntimeErrorCode] : undefined;
}
