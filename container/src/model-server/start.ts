/** TensorFlow Serving as one thing: its files, its processes, and the pool that the requests go to. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Environment } from '../environment.ts';
import { StartError } from '../errors.ts';
import type { ServedModel } from '../models/served-model.ts';
import { nowAndThen } from '../observability/now-and-then.ts';
import { laterFailure } from '../waiting/failure.ts';
import type { RestoreListeners, Serving } from './change-models.ts';
import { type ModelServerFiles, modelServerFlags, writeModelServerFiles } from './command.ts';
import type { ModelServerEndpoint } from './endpoint.ts';
import { InstancePool, type InstancePoolOptions } from './instance-pool.ts';
import { checkSocketPath } from './listening.ts';
import { modelServerEndpoints, portProblem } from './ports.ts';
import type { ProcessEnd } from './process.ts';
import { Supervisor } from './supervisor.ts';
import { tensorFlowVariables } from './tensorflow-variables.ts';

/** What it is reached with. */
type PoolOptions = Pick<ModelServerOptions, 'environment' | 'models' | 'log'>;

/** What TensorFlow Serving is started with. */
interface ModelServerOptions {
  readonly environment: Environment;
  /** Handed on, with what TensorFlow reads. */
  readonly variables: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly models: readonly ServedModel[];
  /** Called when a process ended and will be restarted. */
  readonly onEnd?: (index: number, end: ProcessEnd) => void;
  /** Told of models that a restarted process no longer has. */
  readonly restores?: RestoreListeners | undefined;
}

/** A started model server. */
export interface ModelServer {
  readonly pool: InstancePool;
  /** Rejects where it ended before it ever served, with its own last lines. */
  readonly failed: Promise<never>;
  /**
   * Makes every instance serve exactly these models, also after a restart; what is removed is unloaded by then.
   * @param models called once the restart of a process is over, which decides what there is
   * @throws StatusError, ConnectionLost or NothingChanged where one does not load: all is as before then;
   *   REQUEST_TIMEOUT where requests in flight keep a removed one: all others are as asked for
   */
  serve(models: () => readonly ServedModel[]): Promise<void>;
  /** Ends the processes, by SIGKILL after `mostMs` at the latest. Default: after 3 s. */
  stop(mostMs?: number): Promise<void>;
}

/** No TensorFlow Serving answers sooner, so that asking it can wait until we listen ourselves. */
const START_MS = 100;
/** How long an instance may take to end by itself, in ms. */
const GRACE_MS = 3000;
/** From readiness until the server is asked for its version: first requests go first. */
const LATER_MS = 1000;

const GONE =
  'a model has no version that is available any more: its requests get 404, and /ping 503. Put its version directories back, or start again.';
const NO_THREAD =
  'the model server had no thread for a call, which waits and goes before all that came later. Give --grpc_max_threads more, or SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT fewer.';

/**
 * Starts every instance; returns at once, {@link ModelServer.pool} tells when they are ready.
 * @throws StartError PORT_REFUSED if another program has one of its ports
 */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const { environment, variables, log } = options;
  const endpoints = modelServerEndpoints(environment, process.pid);
  await checkPorts(endpoints);
  const files = await writeModelServerFiles(environment, options.models);
  const serving = nothingServed();
  const { failed, fail } = laterFailure();
  const failStart = (message: string) => fail(new StartError('MODEL_SERVER_FAILED', message));
  const pool = poolOf(environment, endpoints, log, options.models, failStart, {
    knowsCause: () => !serving.isLoading && serving.restorer?.isBusy !== true,
    onReady: (index) => supervisor.serves(index),
    onStuck: (index, reason) => {
      log.error({ instance: index }, `${reason} and is killed`);
      supervisor.kill(index);
    },
    restore: async (instance, index) => serving.restorer?.restore(instance, index),
  });
  const flagsOf = (endpoint: ModelServerEndpoint) => modelServerFlags(environment, files, endpoint);
  const instances = endpoints.map((endpoint) => ({ endpoint, flags: flagsOf(endpoint) }));
  const env = variablesOf(environment, variables);
  const supervisor: Supervisor = new Supervisor({
    instances,
    env,
    log,
    leastLevel: Number(variables.TF_CPP_MIN_LOG_LEVEL) || 0,
    hasServed: (index) => pool.instances[index]?.hasServed === true,
    onEnd: (index, reason, end) => {
      serving.ended ??= end;
      if (end) {
        pool.ended(index, end);
        options.onEnd?.(index, end);
      }
      pool.instances[index]?.readiness.lost(reason);
    },
    onStartFailure: fail,
  });
  supervisor.start();
  pool.start(START_MS);
  const ending = new AbortController();
  void warnOfRelease({ pool, env, flags: instances[0]?.flags ?? [], log, signal: ending.signal });
  const restart = (index: number) => supervisor.kill(index);
  return {
    pool,
    failed,
    async serve(models) {
      const { changeModels } = await import('./change-models.ts');
      const { basePaths } = files;
      const deadlineMs = environment.limits.waitMs;
      const processes = { pool, basePaths, deadlineMs, restart, log, restores: options.restores };
      await changeModels(serving, processes, models);
    },
    stop: (mostMs = GRACE_MS) => {
      ending.abort();
      return stopModelServer(pool, supervisor, files, Math.min(mostMs, GRACE_MS));
    },
  };
}

function nothingServed(): Serving {
  return { served: [], wanted: [], ended: undefined, isLoading: false, restorer: undefined };
}

/** @throws StartError PORT_REFUSED */
async function checkPorts(endpoints: readonly ModelServerEndpoint[]): Promise<void> {
  for (const endpoint of endpoints) {
    checkSocketPath(endpoint);
    const problem = await portProblem(endpoint);
    if (problem) throw problem;
  }
}

/** All of its lines are read, whichever are logged. */
function variablesOf(environment: Environment, variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = { ...tensorFlowVariables(environment, variables), TF_CPP_MIN_LOG_LEVEL: '0' };
  return { ...variables, ...own };
}

/** Reaches the model server that another process of this container has started and watches over. */
export function connectModelServer({ environment, models, log }: PoolOptions): ModelServer {
  const pool = poolOf(
    environment,
    modelServerEndpoints(environment, process.ppid),
    log,
    models,
    () => undefined,
    { knowsCause: () => true },
  );
  pool.start(0);
  return {
    pool,
    failed: new Promise(() => undefined),
    async serve() {
      throw new Error('the models of a shared model server do not change');
    },
    stop: async () => pool.close(),
  };
}

function poolOf(
  environment: Environment,
  endpoints: readonly ModelServerEndpoint[],
  log: Logger,
  served: readonly ServedModel[],
  onLoadFailure: (message: string) => void,
  watch?: Pick<InstancePoolOptions, 'knowsCause' | 'onReady' | 'onStuck' | 'restore'>,
): InstancePool {
  const quietly = nowAndThen();
  return new InstancePool({
    endpoints,
    models: served.map(({ name }) => name),
    maxReplyBytes: environment.limits.maxResponseBytes,
    maxInFlight: Math.max(1, Math.floor(environment.modelServer.inFlight / environment.processes)),
    stuckMs: environment.modelServer.silenceMs,
    onReady: watch?.onReady,
    onStuck: watch?.onStuck,
    restore: watch?.restore,
    knowsCause: watch?.knowsCause,
    onRefused: (instance, most) => quietly(() => log.warn({ instance, most }, NO_THREAD)),
    onGone: (reason) => log.error({ reason }, GONE),
    waitMs: environment.limits.waitMs,
    onLoadFailure,
  });
}

/** Warns of flags that this release ignores, when the model has been ready for a while. Does not reject. */
async function warnOfRelease({
  pool,
  env,
  flags,
  log,
  signal,
}: {
  pool: InstancePool;
  env: NodeJS.ProcessEnv;
  flags: readonly string[];
  log: Logger;
  signal: AbortSignal;
}): Promise<void> {
  try {
    await pool.firstReady;
    await delay(LATER_MS, undefined, { signal, ref: false });
    const { askVersion, ignoredFlags } = await import('./release.ts');
    for (const warning of ignoredFlags(await askVersion(env, signal), flags)) log.warn(warning);
  } catch (error) {
    if (!signal.aborted) log.debug({ err: error }, 'the model server does not tell its version');
  }
}

async function stopModelServer(
  pool: InstancePool,
  supervisor: Supervisor,
  files: ModelServerFiles,
  graceMs: number,
): Promise<void> {
  pool.close();
  await supervisor.stop(graceMs);
  await files.remove();
}
