/** What the page of errors says about the container's codes beyond the catalogue, which every client carries. */
import type { RuntimeErrorCode } from '@sagemaker-tfs/tensors/runtime-errors';

interface Help {
  /** What the reader of a log wants to know beyond the meaning. */
  readonly detail?: string;
  readonly whatToDo: string;
}

/** A code that is missing here does not compile. */
export const CONTAINER_HELP: Readonly<Record<RuntimeErrorCode, Help>> = {
  BAD_REQUEST: {
    detail:
      'For example no model named on a multi-model endpoint, a URL outside the model directory, or a method that the transport does not know.',
    whatToDo: 'As the message says.',
  },
  BAD_INPUT: {
    detail: 'The message names record, line or place.',
    whatToDo: 'Compare dtype and shape with `sagemaker-tfs inspect`.',
  },
  BAD_IMAGE: {
    detail: 'The message names the record.',
    whatToDo: 'Send a whole JPEG, PNG, WebP, GIF or TIFF.',
  },
  BAD_ARCHIVE: {
    detail:
      'TensorFlow makes no model of the files; or the manifest or a labels file is too large (1 MiB and 100,000 values; 64 MiB and 1,048,576 lines); or a link leads out of the model, or it holds a pipe or a device.',
    whatToDo: 'Package the model again.',
  },
  BAD_CUSTOM_ATTRIBUTE: {
    whatToDo: 'Compare with the [list of attributes](requests.md#custom-attributes).',
  },
  UNKNOWN_SIGNATURE: {
    detail: 'The message lists those it has.',
    whatToDo: 'Set `tfs-signature`, or `signature_name` in JSON.',
  },
  UNKNOWN_INPUT: {
    detail: 'The message lists those it has.',
    whatToDo: 'Rename the input, or the array in the `npz`.',
  },
  UNKNOWN_OUTPUT: {
    detail:
      'Or the `postprocess` of the archive leaves it out, or makes detections of others that are asked for. The message lists those that are answered.',
    whatToDo: 'Set `tfs-outputs`.',
  },
  FATAL_REQUEST: {
    detail:
      "TensorFlow ended by a fault of its own (SIGABRT, SIGSEGV): an answer above 2 GiB, or an operation that aborts. From TensorFlow Serving the message has TensorFlow's last line. The clients do not send it again.",
    whatToDo: 'Ask for less, or export a model that refuses such inputs.',
  },
  HOST_REFUSED: {
    detail: "So it is when a web page's name is made to resolve to this machine.",
    whatToDo: 'Call `http://127.0.0.1`; or use `--host`, or `SAGEMAKER_TFS_FOREIGN_PAGES=allow`.',
  },
  CROSS_SITE_REFUSED: { whatToDo: 'Call from the page of `serve`, or from a program.' },
  MODEL_NOT_FOUND: {
    whatToDo: 'Check `tfs-model-name` and `tfs-model-version`; multi-model: `TargetModel`.',
  },
  ROUTE_NOT_FOUND: { whatToDo: 'Use one of the [routes](reference.md#routes).' },
  METHOD_NOT_ALLOWED: {
    detail: 'For example GET on `/invocations`.',
    whatToDo: 'POST.',
  },
  NOT_ACCEPTABLE: { whatToDo: 'Send another Accept, or ask for fewer outputs.' },
  CLIENT_TOO_SLOW: {
    detail: 'An answer that is not read is cut instead.',
    whatToDo:
      'Raise `SAGEMAKER_TFS_CLIENT_PATIENCE_SECONDS`, or lower `SAGEMAKER_TFS_MIN_CLIENT_BYTES_PER_SECOND`.',
  },
  MODEL_ALREADY_LOADED: { whatToDo: 'Nothing: SageMaker loaded it twice.' },
  REQUEST_TOO_LARGE: {
    whatToDo: 'Send a smaller body, or raise the limit that the message names.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    detail: "curl's default is a web form.",
    whatToDo: 'Set Content-Type, or write a [handler](handlers.md).',
  },
  CLIENT_CLOSED_REQUEST: { whatToDo: "Raise the caller's time-out, or answer faster." },
  HANDLER_FAILED: { whatToDo: 'The log has the stack, under the `requestId`.' },
  RESPONSE_TOO_LARGE: {
    detail: 'Or it holds more strings than `SAGEMAKER_TFS_MAX_STRINGS`.',
    whatToDo: 'Ask for fewer outputs, or raise the limit.',
  },
  INTERNAL: { whatToDo: 'Report it, with the log.' },
  MODEL_FAILED: {
    detail: '400 is mostly a wrong shape, 429 or 503 a full batching queue.',
    whatToDo: 'As the text says.',
  },
  METRICS_UNAVAILABLE: { whatToDo: 'Try again: a process starts or ends.' },
  MODEL_NOT_READY: {
    detail: 'Loading takes longer than `SAGEMAKER_TFS_WAIT_TIME_SECONDS`. The message says why.',
    whatToDo:
      'Try again. If it stays, see [The endpoint does not start](troubleshooting.md#the-endpoint-does-not-start).',
  },
  MODEL_SERVER_GONE: {
    detail:
      'At the second try the request was alone there; it is not sent a third time ([Reliability](reliability.md#when-tensorflow-serving-ends)).',
    whatToDo: 'Look at its last lines in the log. Is it memory?',
  },
  SHUTTING_DOWN: { whatToDo: 'Try again.' },
  OVERLOADED: {
    whatToDo:
      'Send it again after `Retry-After`. Add instances, or raise the limit that the message names.',
  },
  PROCESS_GONE: {
    detail: 'Nothing is sent to another process a second time, not even in-process.',
    whatToDo: 'The log says what ended it. Send it again, unless this request is the cause.',
  },
  REQUEST_TIMEOUT: {
    whatToDo:
      '`ms` in the log says in which part. `the event loop has stood still`: [a handler that never awaits](handlers.md#errors), its line in `stack`.',
  },
  OUT_OF_RESOURCES: {
    whatToDo: 'SageMaker unloads a model and tries again; else take a larger instance.',
  },
};
