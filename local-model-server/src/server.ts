/** The whole server: from flags to listening, and back. */

import { disableXlaCompilation } from '@sagemaker-tfs/libtensorflow';
import { loadServable } from '@sagemaker-tfs/libtensorflow/serving';
import type { Flags } from './flags.ts';
import { startGrpcServer } from './grpc/server.ts';
import { log } from './log.ts';
import { ModelManager } from './model-manager.ts';
import { startRestServer } from './rest/server.ts';
import { readServerOptions, type ServerOptions } from './server-options.ts';
import type { ServingCore } from './serving-core.ts';

/**
 * Starts what the flags describe: loads the models, then listens. It serves until a signal ends the process, at once
 * and with all requests, since TensorFlow Serving catches none.
 * @throws StatusError with what the original prints after `Failed to start server. Error: `
 */
export async function startServer(flags: Flags): Promise<void> {
  const options = await readServerOptions(flags);
  await forbidXla(flags, options);
  const core = createCore(flags, options);
  await core.models.start(options.models);
  await listen(core, options);
}

/** As main.cc does: models whose functions ask for XLA then fail as they run. */
async function forbidXla(flags: Flags, { servables }: ServerOptions): Promise<void> {
  if (flags.xla_cpu_compilation_enabled || flags.xla_gpu_compilation_enabled) return;
  if (await disableXlaCompilation(servables.library)) return;
  log.warning(
    `${servables.library.cc} has no switch for XLA: functions with jit_compile=True run here, and fail in TensorFlow Serving without --xla_cpu_compilation_enabled`,
  );
}

function createCore(flags: Flags, { servables }: ServerOptions): ServingCore {
  const models = new ModelManager({
    load: (name, directory) => loadServable(name, directory, servables),
    maxRetries: flags.max_num_load_retries,
    retryIntervalMs: flags.load_retry_interval_micros / 1_000,
    pollMs: pollMs(flags),
    loadThreads: flags.num_load_threads,
    unloadThreads: flags.num_unload_threads,
    allowLabelsForUnavailable: flags.allow_version_labels_for_unavailable_models,
  });
  return {
    models,
    checkMethodName: flags.enable_signature_method_name_check,
    tensorContent: flags.enable_serialization_as_tensor_content,
  };
}

/** `LOCAL_MODEL_SERVER_POLL_MS` is for tests, which would wait for the next whole second. */
function pollMs({ file_system_poll_wait_seconds: seconds }: Flags): number {
  const forTests = milliseconds('LOCAL_MODEL_SERVER_POLL_MS');
  return seconds > 0 && forTests !== undefined ? forTests : seconds * 1_000;
}

/** A variable for tests; undefined if it is no whole number from 1 on. */
function milliseconds(variable: string): number | undefined {
  const text = process.env[variable] ?? '';
  return /^[1-9]\d*$/.test(text) ? Number(text) : undefined;
}

async function listen(core: ServingCore, options: ServerOptions): Promise<void> {
  await startGrpcServer(core, options.grpc);
  const { host, port } = options.grpc;
  if (port !== 0) log.info(`Running gRPC ModelServer at ${host}:${port} ...`);
  if (!isLoopback(host)) {
    log.warning(
      `Whoever reaches ${host} may call the models, and load others with HandleReloadConfigRequest`,
    );
  }
  if (options.grpc.socketPath) {
    log.info(`Running gRPC ModelServer at UNIX socket ${options.grpc.socketPath} ...`);
  }
  if (options.rest) await startRest(core, options.rest);
}

/** A port that is taken is logged and no more (server.cc): the gRPC API runs without REST. */
async function startRest(
  core: ServingCore,
  options: NonNullable<ServerOptions['rest']>,
): Promise<void> {
  try {
    await startRestServer(core, options);
    log.info(`Exporting HTTP/REST API at:localhost:${options.port} ...`);
  } catch {
    log.error(`Failed to start HTTP Server at localhost:${options.port}`);
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}
