/** The environment, read once: every variable becomes one checked, typed value here and nowhere else. */
import { availableParallelism } from 'node:os';
import type { Transport } from '@sagemaker-tfs/tensors/custom-attributes';
import { distance } from 'fastest-levenshtein';
import { containerMemory } from './container-memory.ts';
import type { DecodeLimits } from './decode-limits.ts';
import {
  ENVIRONMENT_VARIABLES,
  RETIRED_VARIABLES,
  type VariableDefinition,
  type VariableName,
} from './environment-variables.ts';
import { StartError } from './errors.ts';

type Definition = (typeof ENVIRONMENT_VARIABLES)[number];

/** Value of a variable, where a range of ports is a `Range`. */
export type ValueOf<D extends Definition, Range = PortRange> = D extends { type: 'boolean' }
  ? boolean
  : D extends { type: 'integer' | 'number' }
    ? number
    : D extends { type: 'port range' }
      ? Range
      : D extends { type: 'choice'; choices: readonly (infer C)[] }
        ? C
        : string;

type Values = {
  readonly [D in Definition as D['name']]: D extends { default: string }
    ? ValueOf<D>
    : ValueOf<D> | undefined;
};

/** Ports from `low` to `high`, both included. */
interface PortRange {
  readonly low: number;
  readonly high: number;
}

/** TensorFlow Serving's batching parameters. */
export interface Batching {
  readonly maxBatchSize: number;
  readonly timeoutMicros: number;
  readonly threads: number;
  readonly maxEnqueued: number;
  /** Rising; the last is `maxBatchSize`. Empty: any size. */
  readonly allowedSizes: readonly number[];
  /** Whether inputs of differing sizes are padded to the largest, with their first element. */
  readonly pads: boolean;
}

/** How TensorFlow optimizes every graph. */
interface GraphOptions {
  /** Whether XLA compiles what it can. */
  readonly xla: boolean;
  /** Undefined: the types of the model. */
  readonly mixedPrecision: 'bfloat16' | 'float16' | undefined;
  /** Undefined: TensorFlow decides. */
  readonly oneDnn: boolean | undefined;
}

/** Which requests are traced, and where their spans go. */
export interface TraceOptions {
  /** Whether spans are lines of the log. */
  readonly log: boolean;
  /** Base address of a collector; undefined: none. */
  readonly otlpEndpoint: string | undefined;
  /** Share of the requests without a parent that are traced, 0 to 1. */
  readonly ratio: number;
}

/** The runtime's configuration. Times are milliseconds, sizes bytes. */
export interface Environment {
  readonly port: number;
  readonly address: string;
  /** Whether pages of other sites may call, from a browser that reaches the server. */
  readonly foreignPages: 'allow' | 'refuse';
  readonly modelDir: string;
  readonly defaultModelName: string | undefined;
  /** Version by label, of the default model; undefined if none are set. */
  readonly versionLabels: Readonly<Record<string, string>> | undefined;
  readonly backend: Transport;
  /** Processes of the runtime that share the requests. */
  readonly processes: number;
  /** Threads of each process that decode the pictures of a request with several. */
  readonly decodeThreads: number;
  readonly modelServer: {
    readonly instances: number;
    /** Calls that one instance works on at a time, from all processes of the runtime together. */
    readonly inFlight: number;
    /** Milliseconds without any answer after which an instance is killed and started again. */
    readonly silenceMs: number;
    readonly ports: PortRange | undefined;
    /** Whether it listens on ports, and not on its Unix socket alone. */
    readonly tcp: boolean;
    readonly gpuMemoryMargin: number;
    readonly interOpThreads: number;
    readonly intraOpThreads: number;
    readonly ompThreads: string;
    readonly graph: GraphOptions;
    /** Undefined if batching is off. */
    readonly batching: Batching | undefined;
  };
  readonly limits: {
    readonly waitMs: number;
    readonly requestTimeoutMs: number;
    readonly shutdownTimeoutMs: number;
    readonly maxRequestBytes: number;
    readonly maxResponseBytes: number;
    /** Of an HTTP request's line and headers, and of a request that loads a model. */
    readonly maxHeaderBytes: number;
    readonly maxLoadRequestBytes: number;
    /** What a body may make its readers do. */
    readonly decode: DecodeLimits;
    /** Of one call of the model. Undefined without batching. */
    readonly maxRows: number | undefined;
    /** This limit and those below are of the whole container. */
    readonly maxRequestsInFlight: number;
    readonly maxHeldBytes: number;
    readonly maxConnections: number;
    /** 0: a client may be as slow as it likes. */
    readonly minClientBytesPerSecond: number;
    readonly clientPatienceMs: number;
  };
  readonly multiModel: boolean;
  readonly multiModelDir: string;
  readonly batchTransform: {
    readonly maxConcurrent: number;
    readonly strategy: 'SINGLE_RECORD' | 'MULTI_RECORD';
    readonly maxPayloadMb: number;
  };
  /** What clients see of a handler's exception. */
  readonly handlerErrors: 'message' | 'place' | 'hidden';
  /** Whether a bad record gets an error as its row; else the whole request is refused. */
  readonly answersBadRecords: boolean;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** Undefined if nothing is traced. */
  readonly traces: TraceOptions | undefined;
  readonly metrics: {
    /** Undefined: `/metrics` is answered on SageMaker's port only. */
    readonly port: number | undefined;
    readonly cloudWatch: boolean;
    readonly namespace: string;
  };
}

/** Ports of the AWS container if SageMaker sets no range. */
export const DEFAULT_GRPC_PORT = 9000;
export const DEFAULT_REST_PORT = 8501;
/** Batch transform has 64 requests in flight where it is tuned well. */
const LEAST_IN_FLIGHT = 64;
/** Each holds a thread of TensorFlow Serving. */
const MOST_IN_FLIGHT = 1024;

/** The result of {@link readEnvironment}. */
interface EnvironmentReading {
  readonly environment: Environment;
  /** What is set and not read, each with advice: names that look like ours, values without effect. */
  readonly warnings: readonly string[];
}

/** Whether requests are joined, for those who need no more of the environment. A value that is refused counts as false. */
export function joinsRequests(variables: Readonly<Record<string, string | undefined>>): boolean {
  return valuesOf(variables).values.SAGEMAKER_TFS_ENABLE_BATCHING;
}

/**
 * Reads and checks the environment. An empty value counts as unset.
 * @throws StartError ENVIRONMENT_INVALID with a line for every variable whose value makes no sense
 */
export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
): EnvironmentReading {
  const { values, faults } = valuesOf(variables);
  const environment = environmentOf(values);
  const combined = [
    ...wrongLabels(values),
    ...wrongSizes(values),
    ...wrongPorts(environment),
    ...wrongTcp(environment),
    ...wrongProcesses(environment),
    ...wrongTraces(environment),
    ...wrongGraphOptions(environment.modelServer.graph, variables),
    // A faulty value was taken for its default: what it would do beside others is not known.
  ].filter((problem) => !faults.some(({ name }) => problem.includes(name)));
  const problems = [...faults.map(({ problem }) => problem), ...combined];
  if (problems.length > 0) throw new StartError('ENVIRONMENT_INVALID', problems.join('\n'));
  return {
    environment,
    warnings: [...unknownNames(variables), ...unreadValues(variables, environment)],
  };
}

/** A variable whose value makes no sense by itself. */
interface Fault {
  readonly name: string;
  readonly problem: string;
}

/** A faulty value counts as its default. Without a schema: its library would be half of what the start loads. */
function valuesOf(variables: Readonly<Record<string, string | undefined>>): {
  readonly values: Values;
  readonly faults: readonly Fault[];
} {
  const faults: Fault[] = [];
  const values = ENVIRONMENT_VARIABLES.map((definition: VariableDefinition) => {
    const { name } = definition;
    const given = variables[name]?.trim();
    const read = (text: string | undefined) =>
      text === undefined ? undefined : parseValue(text, definition);
    const value = read(given || definition.default);
    if (typeof value !== 'object' || !('problem' in value)) return [name, value];
    faults.push({ name, problem: `${name} is "${given}": ${value.problem}.` });
    return [name, read(definition.default)];
  });
  return { values: Object.fromEntries(values) as Values, faults };
}

function parseValue(
  value: string,
  definition: VariableDefinition,
): string | number | boolean | PortRange | { problem: string } {
  switch (definition.type) {
    case 'text':
      return value;
    case 'boolean': {
      const lower = value.toLowerCase();
      if (lower === 'true' || lower === 'false') return lower === 'true';
      return { problem: 'it must be true or false' };
    }
    case 'choice':
      if (definition.choices?.includes(value)) return value;
      return { problem: `it must be one of ${definition.choices?.join(', ')}` };
    case 'port range':
      return parsePortRange(value);
    default:
      return parseNumber(value, definition);
  }
}

function parseNumber(value: string, definition: VariableDefinition): number | { problem: string } {
  const whole = definition.type === 'integer';
  const minimum = definition.minimum ?? 0;
  const maximum = definition.maximum ?? Number.MAX_SAFE_INTEGER;
  const number = (whole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(value) ? Number(value) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  const kind = whole ? 'a whole number' : 'a number';
  const upper = definition.maximum === undefined ? '' : ` and at most ${definition.maximum}`;
  return { problem: `it must be ${kind} of at least ${minimum}${upper}` };
}

function parsePortRange(value: string): PortRange | { problem: string } {
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(value);
  const low = Number(match?.[1]);
  const high = Number(match?.[2]);
  if (low >= 1 && high <= 65535 && low <= high) return { low, high };
  return { problem: 'it must be two ports, low-high, between 1 and 65535' };
}

function environmentOf(values: Values): Environment {
  return {
    port: values.SAGEMAKER_BIND_TO_PORT,
    address: values.SAGEMAKER_TFS_BIND_ADDRESS,
    foreignPages: values.SAGEMAKER_TFS_FOREIGN_PAGES,
    modelDir: values.SAGEMAKER_TFS_MODEL_DIR,
    defaultModelName: values.SAGEMAKER_TFS_DEFAULT_MODEL_NAME,
    versionLabels: versionLabelsOf(values.SAGEMAKER_TFS_VERSION_LABELS),
    backend: values.SAGEMAKER_TFS_BACKEND,
    processes: values.SAGEMAKER_TFS_PROCESSES ?? defaultProcesses(values),
    decodeThreads: values.SAGEMAKER_TFS_DECODE_THREADS ?? availableParallelism(),
    modelServer: {
      instances: values.SAGEMAKER_TFS_INSTANCE_COUNT,
      inFlight: inFlightOf(values),
      silenceMs: values.SAGEMAKER_TFS_MODEL_SERVER_SILENCE_SECONDS * 1000,
      ports: values.SAGEMAKER_SAFE_PORT_RANGE,
      tcp: values.SAGEMAKER_TFS_MODEL_SERVER_TCP,
      gpuMemoryMargin: values.SAGEMAKER_TFS_FRACTIONAL_GPU_MEM_MARGIN,
      interOpThreads: values.SAGEMAKER_TFS_INTER_OP_PARALLELISM,
      intraOpThreads: values.SAGEMAKER_TFS_INTRA_OP_PARALLELISM,
      ompThreads: values.OMP_NUM_THREADS,
      graph: graphOptionsOf(values),
      batching: batchingOf(values),
    },
    limits: {
      waitMs: values.SAGEMAKER_TFS_WAIT_TIME_SECONDS * 1000,
      requestTimeoutMs: values.SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS * 1000,
      shutdownTimeoutMs: values.SAGEMAKER_TFS_SHUTDOWN_TIMEOUT_SECONDS * 1000,
      maxRequestBytes: values.SAGEMAKER_TFS_MAX_REQUEST_BYTES,
      maxResponseBytes: values.SAGEMAKER_TFS_MAX_RESPONSE_BYTES,
      maxHeaderBytes: values.SAGEMAKER_TFS_MAX_HEADER_BYTES,
      maxLoadRequestBytes: values.SAGEMAKER_TFS_MAX_LOAD_REQUEST_BYTES,
      decode: decodeLimitsOf(values),
      maxRows: maxRowsOf(values),
      maxRequestsInFlight: values.SAGEMAKER_TFS_MAX_REQUESTS_IN_FLIGHT,
      maxHeldBytes: heldBytesOf(values),
      maxConnections: values.SAGEMAKER_TFS_MAX_CONNECTIONS,
      minClientBytesPerSecond: values.SAGEMAKER_TFS_MIN_CLIENT_BYTES_PER_SECOND,
      clientPatienceMs: values.SAGEMAKER_TFS_CLIENT_PATIENCE_SECONDS * 1000,
    },
    multiModel: values.SAGEMAKER_MULTI_MODEL,
    multiModelDir: values.SAGEMAKER_TFS_MULTI_MODEL_DIR,
    batchTransform: {
      maxConcurrent: values.SAGEMAKER_TFS_MAX_CONCURRENT_TRANSFORMS ?? defaultConcurrency(values),
      strategy: values.SAGEMAKER_TFS_BATCH_STRATEGY,
      maxPayloadMb: values.SAGEMAKER_TFS_MAX_PAYLOAD_MB,
    },
    answersBadRecords: values.SAGEMAKER_TFS_BAD_RECORD === 'answer',
    handlerErrors: values.SAGEMAKER_TFS_HANDLER_ERRORS,
    logLevel: values.SAGEMAKER_TFS_LOG_LEVEL,
    traces: tracesOf(values),
    metrics: {
      port: values.SAGEMAKER_TFS_METRICS_PORT,
      cloudWatch: values.SAGEMAKER_TFS_CLOUDWATCH_METRICS,
      namespace: values.SAGEMAKER_TFS_METRICS_NAMESPACE,
    },
  };
}

function tracesOf(values: Values): TraceOptions | undefined {
  const log = values.SAGEMAKER_TFS_TRACES === 'log';
  const otlpEndpoint = values.SAGEMAKER_TFS_OTLP_ENDPOINT;
  if (!log && otlpEndpoint === undefined) return undefined;
  return { log, otlpEndpoint, ratio: values.SAGEMAKER_TFS_TRACE_RATIO };
}

/** The answer is often as large as the picture, and others need room beside both. */
const OPEN_SIZE_PART = 1 / 4;

function decodeLimitsOf(values: Values): DecodeLimits {
  return {
    maxDecodedBytes: values.SAGEMAKER_TFS_MAX_DECODED_BYTES,
    maxOpenSizeBytes: Math.floor(heldBytesOf(values) * OPEN_SIZE_PART),
    maxImagePixels: values.SAGEMAKER_TFS_MAX_IMAGE_PIXELS,
    maxImageSide: values.SAGEMAKER_TFS_MAX_IMAGE_SIDE,
    maxPngChunks: values.SAGEMAKER_TFS_MAX_PNG_CHUNKS,
    maxJpegScans: values.SAGEMAKER_TFS_MAX_JPEG_SCANS,
    maxImageSeconds: values.SAGEMAKER_TFS_MAX_IMAGE_SECONDS,
    maxStrings: values.SAGEMAKER_TFS_MAX_STRINGS,
    maxFeatures: values.SAGEMAKER_TFS_MAX_FEATURES,
    maxNameBytes: values.SAGEMAKER_TFS_MAX_NAME_BYTES,
    maxNpzRatio: values.SAGEMAKER_TFS_MAX_NPZ_RATIO,
    smallNpzBytes: values.SAGEMAKER_TFS_SMALL_NPZ_BYTES,
    maxRecordParts: values.SAGEMAKER_TFS_MAX_RECORD_PARTS,
    maxSparseBytes: values.SAGEMAKER_TFS_MAX_SPARSE_BYTES,
    maxSparseRatio: values.SAGEMAKER_TFS_MAX_SPARSE_RATIO,
    smallSparseBytes: values.SAGEMAKER_TFS_SMALL_SPARSE_BYTES,
    // Counted as held only when it is read.
    maxParquetBytes: heldBytesOf(values),
    parquet: values.SAGEMAKER_TFS_PARQUET,
  };
}

/** Text takes some times its size while it is read, and the model needs memory of its own. */
const HELD_PART_OF_MEMORY = 1 / 8;
/** Some seconds of reading text: more could only wait. */
const HELD_BYTES_PER_CPU = 256 * 1024 * 1024;

function heldBytesOf(values: Values): number {
  return values.SAGEMAKER_TFS_MAX_HELD_BYTES ?? defaultHeldBytes(values.SAGEMAKER_BATCH);
}

/** A transform job waits for its answers however long they take, and SageMaker bounds how many it sends. */
function defaultHeldBytes(isBatch: boolean): number {
  const ofMemory = Math.floor(containerMemory() * HELD_PART_OF_MEMORY);
  return isBatch ? 2 * ofMemory : Math.min(ofMemory, HELD_BYTES_PER_CPU * availableParallelism());
}

const LABEL = /^\s*([^=\s]+)\s*=\s*(\d+)\s*$/;

function versionLabelsOf(text: string | undefined): Record<string, string> | undefined {
  if (text === undefined) return undefined;
  const pairs = text.split(',').map((pair) => LABEL.exec(pair) ?? []);
  return Object.fromEntries(
    pairs.map(([, label = '', version = '']) => [label, BigInt(version).toString()]),
  );
}

function wrongLabels({ SAGEMAKER_TFS_VERSION_LABELS: text }: Values): string[] {
  if (text === undefined) return [];
  const labels = text.split(',').map((pair) => LABEL.exec(pair)?.[1]);
  if (labels.includes(undefined)) {
    return [
      `SAGEMAKER_TFS_VERSION_LABELS is "${text}": it must be label=version with commas between.`,
    ];
  }
  const twice = labels.find((label, at) => labels.indexOf(label) !== at);
  return twice === undefined
    ? []
    : [
        `SAGEMAKER_TFS_VERSION_LABELS is "${text}", which has the label "${twice}" twice. A label names one version: leave the other out.`,
      ];
}

function defaultProcesses(values: Values): number {
  const inProcess = values.SAGEMAKER_TFS_BACKEND === 'in-process';
  return inProcess && !values.SAGEMAKER_MULTI_MODEL ? values.SAGEMAKER_TFS_INSTANCE_COUNT : 1;
}

/** What keeps a GPU and every batch thread busy; how many more there are makes no difference to TensorFlow. */
function inFlightOf(values: Values): number {
  const { SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT: given } = values;
  if (given !== undefined) return given;
  return Math.min(MOST_IN_FLIGHT, Math.max(LEAST_IN_FLIGHT, 4 * availableParallelism()));
}

function defaultConcurrency(values: Values): number {
  const atATime = 4 * availableParallelism();
  if (values.SAGEMAKER_TFS_BACKEND === 'in-process') return Math.min(64, atATime);
  return Math.min(64, atATime, inFlightOf(values) * values.SAGEMAKER_TFS_INSTANCE_COUNT);
}

function graphOptionsOf(values: Values): GraphOptions {
  const precision = values.SAGEMAKER_TFS_MIXED_PRECISION;
  return {
    xla: values.SAGEMAKER_TFS_XLA,
    mixedPrecision: precision === 'off' ? undefined : precision,
    oneDnn: values.SAGEMAKER_TFS_ONEDNN,
  };
}

function batchingOf(values: Values): Batching | undefined {
  if (!values.SAGEMAKER_TFS_ENABLE_BATCHING) return undefined;
  const cpus = availableParallelism();
  return {
    maxBatchSize: values.SAGEMAKER_TFS_MAX_BATCH_SIZE,
    timeoutMicros: values.SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS,
    threads: values.SAGEMAKER_TFS_NUM_BATCH_THREADS ?? cpus,
    // The runtime bounds the requests in flight, so the queue need not refuse any.
    maxEnqueued: values.SAGEMAKER_TFS_MAX_ENQUEUED_BATCHES ?? 100_000_000,
    pads: values.SAGEMAKER_TFS_BATCH_PADDING,
    allowedSizes: allowedSizesOf(values),
  };
}

/** Batches that a call without a limit of its own may be split into. */
const BATCHES_A_CALL = 10_000;

function maxRowsOf(values: Values): number | undefined {
  if (!values.SAGEMAKER_TFS_ENABLE_BATCHING) return undefined;
  return values.SAGEMAKER_TFS_MAX_ROWS ?? BATCHES_A_CALL * values.SAGEMAKER_TFS_MAX_BATCH_SIZE;
}

function allowedSizesOf({ SAGEMAKER_TFS_ALLOWED_BATCH_SIZES: text }: Values): number[] {
  if (text === undefined) return [];
  return text.split(',').map((size) => (/^\s*\d+\s*$/.test(size) ? Number(size) : Number.NaN));
}

function wrongSizes(values: Values): string[] {
  const { SAGEMAKER_TFS_ALLOWED_BATCH_SIZES: text, SAGEMAKER_TFS_MAX_BATCH_SIZE: most } = values;
  if (text === undefined || !values.SAGEMAKER_TFS_ENABLE_BATCHING) return [];
  const sizes = allowedSizesOf(values);
  const rising = sizes.every((size, index) => size > (sizes[index - 1] ?? 0));
  if (rising && sizes.at(-1) === most) return [];
  return [
    `SAGEMAKER_TFS_ALLOWED_BATCH_SIZES is "${text}": it must be rising whole numbers with commas between, the last SAGEMAKER_TFS_MAX_BATCH_SIZE (${most}).`,
  ];
}

function wrongPorts(environment: Environment): string[] {
  const { port, metrics } = environment;
  const same =
    port === 0 || port !== metrics.port
      ? []
      : [
          `SAGEMAKER_TFS_METRICS_PORT is "${port}", which SAGEMAKER_BIND_TO_PORT is as well. Take another.`,
        ];
  return [...same, ...wrongServerPorts(environment)];
}

function wrongServerPorts({ backend, port, metrics, modelServer }: Environment): string[] {
  const { ports, instances, tcp } = modelServer;
  // `rest` needs a port, as is said elsewhere.
  if (backend === 'in-process' || (backend === 'grpc' && !tcp)) return [];
  const [grpc, rest] = ports ? [ports.low, ports.low] : [DEFAULT_GRPC_PORT, DEFAULT_REST_PORT];
  const length = ports ? 2 * instances : instances;
  const where = ports
    ? 'SAGEMAKER_SAFE_PORT_RANGE'
    : `from ${DEFAULT_GRPC_PORT} and ${DEFAULT_REST_PORT}`;
  const own = { SAGEMAKER_BIND_TO_PORT: port, SAGEMAKER_TFS_METRICS_PORT: metrics.port };
  const taken = Object.entries(own)
    .filter(
      ([, value]) => value && [grpc, rest].some((low) => value >= low && value < low + length),
    )
    .map(
      ([name, value]) =>
        `${name} is "${value}", which is a port of the model server (${where}). Take another.`,
    );
  if (!ports || ports.high - ports.low + 1 >= 2 * instances) return taken;
  return [
    ...taken,
    `SAGEMAKER_SAFE_PORT_RANGE is "${ports.low}-${ports.high}". ${instances} instance(s) of the model server need ${2 * instances} ports.`,
  ];
}

function wrongTcp({ backend, modelServer }: Environment): string[] {
  if (modelServer.tcp || backend !== 'rest') return [];
  return [
    'SAGEMAKER_TFS_MODEL_SERVER_TCP is "false". SAGEMAKER_TFS_BACKEND "rest" needs a port of the model server. Take grpc.',
  ];
}

function wrongProcesses({ multiModel, processes }: Environment): string[] {
  if (!multiModel || processes === 1) return [];
  return [
    `SAGEMAKER_TFS_PROCESSES is "${processes}". A multi-model endpoint has one process, which knows what is loaded.`,
  ];
}

function wrongTraces({ traces }: Environment): string[] {
  const endpoint = traces?.otlpEndpoint;
  if (endpoint === undefined) return [];
  const isHttp = URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol);
  if (isHttp && !/[?#]/.test(endpoint)) return [];
  return [
    `SAGEMAKER_TFS_OTLP_ENDPOINT is "${endpoint}": it must be an address such as http://collector:4318.`,
  ];
}

function wrongGraphOptions(
  { xla, mixedPrecision, oneDnn }: GraphOptions,
  { TF_ENABLE_ONEDNN_OPTS, TF_XLA_FLAGS }: Readonly<Record<string, string | undefined>>,
): string[] {
  const problems: string[] = [];
  const off = /^(0|false)$/i.test(TF_ENABLE_ONEDNN_OPTS?.trim() ?? '');
  if (mixedPrecision === 'bfloat16' && !(oneDnn ?? !off)) {
    const culprit = oneDnn === false ? 'SAGEMAKER_TFS_ONEDNN' : 'TF_ENABLE_ONEDNN_OPTS';
    problems.push(
      `SAGEMAKER_TFS_MIXED_PRECISION is "bfloat16": it is computed by oneDNN, which ${culprit} turns off.`,
    );
  }
  // TensorFlow takes a value that does not begin with a hyphen as the name of a file of flags.
  const flags = TF_XLA_FLAGS?.trim();
  if (xla && flags && !flags.startsWith('-')) {
    problems.push(
      `TF_XLA_FLAGS is "${flags}". With SAGEMAKER_TFS_XLA it must be flags, which those of XLA are added to, and not a file.`,
    );
  }
  return problems;
}

function unknownNames(variables: Readonly<Record<string, string | undefined>>): string[] {
  const known = new Set<string>(ENVIRONMENT_VARIABLES.map(({ name }) => name));
  return Object.keys(variables)
    .filter((name) => /^SAGEMAKER_(TFS|GUNICORN)_/.test(name) && !known.has(name))
    .map((name) => {
      const gunicorn = name.startsWith('SAGEMAKER_GUNICORN_') ? 'there is no gunicorn' : undefined;
      const retired = RETIRED_VARIABLES[name] ?? gunicorn;
      if (retired) return `${name} is ignored: ${retired}`;
      return `${name} is not a variable of this runtime and is ignored. Did you mean ${nearest(name)}?`;
    });
}

/** Whose values nothing reads where batching is off. */
const OF_BATCHING = [
  'SAGEMAKER_TFS_MAX_BATCH_SIZE',
  'SAGEMAKER_TFS_MAX_ROWS',
  'SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS',
  'SAGEMAKER_TFS_ALLOWED_BATCH_SIZES',
  'SAGEMAKER_TFS_NUM_BATCH_THREADS',
  'SAGEMAKER_TFS_MAX_ENQUEUED_BATCHES',
  'SAGEMAKER_TFS_BATCH_PADDING',
] as const satisfies readonly VariableName[];

function unreadValues(
  variables: Readonly<Record<string, string | undefined>>,
  { modelServer }: Environment,
): string[] {
  if (modelServer.batching) return [];
  return OF_BATCHING.filter((name) => variables[name]?.trim()).map(
    (name) =>
      `${name} is ignored: it is about the batches of SAGEMAKER_TFS_ENABLE_BATCHING, which is not true`,
  );
}

function nearest(name: string): VariableName {
  return ENVIRONMENT_VARIABLES.reduce((best, candidate) =>
    misspelling(name, candidate.name) < misspelling(name, best.name) ? candidate : best,
  ).name;
}

/** Edits between the names; a name that only lacks its ending (its unit) is nearer than any other. */
function misspelling(name: string, candidate: string): number {
  return candidate.startsWith(name) ? 0 : distance(name, candidate);
}
