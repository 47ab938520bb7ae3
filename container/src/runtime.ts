/** Puts the runtime together: models, model server, handler, HTTP. */
import type { Logger } from 'pino';
import { type Archive, loadArchive } from './archive/archive.ts';
import type { BatchListeners } from './backends/batching-options.ts';
import type { Environment } from './environment.ts';
import { ServingError } from './errors.ts';
import { handlerFile } from './handler/handler-file.ts';
import { loadHandler } from './handler/loader.ts';
import { Admission } from './http/admission.ts';
import { loadInvocations } from './http/lazy-invoke.ts';
import type { Routes } from './http/route-match.ts';
import { metricsRoute, multiModelRoutes, singleModelRoutes } from './http/routes.ts';
import { BUFFERED_BYTES, type RunningServer, startServer } from './http/server.ts';
import type { Services } from './http/services.ts';
import { setImageLimits } from './images/image-limits.ts';
import { setDecodeThreads } from './images/image-pool.ts';
import type { ModelHost, ModelHostOptions } from './model-host/model-host.ts';
import { startModelHost } from './model-host/start.ts';
import type { RestoreListeners } from './model-server/change-models.ts';
import { chooseModels } from './models/choose-models.ts';
import { ModelTable } from './multi-model/model-table.ts';
import { CloudWatchMetrics } from './observability/cloudwatch.ts';
import type { Metrics } from './observability/metrics.ts';
import { Tracer } from './observability/tracer.ts';
import { handedConnections } from './processes/handed-connections.ts';
import { modelsBefore, reportModels } from './processes/kept-models.ts';
import { primaryPage } from './processes/primary-page.ts';
import type { WorkerRole } from './processes/role.ts';
import { hearEnds } from './processes/shared-ends.ts';
import type { StallWatch } from './processes/stall-watch.ts';
import { setReadingHeap } from './threads/text-threads.ts';

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

/** What the runtime is started with. */
export interface RuntimeOptions {
  readonly environment: Environment;
  /** Handed on to the model server. */
  readonly variables: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Set where this process is one of several. */
  readonly worker?: WorkerRole;
  /** False for a program that asks without HTTP. Default: true. */
  readonly listens?: boolean;
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

/** Nothing but a handler can keep the event loop for ever. Resolves when this is watched for. */
async function watch({ environment, log, servers }: PrepareOptions): Promise<StallWatch> {
  const { startStallWatch } = await import('./processes/stall-watch.ts');
  return startStallWatch({
    limitMs: environment.limits.requestTimeoutMs,
    startLimitMs: environment.limits.waitMs,
    cut: (error) => servers.flatMap((server) => server.cut(error)),
    log,
  });
}

/**
 * Watches the load of a handler, unless a primary does so or there is none. Call it before the load: a module that
 * blocks the event loop would keep the watch from starting.
 */
async function watchLoad(
  options: PrepareOptions,
  directory: string,
): Promise<StallWatch | undefined> {
  return options.worker || !handlerFile(directory) ? undefined : watch(options);
}

/** From when requests are answered. @param begun a watch that runs already */
async function watchRequests(
  options: PrepareOptions,
  begun: StallWatch | undefined,
): Promise<void> {
  const running = begun ?? (await watch(options));
  running.started();
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

interface PrepareOptions extends RuntimeOptions {
  /** Filled once they listen. */
  readonly servers: readonly RunningServer[];
}

interface Prepared {
  readonly host: ModelHost;
  readonly services: Services;
  readonly routes: Routes;
  /** Rejects where the archive turns out not to fit the loaded model. */
  readonly checked: Promise<void>;
}

/** One archive, all of its models from the start on. */
async function prepareSingle(options: PrepareOptions): Promise<Prepared> {
  const { environment, log } = options;
  const { models, defaultModel } = await chooseModels(environment);
  const names = new Set(models.map((model) => model.name));
  // First of all, because loading the models takes longer than everything here.
  const { host, metrics } = await startCountedHost({
    ...options,
    models,
    sharesModelServer: options.worker !== undefined,
    hearEnds: options.worker && hearEnds,
  });
  const loadWatch = await watchLoad(options, environment.modelDir);
  const archive = await loadArchive(environment.modelDir, log, environment.limits.waitMs).catch(
    async (error) => {
      await host.stop();
      throw error;
    },
  );
  log.info({ models, defaultModel, handler: archive.handler?.path }, 'archive');
  const services = servicesOf(options, host, {
    metrics,
    defaultModel,
    archiveOf(name) {
      if (!names.has(name)) throw noSuchModel(name, names);
      return archive;
    },
    holdModel: undefined,
    watched: archive.handler ? watchRequests(options, loadWatch) : undefined,
  });
  const checked = host.readiness.firstReady.then(async () => {
    const backend = await host.backends.choose(undefined);
    const signatures = await backend.signatures({ name: defaultModel });
    const { checkDeclarations } = await import('./archive/check-declarations.ts');
    checkDeclarations(archive, signatures);
    for (const name of names) {
      await warnOfBatching(options, host, name);
    }
  });
  checked.catch(() => undefined);
  return { host, services, routes: singleModelRoutes(services), checked };
}

/** Lists all names: whoever may call an endpoint may call each model of its archive. */
function noSuchModel(name: string, names: ReadonlySet<string>): ServingError {
  const has = [...names].slice(0, MAX_NAMED).join(', ');
  const more = names.size > MAX_NAMED ? ` and ${names.size - MAX_NAMED} more` : '';
  return new ServingError(
    'MODEL_NOT_FOUND',
    `there is no model "${name}". The archive has ${has}${more}. Name one with tfs-model-name.`,
  );
}

/** Models that a message names at most. */
const MAX_NAMED = 10;

/** No model at first; SageMaker loads and unloads them. */
async function prepareMultiModel(options: PrepareOptions): Promise<Prepared> {
  const { environment, log } = options;
  const root = environment.multiModelDir;
  const loadWatch = await watchLoad(options, root);
  const handler = await loadHandler(root, log, environment.limits.waitMs);
  const universal: Archive = { directory: root, handler, manifest: undefined, labels: undefined };
  const restores: RestoreListeners = {
    onLost: (name, error, isLate) => table.lose(name, error, isLate),
    onRegained: (name) => table.regain(name),
  };
  const { host, metrics } = await startCountedHost({ ...options, models: [], restores });
  const table: ModelTable = new ModelTable({
    root,
    universal,
    log,
    loadMs: environment.limits.waitMs,
    serve: (models) => host.serve(models),
    onChange: (name) => {
      host.backends.forget(name);
      if (options.worker) reportModels(table.sources);
    },
    onLoad: (name) => warnOfBatching(options, host, name),
  });
  if (options.worker) table.restore(await modelsBefore());
  const services = servicesOf(options, host, {
    metrics,
    defaultModel: undefined,
    archiveOf: (name) => table.use(name),
    holdModel: (name) => table.hold(name),
    // A handler may come with any model.
    watched: watchRequests(options, loadWatch),
  });
  const checked = Promise.resolve();
  return { host, services, routes: multiModelRoutes(services, table), checked };
}

function batchListeners(log: Logger, onBatch: BatchListeners['onBatch']): BatchListeners {
  return {
    onBatch,
    onAlone: (model, signature, why) =>
      log.warn(
        { model },
        {
          joined: `the answers of signature "${signature}" depend on the requests beside them: its requests run one by one`,
          padded: `the answers of signature "${signature}" change when shorter inputs are padded: only requests of one shape run together`,
          writes: `signature "${signature}" writes what other requests read (variables, tables, queues), or its graph cannot be read: its requests run one by one, each once`,
        }[why],
      ),
  };
}

/** Logs each signature whose requests are not joined. */
async function warnOfBatching(
  { environment, log }: PrepareOptions,
  { backends }: ModelHost,
  name: string,
): Promise<void> {
  if (!environment.modelServer.batching) return;
  const backend = await backends.choose(undefined);
  const { unbatchable } = await import('./model-server/unbatchable.ts');
  for (const warning of unbatchable(await backend.signatures({ name }))) {
    log.warn({ model: name }, warning);
  }
}

function servicesOf(
  { environment, log, worker }: RuntimeOptions,
  { backends, readiness, endpoint }: ModelHost,
  rest: Pick<Services, 'metrics' | 'defaultModel' | 'archiveOf' | 'holdModel' | 'watched'>,
): Services {
  return {
    environment,
    log,
    backends,
    readiness,
    endpoint,
    metricsPage: worker ? primaryPage() : rest.metrics,
    cloudWatch: environment.metrics.cloudWatch
      ? new CloudWatchMetrics(log, environment.metrics.namespace)
      : undefined,
    tracer: environment.traces && new Tracer(log, environment.traces),
    ...rest,
  };
}

/** The models, and what counts their batches, which is loaded while they load. Before both are there nothing is asked. */
async function startCountedHost(
  options: Omit<ModelHostOptions, 'listeners'> & Pick<PrepareOptions, 'servers'>,
): Promise<{ readonly host: ModelHost; readonly metrics: Metrics }> {
  let metrics: Metrics | undefined;
  const listeners = batchListeners(options.log, (batch) => metrics?.batch(batch));
  const host = await startModelHost({ ...options, listeners });
  const { Metrics } = await import('./observability/metrics.ts');
  metrics = new Metrics({
    reason: () => host.readiness.reason,
    refusals: () => host.refusals,
    modelServerEnds: () => host.modelServerEnds,
    heldBytes: () => options.servers.reduce((sum, { heldBytes }) => sum + heldBytes, 0),
  });
  return { host, metrics };
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}
