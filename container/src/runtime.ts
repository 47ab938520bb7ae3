/** Puts the runtime together: models, model server, handler, HTTP. */
import type { Environment } from './environment.ts';
import { Admission } from './http/admission.ts';
import { loadInvocations } from './http/lazy-invoke.ts';
import type { Routes } from './http/route-match.ts';
import { metricsRoute } from './http/routes.ts';
import { BUFFERED_BYTES, type RunningServer, startServer } from './http/server.ts';
import type { Services } from './http/services.ts';
import { setImageLimits } from './images/image-limits.ts';
import { setDecodeThreads } from './images/image-pool.ts';
import type { Metrics } from './observability/metrics.ts';
import {
  type Prepared,
  prepareMultiModel,
  prepareSingle,
  type RuntimeOptions,
} from './prepare-runtime.ts';
import { handedConnections } from './processes/handed-connections.ts';
import { setReadingHeap } from './threads/text-threads.ts';

export type { RuntimeOptions } from './prepare-runtime.ts';

/** A started runtime. */
export interface Runtime {
  /** Port that the HTTP server got. */
  readonly port: number;
  /** Rejects when the start has failed after all, with TensorFlow Serving's own message. */
  readonly failed: Promise<never>;
  /** Resolves when models can be called for the first time. */
  readonly ready: Promise<void>;
  /** What this process counts. */
  readonly metrics: Metrics;
  /** What answers are made with, for a program that asks without HTTP. */
  readonly services: Services;
  /** Finishes what is in flight, for at most `graceMs` (default: as configured), and ends the model server. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Starts everything; returns as soon as the HTTP server listens, while models still load, or at once where
 * this worker listens only when they are loaded.
 * @throws StartError if the archive cannot be served
 */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { environment } = options;
  setDecodeThreads(environment.decodeThreads);
  setImageLimits(environment.limits.decode);
  setReadingHeap(environment.limits.maxHeldBytes);
  const servers: RunningServer[] = [];
  const prepared = await (environment.multiModel
    ? prepareMultiModel({ ...options, servers })
    : prepareSingle({ ...options, servers }));
  const { host, services } = prepared;
  const close = async (graceMs = environment.limits.shutdownTimeoutMs) => {
    // In all: a model server that hangs must not take us beyond what SageMaker waits.
    const end = performance.now() + graceMs;
    await Promise.all(servers.map((server) => server.close(graceMs)));
    services.cloudWatch?.close();
    await services.tracer?.close();
    await host.stop(Math.max(0, end - performance.now()));
  };
  const open = async () => {
    if (options.listens === false) return;
    for (const listener of listeners(prepared, options)) {
      servers.push(await listen(options, listener));
    }
  };
  const ready = options.worker?.listensWhenReady ? prepared.checked.then(open) : prepared.checked;
  const failed = Promise.race([host.failed, ready.then(forever)]);
  failed.catch(() => undefined);
  try {
    if (!options.worker?.listensWhenReady) await open();
  } catch (error) {
    await close(0);
    throw error;
  }
  void Promise.all([loadInvocations(), host.backends.choose(undefined)]);
  return { port: servers[0]?.port ?? 0, ready, failed, close, metrics: services.metrics, services };
}

/** SageMaker's port first. The metrics of several processes are answered by their primary. */
function listeners({ routes, services }: Prepared, { environment, worker }: RuntimeOptions) {
  const { port } = environment.metrics;
  const own = { port: environment.port, portVariable: 'SAGEMAKER_BIND_TO_PORT', routes };
  if (port === undefined || worker) return [own];
  const portVariable = 'SAGEMAKER_TFS_METRICS_PORT';
  return [own, { port, portVariable, routes: metricsRoute(services.metricsPage) }];
}

/** This process's part of what the container takes on. */
function serverLimits({ limits, processes }: Environment) {
  const share = (all: number) => Math.max(1, Math.floor(all / processes));
  return {
    admission: new Admission({
      maxRequests: share(limits.maxRequestsInFlight),
      maxHeldBytes: share(limits.maxHeldBytes),
    }),
    maxConnections: share(limits.maxConnections),
    pace: {
      minBytesPerSecond: limits.minClientBytesPerSecond,
      patienceMs: limits.clientPatienceMs,
    },
  };
}

async function listen(
  { environment, log, worker }: RuntimeOptions,
  { port, portVariable, routes }: { port: number; portVariable: string; routes: Routes },
): Promise<RunningServer> {
  const server = await startServer(routes, {
    port,
    portVariable,
    address: environment.address,
    timeoutMs: environment.limits.requestTimeoutMs,
    maxHeaderBytes: environment.limits.maxHeaderBytes,
    foreignPages: environment.foreignPages,
    log,
    ...serverLimits(environment),
    source: worker && handedConnections(BUFFERED_BYTES),
  });
  log.info({ port: server.port, paths: Object.keys(routes) }, 'listening');
  return server;
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}
