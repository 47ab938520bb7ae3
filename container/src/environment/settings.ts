/** The runtime's configuration, made of its variables. */
import { availableParallelism } from 'node:os';
import type { Transport } from '@sagemaker-tfs/tensors/custom-attributes';
import type { DecodeLimits } from '../decode-limits.ts';
import type { Batching } from './derived.ts';
import {
  batchingOf,
  decodeLimitsOf,
  defaultConcurrency,
  defaultProcesses,
  heldBytesOf,
  inFlightOf,
  maxRowsOf,
} from './derived.ts';
import { versionLabelsOf } from './labels.ts';
import type { PortRange, Values } from './values.ts';

/** How TensorFlow optimizes every graph. */
export interface GraphOptions {
  /** Whether a GPU's memory is taken as it is needed, and not at the start. */
  readonly gpuAllowGrowth: boolean;
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

/** Every value in its place. */
export function environmentOf(values: Values): Environment {
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

function graphOptionsOf(values: Values): GraphOptions {
  const precision = values.SAGEMAKER_TFS_MIXED_PRECISION;
  return {
    gpuAllowGrowth: values.SAGEMAKER_TFS_GPU_ALLOW_GROWTH,
    xla: values.SAGEMAKER_TFS_XLA,
    mixedPrecision: precision === 'off' ? undefined : precision,
    oneDnn: values.SAGEMAKER_TFS_ONEDNN,
  };
}
