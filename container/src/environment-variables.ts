/**
 * Every environment variable that the serving runtime reads: its type, default and meaning. The checked
 * object is built from these in `environment.ts`, and the table in the documentation from these alone.
 */

import { TRANSPORTS } from '@sagemaker-tfs/tensors/custom-attributes';
import { DEFAULT_DECODE_LIMITS } from './decode-limits.ts';

/** What a variable's text must be. */
type VariableType =
  | 'text'
  /** `true` or `false`, in any letter case. */
  | 'boolean'
  /** A whole number of at least {@link VariableDefinition.minimum}. */
  | 'integer'
  /** A number of at least {@link VariableDefinition.minimum}, fractions allowed. */
  | 'number'
  /** Two port numbers, `low-high`. */
  | 'port range'
  /** One of {@link VariableDefinition.choices}. */
  | 'choice';

/** One environment variable. */
export interface VariableDefinition {
  readonly name: string;
  readonly type: VariableType;
  /** The value where the variable is unset, as text; undefined if unset has a meaning of its own. */
  readonly default?: string;
  readonly choices?: readonly string[];
  /** Least number allowed. Default: 0. */
  readonly minimum?: number;
  /** Greatest number allowed. Default: no bound. */
  readonly maximum?: number;
  /** What it does, its unit, and what unset means. */
  readonly description: string;
}

/** What SAGEMAKER_TFS_MAX_RESPONSE_BYTES may be at most: a message of protobuf holds no more. */
export const MAX_RESPONSE_BYTES = 2 ** 31 - 1;

const SERVING = [
  {
    name: 'SAGEMAKER_BIND_TO_PORT',
    type: 'integer',
    default: '8080',
    maximum: 65535,
    description: 'Port of the HTTP server that SageMaker calls. 0 takes any free port.',
  },
  {
    name: 'SAGEMAKER_TFS_BIND_ADDRESS',
    type: 'text',
    default: '0.0.0.0',
    description: 'Address that the HTTP servers listen on.',
  },
  {
    name: 'SAGEMAKER_TFS_FOREIGN_PAGES',
    type: 'choice',
    choices: ['allow', 'refuse'],
    default: 'allow',
    description:
      "Whether web pages of other sites may call the container from a browser. `refuse` answers 403 to requests that a browser marks as another site's, and to a Host other than a loopback name; a server that listens beyond loopback also takes an IP address as Host. `sagemaker-tfs serve` sets `refuse`.",
  },
  {
    name: 'SAGEMAKER_SAFE_PORT_RANGE',
    type: 'port range',
    description:
      'Ports that the model server may use; gRPC and REST ports alternate from the lower end. Unset: gRPC from 9000 and REST from 8501.',
  },
  {
    name: 'SAGEMAKER_TFS_MODEL_DIR',
    type: 'text',
    default: '/opt/ml/model',
    description: 'Where the archive lies unpacked: models, and the handler in `code/`.',
  },
  {
    name: 'SAGEMAKER_TFS_DEFAULT_MODEL_NAME',
    type: 'text',
    description:
      'Model for requests that name none. Unset: the first that was packaged; of an archive packed by hand, the first in the order of the paths.',
  },
  {
    name: 'SAGEMAKER_TFS_VERSION_LABELS',
    type: 'text',
    description:
      'Labels of versions of the default model, `label=version` with commas between, for example `stable=3,canary=4`. Unset: none.',
  },
  {
    name: 'SAGEMAKER_TFS_BACKEND',
    type: 'choice',
    choices: TRANSPORTS,
    default: 'grpc',
    description:
      'How the model is reached. `grpc` and `rest` start TensorFlow Serving; `in-process` runs the model through the C API of TensorFlow.',
  },
  {
    name: 'SAGEMAKER_TFS_PROCESSES',
    type: 'integer',
    minimum: 1,
    maximum: 256,
    description:
      'Processes of the runtime that share the requests. Unset: one for `grpc` and `rest`, SAGEMAKER_TFS_INSTANCE_COUNT for `in-process`, where each process loads the models for itself. A multi-model endpoint has one process.',
  },
] as const satisfies readonly VariableDefinition[];

const MODEL_SERVER = [
  {
    name: 'SAGEMAKER_TFS_INSTANCE_COUNT',
    type: 'integer',
    default: '1',
    minimum: 1,
    maximum: 256,
    description:
      'Processes of TensorFlow Serving. Each request goes to the one with the fewest in flight. With `in-process`: processes of the runtime.',
  },
  {
    name: 'SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT',
    type: 'integer',
    minimum: 1,
    maximum: 4096,
    description:
      'Requests that one process of TensorFlow Serving gets at a time; a batch counts as one. Further requests wait in the runtime, in turn, until their time limit. TensorFlow Serving itself would refuse them. What it refuses all the same, for lack of threads, waits too and goes before all that came later. Unset: 4 for each CPU, at least 64 and at most 1024.',
  },
  {
    name: 'SAGEMAKER_TFS_MODEL_SERVER_TCP',
    type: 'boolean',
    default: 'true',
    description:
      'Whether TensorFlow Serving listens on ports, as it does on all addresses of the container: its REST API, handlers that call it themselves and large requests take them. `false`: on its Unix socket alone, for networks that others are on.',
  },
  {
    name: 'SAGEMAKER_TFS_MODEL_SERVER_SILENCE_SECONDS',
    type: 'number',
    default: '120',
    minimum: 1,
    maximum: 86400,
    description:
      'A process of TensorFlow Serving that answers no request or probe for this long is killed and started again. It answers probes while it computes, however long that takes.',
  },
  {
    name: 'SAGEMAKER_TFS_FRACTIONAL_GPU_MEM_MARGIN',
    type: 'number',
    default: '0.2',
    maximum: 0.99,
    description:
      'Part of the GPU memory that stays free when several processes share it. Each gets (1 - margin) / SAGEMAKER_TFS_INSTANCE_COUNT.',
  },
  {
    name: 'SAGEMAKER_TFS_INTER_OP_PARALLELISM',
    type: 'integer',
    default: '0',
    description:
      'Threads for independent operations of a graph. 0: TensorFlow chooses; with `in-process` and several processes, each takes its share of the processors.',
  },
  {
    name: 'SAGEMAKER_TFS_INTRA_OP_PARALLELISM',
    type: 'integer',
    default: '0',
    description:
      'Threads inside one operation. 0 means the same as for SAGEMAKER_TFS_INTER_OP_PARALLELISM.',
  },
  {
    name: 'SAGEMAKER_TFS_GPU_ALLOW_GROWTH',
    type: 'boolean',
    default: 'false',
    description:
      'Takes the memory of a GPU piece by piece, as requests need it, and keeps it; `CUDA_VISIBLE_DEVICES` chooses the GPUs. `false`: what TensorFlow may take, at the start.',
  },
  {
    name: 'SAGEMAKER_TFS_XLA',
    type: 'boolean',
    default: 'false',
    description:
      'Compiles the parts of every graph that XLA can compile, on CPU and GPU. The first request of each input shape waits for the compilation.',
  },
  {
    name: 'SAGEMAKER_TFS_MIXED_PRECISION',
    type: 'choice',
    choices: ['off', 'bfloat16', 'float16'],
    default: 'off',
    description:
      'Runs the operations that support it in 16 bits: `bfloat16` on CPUs, through oneDNN, `float16` on GPUs. Results lose precision. `off`: in the types of the model.',
  },
  {
    name: 'SAGEMAKER_TFS_ONEDNN',
    type: 'boolean',
    description:
      "oneDNN's operations on CPUs. `false` uses TensorFlow's own kernels, whose last digits differ. Unset: TensorFlow decides, by the processor.",
  },
  {
    name: 'OMP_NUM_THREADS',
    type: 'text',
    default: '1',
    description: 'OpenMP threads of the model server, as OpenMP reads it.',
  },
  {
    name: 'SAGEMAKER_TFS_ENABLE_BATCHING',
    type: 'boolean',
    default: 'false',
    description:
      'Joins requests that arrive together into one batch, in the runtime. Requests of different shapes, and requests to signatures whose first dimension is fixed, run separately. If a batch fails, its requests run again in smaller batches until each has its own answer or error; where many batches of a kind fail, they become smaller until few do.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_BATCH_SIZE',
    type: 'integer',
    default: '8',
    minimum: 1,
    description: 'Greatest number of rows in a joined batch.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_ROWS',
    type: 'integer',
    minimum: 1,
    description:
      'Maximum rows of one call of the model with batching; more get 413. A call of many rows is split into batches, each a call of the model of at most SAGEMAKER_TFS_MAX_BATCH_SIZE rows; a few run at a time, so that a call of very many rows takes many times as long as without batching. Where they are usual, raise SAGEMAKER_TFS_MAX_BATCH_SIZE instead. Unset: 10000 times SAGEMAKER_TFS_MAX_BATCH_SIZE. There is no such limit without batching.',
  },
  {
    name: 'SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS',
    type: 'integer',
    default: '1000',
    maximum: 3_600_000_000,
    description: 'Microseconds that a batch waits to fill.',
  },
  {
    name: 'SAGEMAKER_TFS_ALLOWED_BATCH_SIZES',
    type: 'text',
    description:
      'Sizes that batches are padded to: rising numbers with commas between; the last is SAGEMAKER_TFS_MAX_BATCH_SIZE. With few sizes TensorFlow prepares the model for few shapes. Unset: any size.',
  },
  {
    name: 'SAGEMAKER_TFS_NUM_BATCH_THREADS',
    type: 'integer',
    minimum: 1,
    description: 'Batches that run at once. Unset: the number of CPUs.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_ENQUEUED_BATCHES',
    type: 'integer',
    minimum: 1,
    description:
      'Batches that may wait before requests are refused. Unset: 100000000, because the runtime bounds the requests in flight (SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT).',
  },
  {
    name: 'SAGEMAKER_TFS_BATCH_PADDING',
    type: 'boolean',
    default: 'false',
    description:
      'Pads inputs that differ in a later dimension with their first element, as TensorFlow Serving does, so that they can be joined. The model must tolerate the padding. `false`: they run separately.',
  },
] as const satisfies readonly VariableDefinition[];

const LIMITS = [
  {
    name: 'SAGEMAKER_TFS_WAIT_TIME_SECONDS',
    type: 'number',
    default: '300',
    description:
      'How long a request waits for a model that is still loading, before it gets 503. Also how long the code of a handler may take to load; after that the start fails, or on a multi-model endpoint the load of its model.',
  },
  {
    name: 'SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS',
    type: 'number',
    default: '3600',
    minimum: 0.001,
    maximum: 86400,
    description:
      'Time limit of a request, handler and model together, before it gets 504. If a handler blocks the event loop for longer, its process is killed and started again. The default is the longest that SageMaker itself waits (asynchronous inference).',
  },
  {
    name: 'SAGEMAKER_TFS_SHUTDOWN_TIMEOUT_SECONDS',
    type: 'number',
    default: '25',
    maximum: 3600,
    description:
      'How long requests in flight may take to finish after SIGTERM. SageMaker kills after 30 s.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_REQUEST_BYTES',
    type: 'integer',
    default: '1073741824',
    minimum: 1,
    description: 'Greatest request body; a larger one gets 413.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_RESPONSE_BYTES',
    type: 'integer',
    default: String(MAX_RESPONSE_BYTES),
    minimum: 1,
    maximum: MAX_RESPONSE_BYTES,
    description:
      'Largest answer accepted from the model, and largest response body that a codec may write.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_DECODED_BYTES',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxDecodedBytes),
    minimum: 1,
    description:
      'Greatest size of the tensors that one request decodes to; stops decompression bombs.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_REQUESTS_IN_FLIGHT',
    type: 'integer',
    default: '1024',
    minimum: 1,
    description:
      'Inferences at once, divided among the processes. A further one gets 503 with Retry-After before its body is read.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_HELD_BYTES',
    type: 'integer',
    minimum: 1,
    description:
      "Bytes of bodies, tensors and answers that all requests may hold together, divided among the processes; a further request gets 503 with Retry-After. A single body may be larger than its process's share while few others are held. Unset: an eighth of the container's memory, at most 256 MiB for each CPU; a quarter in batch transform.",
  },
  {
    name: 'SAGEMAKER_TFS_MAX_CONNECTIONS',
    type: 'integer',
    default: '4096',
    minimum: 1,
    description:
      'Connections at once, divided among the processes; fewer if the system lets a process open fewer files. A further connection gets 503 and is closed.',
  },
  {
    name: 'SAGEMAKER_TFS_MIN_CLIENT_BYTES_PER_SECOND',
    type: 'integer',
    default: '1024',
    description:
      'Minimum rate at which a client must send its body (slower: 408) and read its answer (slower: its connection is closed). 0: no minimum.',
  },
  {
    name: 'SAGEMAKER_TFS_CLIENT_PATIENCE_SECONDS',
    type: 'number',
    default: '30',
    minimum: 0.1,
    maximum: 3600,
    description:
      'How long a client may be slower than SAGEMAKER_TFS_MIN_CLIENT_BYTES_PER_SECOND, and may take to send the headers of a request.',
  },
  {
    name: 'SAGEMAKER_TFS_DECODE_THREADS',
    type: 'integer',
    minimum: 1,
    maximum: 1024,
    description:
      'Threads in each process that decode the pictures of requests with several. The picture of a request with one is decoded by the thread pool of Node (`UV_THREADPOOL_SIZE`). Unset: one for each CPU.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_IMAGE_PIXELS',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxImagePixels),
    minimum: 1,
    description:
      'Greatest width times height of one image before it is resized; stops image bombs. If the model takes any size, the pixels may also take a quarter of SAGEMAKER_TFS_MAX_HELD_BYTES at most.',
  },
] as const satisfies readonly VariableDefinition[];

/** What the bytes of a body, or of a request's head, may make their readers do. */
const READERS = [
  {
    name: 'SAGEMAKER_TFS_MAX_HEADER_BYTES',
    type: 'integer',
    default: '16384',
    minimum: 1024,
    maximum: 1048576,
    description: "Greatest size of an HTTP request's line and headers; more gets 431.",
  },
  {
    name: 'SAGEMAKER_TFS_MAX_LOAD_REQUEST_BYTES',
    type: 'integer',
    default: '65536',
    minimum: 1024,
    maximum: 16777216,
    description:
      'Greatest body of a request that loads a model of a multi-model endpoint (a name and a path); a larger one gets 413.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_STRINGS',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxStrings),
    minimum: 1,
    maximum: 134217728,
    description:
      'Maximum strings of one input, records of one body, and strings of all outputs of one answer (beyond: 500 RESPONSE_TOO_LARGE); each takes some 200 bytes of memory besides its own bytes. Also the maximum product of the other sizes of an empty input (3,000 for `[1000, 0, 3]`), and of the empty rows of an output.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_FEATURES',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxFeatures),
    minimum: 1,
    maximum: 16777216,
    description: 'Features of one tf.Example, or of one SageMaker Record.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_NAME_BYTES',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxNameBytes),
    minimum: 1,
    maximum: 65535,
    description:
      'Bytes of the name of an array in a `.npz`, or of a feature in a SageMaker Record.',
  },
  {
    name: 'SAGEMAKER_TFS_PARQUET',
    type: 'boolean',
    default: String(DEFAULT_DECODE_LIMITS.parquet),
    description:
      'Whether Parquet is read as a request and written as an answer. `false`: 415 and 406. Bytes of Parquet can unpack to far more than they are, so turn it on only where callers need it.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_NPZ_RATIO',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxNpzRatio),
    minimum: 1,
    maximum: 1032,
    description:
      'Maximum ratio of a `.npz` unpacked to its own bytes; deflate itself cannot exceed 1032. See SAGEMAKER_TFS_SMALL_NPZ_BYTES.',
  },
  {
    name: 'SAGEMAKER_TFS_SMALL_NPZ_BYTES',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.smallNpzBytes),
    description: 'Bytes that any `.npz` may unpack to, whatever its ratio.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_RECORD_PARTS',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxRecordParts),
    minimum: 1,
    maximum: 16777216,
    description:
      "Maximum parts of one RecordIO record. A record has one part more each time its data holds the format's magic number.",
  },
  {
    name: 'SAGEMAKER_TFS_MAX_SPARSE_BYTES',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxSparseBytes),
    minimum: 1,
    maximum: 2147483647,
    description:
      'Maximum bytes of the sparse vectors of a body of SageMaker Records once they are dense, together; a quarter of SAGEMAKER_TFS_MAX_HELD_BYTES if that is less.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_SPARSE_RATIO',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxSparseRatio),
    minimum: 1,
    description:
      'Maximum ratio of one such dense vector to its sparse bytes. See SAGEMAKER_TFS_SMALL_SPARSE_BYTES.',
  },
  {
    name: 'SAGEMAKER_TFS_SMALL_SPARSE_BYTES',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.smallSparseBytes),
    description: 'Bytes that any such vector may take, whatever its ratio.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_IMAGE_SIDE',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxImageSide),
    minimum: 1,
    maximum: 10000000,
    description:
      'Greatest width, and greatest height, of one image: decoders that go row by row take minutes for a column of 100 million rows.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_PNG_CHUNKS',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxPngChunks),
    minimum: 3,
    maximum: 100000000,
    description: 'Chunks of one PNG; encoders write one for each 8 KB or so.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_JPEG_SCANS',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxJpegScans),
    minimum: 1,
    maximum: 100000,
    description:
      'Scans of one JPEG. Each scan passes over the whole picture; progressive files have a dozen.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_IMAGE_SECONDS',
    type: 'integer',
    default: String(DEFAULT_DECODE_LIMITS.maxImageSeconds),
    minimum: 1,
    maximum: 3600,
    description: 'Time limit of the general decoder (sharp) for one image, in whole seconds.',
  },
] as const satisfies readonly VariableDefinition[];

const PLATFORM = [
  {
    name: 'SAGEMAKER_BATCH',
    type: 'boolean',
    default: 'false',
    description: 'Set by SageMaker in batch transform.',
  },
  {
    name: 'SAGEMAKER_MULTI_MODEL',
    type: 'boolean',
    default: 'false',
    description:
      'Set by SageMaker for multi-model endpoints: models are loaded and unloaded by request.',
  },
  {
    name: 'SAGEMAKER_TFS_MULTI_MODEL_DIR',
    type: 'text',
    default: '/opt/ml/models',
    description: 'Directory that every model of a multi-model endpoint must lie in.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_CONCURRENT_TRANSFORMS',
    type: 'integer',
    minimum: 1,
    description:
      'MaxConcurrentTransforms that /execution-parameters answers. Unset: 4 for each CPU, at most 64 and what SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT lets through.',
  },
  {
    name: 'SAGEMAKER_TFS_BATCH_STRATEGY',
    type: 'choice',
    choices: ['SINGLE_RECORD', 'MULTI_RECORD'],
    default: 'MULTI_RECORD',
    description: 'BatchStrategy that /execution-parameters answers.',
  },
  {
    name: 'SAGEMAKER_TFS_MAX_PAYLOAD_MB',
    type: 'integer',
    default: '6',
    maximum: 100,
    description: 'MaxPayloadInMB that /execution-parameters answers.',
  },
  {
    name: 'SAGEMAKER_TFS_BAD_RECORD',
    type: 'choice',
    choices: ['refuse', 'answer'],
    default: 'refuse',
    description:
      'What happens to a request with an unreadable record, in JSON lines, CSV, TFRecord, RecordIO or length-prefixed records, without a handler. `refuse`: 400. `answer`: the row of that record is `{"error": "..."}` in JSON and CSV; in npz it is NaN, 0 or empty, and the array `error` is true there. The custom attribute `tfs-bad-records` counts such rows.',
  },
] as const satisfies readonly VariableDefinition[];

const OBSERVABILITY = [
  {
    name: 'SAGEMAKER_TFS_HANDLER_ERRORS',
    type: 'choice',
    choices: ['message', 'place', 'hidden'],
    default: 'message',
    description:
      'What clients see of an exception in a handler: its message, the message and the line of the handler (`serve`, `package`, `verify` and the test kit do this), or only that it failed. The log has message and stack either way; clients always see an `HttpError`.',
  },
  {
    name: 'SAGEMAKER_TFS_LOG_LEVEL',
    type: 'choice',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
    description:
      'Lowest severity that is logged. Every request is one line at `info`. `debug` logs whatever TensorFlow Serving prints, and with it data of requests.',
  },
  {
    name: 'SAGEMAKER_TFS_TRACES',
    type: 'choice',
    choices: ['off', 'log'],
    default: 'off',
    description:
      "`log` writes each traced request's spans as one line of the log, in the JSON of OpenTelemetry's protocol.",
  },
  {
    name: 'SAGEMAKER_TFS_OTLP_ENDPOINT',
    type: 'text',
    description:
      'Base address of an OpenTelemetry collector that takes OTLP over HTTP, such as `http://collector:4318`: spans go to its `/v1/traces`. Not with network isolation. Unset: none.',
  },
  {
    name: 'SAGEMAKER_TFS_TRACE_RATIO',
    type: 'number',
    default: '1',
    maximum: 1,
    description:
      'Share of requests that are traced, among those without a `traceparent`. Requests with one follow its flag.',
  },
  {
    name: 'SAGEMAKER_TFS_METRICS_PORT',
    type: 'integer',
    minimum: 0,
    maximum: 65535,
    description:
      'A second port that answers only `GET /metrics`, for scrapers that must not reach the models. Unset: none.',
  },
  {
    name: 'SAGEMAKER_TFS_CLOUDWATCH_METRICS',
    type: 'boolean',
    default: 'false',
    description: 'Writes metrics into the log in the CloudWatch embedded metric format.',
  },
  {
    name: 'SAGEMAKER_TFS_METRICS_NAMESPACE',
    type: 'text',
    default: 'SageMakerTensorFlowServing',
    description: 'CloudWatch namespace of those metrics.',
  },
] as const satisfies readonly VariableDefinition[];

/** Every variable, in the order of the documentation. */
export const ENVIRONMENT_VARIABLES = [
  ...SERVING,
  ...MODEL_SERVER,
  ...LIMITS,
  ...READERS,
  ...PLATFORM,
  ...OBSERVABILITY,
] as const;

/** Name of a variable that the runtime reads. */
export type VariableName = (typeof ENVIRONMENT_VARIABLES)[number]['name'];

/** Variables of the retired AWS container that have no meaning here, with what to do instead. */
export const RETIRED_VARIABLES: Readonly<Record<string, string>> = {
  SAGEMAKER_TFS_NGINX_LOGLEVEL: 'there is no nginx. Use SAGEMAKER_TFS_LOG_LEVEL.',
  SAGEMAKER_TFS_VERSION: 'the version is the one of the image',
  SAGEMAKER_GUNICORN_WORKERS: 'there is no gunicorn. Use SAGEMAKER_TFS_PROCESSES.',
  SAGEMAKER_GUNICORN_THREADS:
    'there is no gunicorn. One process answers many requests at a time, and SAGEMAKER_TFS_PROCESSES adds more.',
  SAGEMAKER_GUNICORN_WORKER_CLASS: 'there is no gunicorn',
  SAGEMAKER_GUNICORN_TIMEOUT_SECONDS:
    'there is no gunicorn. Use SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS.',
  SAGEMAKER_GUNICORN_LOGLEVEL: 'there is no gunicorn. Use SAGEMAKER_TFS_LOG_LEVEL.',
};
