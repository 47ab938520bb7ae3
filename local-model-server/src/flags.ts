/**
 * TensorFlow Serving's command line: the same names, types and defaults; what is unknown is printed and passed over, and
 * a value that cannot be read ends the program (main.cc, and tensorflow/core/util/command_line_flags.cc). Values are given as `--name=value`; a boolean may be `--name`, `--name=true` or `--name=false`.
 */
import { availableParallelism } from 'node:os';

type FlagType = 'int32' | 'int64' | 'float' | 'bool' | 'string';

interface Flag<T extends number | boolean | string> {
  readonly type: FlagType;
  readonly default: T;
  readonly help: string;
}

function flagOf<T extends number | boolean | string>(type: FlagType) {
  return (value: T, help: string): Flag<T> => ({ type, default: value, help });
}

const int32 = flagOf<number>('int32');
const int64 = flagOf<number>('int64');
const float = flagOf<number>('float');
const bool = flagOf<boolean>('bool');
const string = flagOf<string>('string');

/** Accepted so that a command line made for TensorFlow Serving works here too. */
const IGNORED = 'Accepted for compatibility; has no effect here.';
const XLA = 'Let XLA compile. Without this flag and its sibling, a run that would compile fails.';
const SERVER_THREADS = 4 * availableParallelism();

const FLAGS = {
  port: int32(8500, 'TCP port of the gRPC API.'),
  host: string(
    '127.0.0.1',
    "Address of both TCP ports. Not TensorFlow Serving's, which listens on 0.0.0.0; whoever reaches the port may call and reload models.",
  ),
  grpc_socket_path: string('', 'Path of a UNIX socket on which the gRPC API listens as well.'),
  rest_api_port: int32(
    0,
    'TCP port of the HTTP/REST API; 0 turns it off. Must differ from --port.',
  ),
  rest_api_num_threads: int32(
    SERVER_THREADS,
    'Threads of the HTTP/REST API: one waits, calls beyond the others wait their turn.',
  ),
  rest_api_timeout_in_ms: int32(30_000, 'Time limit of an HTTP/REST call in milliseconds.'),
  rest_api_enable_cors_support: bool(false, IGNORED),
  enable_batching: bool(false, 'Run concurrent requests of a signature together.'),
  allow_version_labels_for_unavailable_models: bool(
    false,
    'Let an unused version label be assigned to a version that is not available yet.',
  ),
  batching_parameters_file: string('', 'Text file of BatchingParameters; needs --enable_batching.'),
  enable_per_model_batching_parameters: bool(false, IGNORED),
  model_config_file: string(
    '',
    'Text file of ModelServerConfig naming the models to serve; --model_name and --model_base_path are then ignored.',
  ),
  model_config_file_poll_wait_seconds: int32(0, IGNORED),
  model_name: string('default', 'Name of the model.'),
  model_base_path: string('', "Directory that holds the model's numbered version directories."),
  num_load_threads: int32(
    0,
    'Versions that load at a time; 0 for one, while which nothing else loads or unloads.',
  ),
  num_unload_threads: int32(
    0,
    'Versions that unload at a time; 0 for one, while which nothing else loads or unloads.',
  ),
  max_num_load_retries: int32(5, 'Further attempts after a version failed to load.'),
  load_retry_interval_micros: int64(60_000_000, 'Microseconds between two attempts to load.'),
  file_system_poll_wait_seconds: int32(
    1,
    'Seconds between two looks for new versions; 0 looks once, a negative value never.',
  ),
  flush_filesystem_caches: bool(true, IGNORED),
  tensorflow_session_parallelism: int64(
    0,
    'Threads of a session, within an operation and among operations; 0 leaves it to TensorFlow.',
  ),
  tensorflow_session_config_file: string(
    '',
    'Text file of a TensorFlow ConfigProto for every session.',
  ),
  tensorflow_intra_op_parallelism: int64(
    0,
    'Threads within one operation; 0 leaves it to TensorFlow.',
  ),
  tensorflow_inter_op_parallelism: int64(
    0,
    'Operations that run at the same time; 0 leaves it to TensorFlow.',
  ),
  use_alts_credentials: bool(false, IGNORED),
  ssl_config_file: string('', 'Not supported: the server ends.'),
  platform_config_file: string('', IGNORED),
  per_process_gpu_memory_fraction: float(
    0,
    'Part of GPU memory to take, 0.0 to 1.0; 0.0 leaves it to TensorFlow.',
  ),
  saved_model_tags: string('serve', 'Comma-separated tags of the MetaGraph to load.'),
  grpc_channel_arguments: string('', IGNORED),
  grpc_max_threads: int32(
    SERVER_THREADS,
    'Threads of the gRPC API: one waits, calls beyond the others are answered RESOURCE_EXHAUSTED.',
  ),
  enable_model_warmup: bool(
    true,
    'Run the requests in assets.extra/tf_serving_warmup_requests before a version is available.',
  ),
  num_request_iterations_for_warmup: int32(
    0,
    'Times each warm-up request runs; used where above 0.',
  ),
  version: bool(false, 'Print versions and end.'),
  monitoring_config_file: string('', IGNORED),
  remove_unused_fields_from_bundle_metagraph: bool(true, IGNORED),
  prefer_tflite_model: bool(false, IGNORED),
  num_tflite_pools: int32(availableParallelism(), IGNORED),
  num_tflite_interpreters_per_pool: int32(1, IGNORED),
  enable_signature_method_name_check: bool(
    false,
    'Refuse signatures whose method name is not that of the API called.',
  ),
  xla_cpu_compilation_enabled: bool(false, XLA),
  xla_gpu_compilation_enabled: bool(false, XLA),
  enable_profiler: bool(true, IGNORED),
  thread_pool_factory_config_file: string('', IGNORED),
  mixed_precision: string(
    '',
    'bfloat16 computes in bfloat16 what bears it, on processors that can; empty leaves the types of the model.',
  ),
  skip_initialize_tpu: bool(false, IGNORED),
  enable_grpc_healthcheck_service: bool(false, 'Serve grpc.health.v1.Health.'),
  enable_serialization_as_tensor_content: bool(
    false,
    'Put the outputs of Predict into tensor_content instead of the typed fields.',
  ),
} as const;

/** The value of every flag, given or default. */
export type Flags = {
  readonly [Name in keyof typeof FLAGS]: (typeof FLAGS)[Name]['default'];
};

/** What a command line came to: the flags, or a text to print before ending. */
export type ParsedFlags =
  | { readonly flags: Flags; readonly unknown?: string; readonly usage: string }
  /** `problem` goes to stderr, `usage` to stdout; the process ends with status 255, as the original does. */
  | { readonly problem: string; readonly usage: string };

/** Parses a command line without the program's own name. Of several unknown arguments, only the first is reported. */
export function parseFlags(args: readonly string[], program: string): ParsedFlags {
  const values: Record<string, number | boolean | string> = {};
  for (const [name, flag] of Object.entries(FLAGS)) values[name] = flag.default;
  const text = usage(program);
  const problems: string[] = [];
  const unknown: string[] = [];
  for (const arg of args) {
    const { problem, isKnown } = readFlag(arg, values);
    if (problem) problems.push(problem);
    if (!isKnown) unknown.push(arg);
  }
  const [first] = unknown;
  if (problems.length > 0 || first === '--help') {
    return { problem: problems.join('\n'), usage: text };
  }
  return { flags: values as Flags, usage: text, ...(first !== undefined && { unknown: first }) };
}

/** Stores one argument; `problem` where its value cannot be read. */
function readFlag(
  arg: string,
  values: Record<string, number | boolean | string>,
): { readonly isKnown: boolean; readonly problem?: string } {
  const match = /^--([a-z_]+)(?:=(.*))?$/s.exec(arg);
  const name = match?.[1];
  const text = match?.[2];
  if (name === undefined || !isFlag(name)) return { isKnown: false };
  const { type } = FLAGS[name];
  if (text === undefined && type !== 'bool') return { isKnown: false };
  const value = text === undefined ? true : readValue(type, text);
  if (value === undefined) {
    return { isKnown: true, problem: `Couldn't interpret value ${text} for flag ${name}.` };
  }
  values[name] = value;
  return { isKnown: true };
}

function isFlag(name: string): name is keyof typeof FLAGS {
  return Object.hasOwn(FLAGS, name);
}

function readValue(type: FlagType, text: string): number | boolean | string | undefined {
  switch (type) {
    case 'string':
      return text;
    case 'bool':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'float':
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
    default:
      return readInteger(text, type === 'int32' ? 2 ** 31 : Number.MAX_SAFE_INTEGER);
  }
}

function readInteger(text: string, limit: number): number | undefined {
  const value = Number(text);
  return /^[+-]?\d+$/.test(text) && Math.abs(value) < limit ? value : undefined;
}

function usage(program: string): string {
  const lines = Object.entries(FLAGS).map(([name, flag]) => {
    const shown = flag.type === 'string' ? `"${flag.default}"` : String(flag.default);
    return `\t${`--${name}=${shown}`.padEnd(33)}\t${flag.type}\t${flag.help}\n`;
  });
  return `usage: ${program}\nFlags:\n${lines.join('')}`;
}
