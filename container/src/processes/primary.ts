/**
 * The process above several workers: it starts what they share, restarts those that die, and passes the end
 * on. A crash of TensorFlow or of a handler, or the kernel's out-of-memory killer, ends one worker and not
 * the endpoint.
 */
import cluster from 'node:cluster';
import type { Logger } from 'pino';
import type { Environment } from '../environment.ts';
import type { RunningServer } from '../http/server.ts';
import type { ProcessEnd } from '../model-server/process.ts';
import type { ModelServer } from '../model-server/start.ts';
import type { MetricsPage } from '../observability/metrics-page.ts';
import { FrontDoor } from './front-door.ts';
import { inProcessVariables } from './in-process-variables.ts';
import type { PrimaryMessage, WorkerMessage } from './messages.ts';
import { HANDED_PORT } from './messages.ts';
import { tellEnd } from './shared-ends.ts';
import { WorkerSupervisor } from './worker-supervisor.ts';

/** What the primary is started with. */
interface PrimaryOptions {
  readonly environment: Environment;
  readonly variables: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Resolves when this container is to end. */
  readonly signalled: Promise<void>;
}

/** Beyond the time for requests in flight: what a worker needs to end by itself. */
const END_MS = 1500;

/** Runs until it is signalled. @throws Error if models or workers cannot start, with their reason */
export async function runPrimary(options: PrimaryOptions): Promise<void> {
  const { environment, log, signalled } = options;
  const door = new FrontDoor({
    port: environment.port,
    portVariable: 'SAGEMAKER_BIND_TO_PORT',
    address: environment.address,
    maxConnections: environment.limits.maxConnections,
    processes: environment.processes,
    log,
  });
  const port = await door.open();
  const modelServer = await sharedModelServer(options, (index, end) => {
    void tellEnd(workers.running, index, end);
  });
  const workers: WorkerSupervisor = new WorkerSupervisor({
    count: environment.processes,
    variables: { ...inProcessVariables(options), [HANDED_PORT]: String(port) },
    log,
    door,
    waitMs: environment.limits.waitMs,
  });
  const page = pageOf(workers);
  answerWorkers(page);
  workers.start();
  let metrics: RunningServer | undefined;
  let graceMs = 0;
  try {
    metrics = await metricsServer(options, page);
    await Promise.race([signalled, workers.failed, ...(modelServer ? [modelServer.failed] : [])]);
    graceMs = environment.limits.shutdownTimeoutMs;
  } finally {
    door.close();
    const end = performance.now() + graceMs;
    await workers.stop(graceMs + END_MS);
    await metrics?.close(0);
    await modelServer?.stop(Math.max(0, end - performance.now()));
  }
}

/** TensorFlow Serving for all workers; undefined if they run the models themselves. */
async function sharedModelServer(
  options: PrimaryOptions,
  onEnd: (index: number, end: ProcessEnd) => void,
): Promise<ModelServer | undefined> {
  if (options.environment.backend === 'in-process') return undefined;
  const { chooseModels } = await import('../models/choose-models.ts');
  const { startModelServer } = await import('../model-server/start.ts');
  const { models } = await chooseModels(options.environment);
  return startModelServer({ ...options, models, onEnd });
}

/** The metrics of all workers; what makes them is loaded when they are first asked for. */
function pageOf(workers: WorkerSupervisor): MetricsPage {
  let page: Promise<MetricsPage> | undefined;
  const load = async () => (await import('./shared-metrics.ts')).sharedMetrics(workers);
  return {
    text: async (format) => {
      page ??= load();
      return (await page).text(format);
    },
  };
}

/** Answers the workers that are asked for the metrics of all. */
function answerWorkers(page: MetricsPage): void {
  cluster.on('message', (worker, message: WorkerMessage) => {
    if (message.kind !== 'metrics-page') return;
    void page.text(message.format).then((text) => {
      const answer: PrimaryMessage = { kind: 'metrics-page', id: message.id, text };
      worker.send(answer, () => undefined);
    });
  });
}

/** Undefined if no port is set for it. */
async function metricsServer(
  { environment, log }: PrimaryOptions,
  page: MetricsPage,
): Promise<RunningServer | undefined> {
  if (environment.metrics.port === undefined) return undefined;
  const { startMetricsServer } = await import('./metrics-server.ts');
  return startMetricsServer(environment, log, page);
}
