/** The whole server: from flags to listening, and back. */

import { setTimeout as sleep } from 'node:timers/promises';
import { loadServable } from '@sagemaker-tfs/libtensorflow/serving';
import type { Flags } from './flags.ts';
import { startGrpcServer } from './grpc/server.ts';
import { log } from './log.ts';
import { ModelManager } from './model-manager.ts';
import { type RestServer, startRestServer } from './rest/server.ts';
import { readServerOptions, type ServerOptions } from './server-options.ts';
import type { ServingCore } from './serving-core.ts';

/** Milliseconds that requests in flight get when the server ends, and the models thereafter. */
const CLOSE_GRACE_MS = 2_000;
const UNLOAD_GRACE_MS = 500;

/**
 * Ends a server: refuses new requests, waits a little for those in flight, unloads the models. Resolves to
 * false where TensorFlow is still at work after that, in a thread that cannot be stopped.
 */
export type CloseServer = () => Promise<boolean>;

/**
 * Starts what the flags describe: loads the models, then listens. `onLoading` gets a way to end the server
 * before it listens, since a model without versions keeps it waiting.
 * @throws StatusError with what the original prints after `Failed to start server. Error: `
 */
export async function startServer(
  flags: Flags,
  onLoading?: (close: CloseServer) => void,
): Promise<CloseServer> {
  const options = await readServerOptions(flags);
  const core = createCore(flags, options);
  const closeModels = (): Promise<boolean> =>
    Promise.race([core.models.close().then(() => true), sleep(UNLOAD_GRACE_MS, false)]);
  onLoading?.(closeModels);
  await core.models.start(options.models);
  const closeListeners = await listen(core, options);
  return async () => {
    await closeListeners();
    return closeModels();
  };
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
  };
}

/** `LOCAL_MODEL_SERVER_POLL_MS` is for tests, which would wait for the next whole second. */
function pollMs({ file_system_poll_wait_seconds: seconds }: Flags): number {
  const text = process.env.LOCAL_MODEL_SERVER_POLL_MS ?? '';
  return seconds > 0 && /^[1-9]\d*$/.test(text) ? Number(text) : seconds * 1_000;
}

async function listen(core: ServingCore, options: ServerOptions): Promise<() => Promise<void>> {
  const grpc = await startGrpcServer(core, options.grpc);
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
  const rest = options.rest && (await startRest(core, options.rest));
  return async () => {
    await Promise.all([grpc.close(CLOSE_GRACE_MS), rest?.close(CLOSE_GRACE_MS)]);
  };
}

/** A port that is taken is logged and no more (server.cc): the gRPC API runs without REST. */
async function startRest(
  core: ServingCore,
  options: NonNullable<ServerOptions['rest']>,
): Promise<RestServer | undefined> {
  try {
    const server = await startRestServer(core, options);
    log.info(`Exporting HTTP/REST API at:localhost:${options.port} ...`);
    return server;
  } catch {
    log.error(`Failed to start HTTP Server at localhost:${options.port}`);
    return undefined;
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}
