/** What requests are answered with: the models, the archive, its handler, the routes. */
import type { Logger } from 'pino';
import { type Archive, loadArchive } from './archive/archive.ts';
import type { BatchListeners } from './backends/batching-options.ts';
import type { RunGuard } from './backends/in-process/run-guard.ts';
import type { Environment } from './environment.ts';
import { ServingError } from './errors.ts';
import { handlerFile } from './handler/handler-file.ts';
import { loadHandler } from './handler/loader.ts';
import type { Routes } from './http/route-match.ts';
import { multiModelRoutes, singleModelRoutes } from './http/routes.ts';
import type { RunningServer } from './http/server.ts';
import type { Services } from './http/services.ts';
import type { ModelHost, ModelHostOptions } from './model-host/model-host.ts';
import { startModelHost } from './model-host/start.ts';
import type { RestoreListeners } from './model-server/change-models.ts';
import { chooseModels } from './models/choose-models.ts';
import { ModelTable } from './multi-model/model-table.ts';
import { CloudWatchMetrics } from './observability/cloudwatch.ts';
import type { Metrics } from './observability/metrics.ts';
import { Tracer } from './observability/tracer.ts';
import { modelsBefore, reportModels } from './processes/kept-models.ts';
import { primaryPage } from './processes/primary-page.ts';
import type { WorkerRole } from './processes/role.ts';
import { hearEnds } from './processes/shared-ends.ts';
import type { StallWatch } from './processes/stall-watch.ts';

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

/** What it is prepared with. */
interface PrepareOptions extends RuntimeOptions {
  /** Filled once they listen. */
  readonly servers: readonly RunningServer[];
}

/** What requests are answered with. */
export interface Prepared {
  readonly host: ModelHost;
  readonly services: Services;
  readonly routes: Routes;
  /** Rejects where the archive turns out not to fit the loaded model. */
  readonly checked: Promise<void>;
}

/** One archive, all of its models from the start on. */
export async function prepareSingle(options: PrepareOptions): Promise<Prepared> {
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
export async function prepareMultiModel(options: PrepareOptions): Promise<Prepared> {
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
  const host = await startModelHost({ ...options, listeners, guard: await guardOf(options) });
  const { Metrics } = await import('./observability/metrics.ts');
  metrics = new Metrics({
    reason: () => host.readiness.reason,
    refusals: () => host.refusals,
    modelServerEnds: () => host.modelServerEnds,
    heldBytes: () => options.servers.reduce((sum, { heldBytes }) => sum + heldBytes, 0),
  });
  return { host, metrics };
}

/** Where this process runs the models below a primary, which outlives it. */
async function guardOf({ environment, worker }: RuntimeOptions): Promise<RunGuard | undefined> {
  if (!worker || environment.backend !== 'in-process') return undefined;
  return (await import('./processes/guarded-runs.ts')).guardedRuns();
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
