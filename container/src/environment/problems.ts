/** Values that make no sense beside each other. */
import { allowedSizesOf } from './derived.ts';
import { wrongLabels } from './labels.ts';
import type { Environment, GraphOptions } from './settings.ts';
import type { Values, Variables } from './values.ts';

/** Ports of the AWS container if SageMaker sets no range. */
export const DEFAULT_GRPC_PORT = 9000;
export const DEFAULT_REST_PORT = 8501;
/** A sentence for each. */
export function problemsOf(
  values: Values,
  environment: Environment,
  variables: Variables,
): string[] {
  return [
    ...wrongLabels(values),
    ...wrongSizes(values),
    ...wrongPorts(environment),
    ...wrongTcp(environment),
    ...wrongProcesses(environment),
    ...wrongTraces(environment),
    ...wrongGraphOptions(environment.modelServer.graph, variables),
  ];
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
  { TF_ENABLE_ONEDNN_OPTS, TF_XLA_FLAGS }: Variables,
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
