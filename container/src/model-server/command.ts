/** The command line of TensorFlow Serving, from the environment. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../environment.ts';
import type { ServedModel } from '../models/served-model.ts';
import { modelConfigText } from './config-file.ts';
import type { ModelServerEndpoint } from './endpoint.ts';
import { hasGpu } from './gpu.ts';
import { startingSocket } from './listening.ts';
import { modelServerDirectory } from './ports.ts';
import { createPrivateDirectory } from './private-directory.ts';

/** The program, looked up on PATH. */
export const MODEL_SERVER_PROGRAM = 'tensorflow_model_server';

/** Files that TensorFlow Serving starts from. */
export interface ModelServerFiles {
  readonly modelConfig: string;
  /** Directory for base paths of models that come and go. */
  readonly basePaths: string;
  /** Undefined if flags say all. */
  readonly sessionConfig: string | undefined;
  /** Removes them. */
  remove(): Promise<void>;
}

/** Threads beyond those of the requests in flight. */
const SPARE_THREADS = 12;

/** Models that a process of several models loads at a time, so that one that hangs keeps no other. */
const LOAD_THREADS = 4;

/** For `--tensorflow_session_config_file`: `--mixed_precision` knows bfloat16 only. */
const FLOAT16_SESSION = 'graph_options { rewrite_options { auto_mixed_precision: ON } }\n';

/** Writes the model config and the session config into a directory of their own. */
export async function writeModelServerFiles(
  environment: Environment,
  models: readonly ServedModel[],
): Promise<ModelServerFiles> {
  const directory = modelServerDirectory(environment, process.pid);
  const remove = await createPrivateDirectory(directory);
  const modelConfig = join(directory, 'model-config.cfg');
  await writeFile(modelConfig, modelConfigText(models));
  const float16 = environment.modelServer.graph.mixedPrecision === 'float16';
  const sessionConfig = float16 ? join(directory, 'session-config.cfg') : undefined;
  if (sessionConfig) await writeFile(sessionConfig, FLOAT16_SESSION);
  return { modelConfig, basePaths: join(directory, 'models'), sessionConfig, remove };
}

/** Flags of one instance. */
export function modelServerFlags(
  environment: Environment,
  files: ModelServerFiles,
  endpoint: ModelServerEndpoint,
): string[] {
  const { interOpThreads, intraOpThreads, graph } = environment.modelServer;
  const flags: Record<string, string | number | undefined> = {
    port: endpoint.grpcPort,
    rest_api_port: endpoint.restPort,
    grpc_max_threads: callThreads(environment),
    // All of them start at once.
    rest_api_num_threads: environment.backend === 'rest' ? callThreads(environment) : undefined,
    grpc_socket_path: startingSocket(endpoint),
    // Else another server could have the port at the same time, and answer with its own models.
    grpc_channel_arguments: 'grpc.so_reuseport=0',
    model_config_file: files.modelConfig,
    // A model that does not load must say so at once instead of after five minutes.
    max_num_load_retries: 0,
    // While no other model waits for one that loads or unloads; a restarted process loads several.
    num_load_threads: environment.multiModel ? LOAD_THREADS : undefined,
    num_unload_threads: environment.multiModel ? 1 : undefined,
    rest_api_timeout_in_ms: Math.ceil(environment.limits.requestTimeoutMs),
    // Not enable_serialization_as_tensor_content: it empties the fields that TensorFlow Serving's REST API reads.
    allow_version_labels_for_unavailable_models: environment.versionLabels ? 'true' : undefined,
    tensorflow_inter_op_parallelism: interOpThreads || undefined,
    tensorflow_intra_op_parallelism: intraOpThreads || undefined,
    // Without it every compilation fails, on GPUs too, also that of functions with `jit_compile=True`.
    xla_cpu_compilation_enabled: 'true',
    mixed_precision: graph.mixedPrecision === 'bfloat16' ? 'bfloat16' : undefined,
    tensorflow_session_config_file: files.sessionConfig,
    per_process_gpu_memory_fraction: gpuMemoryFraction(
      environment,
      environment.modelServer.instances,
    )?.toFixed(4),
  };
  return Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
}

/**
 * Threads that gRPC may start, which it does on demand, and those of REST. Calls that find none are refused by gRPC
 * (grpc's thread_manager.cc, and server.cc of TensorFlow Serving, whose default is 4 for each CPU), and wait behind all
 * others over REST (http_server.cc). So there is one for every call that the runtime sends, and some for those that
 * poll, for probes, metadata, reloads and calls of handlers of their own.
 */
function callThreads({ modelServer, processes }: Environment): number {
  return modelServer.inFlight + SPARE_THREADS + 4 * processes;
}

/** Each process's part of the GPU memory; undefined if one has all of it, or there is no GPU. */
export function gpuMemoryFraction(
  { modelServer }: Environment,
  processes: number,
): number | undefined {
  if (processes < 2 || !hasGpu()) return undefined;
  return (1 - modelServer.gpuMemoryMargin) / processes;
}
