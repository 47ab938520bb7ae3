/** What `serve` keeps running: the runtime, the page before it, and how both are replaced by newer ones. */

import type { OpenOptions } from '@sagemaker-tfs/model-packaging';
import { type ModelRoot, prepareModelRoot } from '../serving/model-root.ts';
import {
  type RunningRuntime,
  type RuntimeOptions,
  startRuntime,
} from '../serving/runtime-process.ts';
import { shownName } from '../serving/shown-name.ts';
import type { Exchange } from './exchange.ts';
import type { Behind, Front } from './front.ts';

/** What to serve, and how. */
export interface SessionOptions {
  /** Model directory, archive or URI. */
  readonly source: string;
  readonly handler: string | undefined;
  readonly port: number;
  /** Address to listen on. */
  readonly host: string;
  readonly environment: Readonly<Record<string, string>>;
  /** False: the runtime listens on the port itself, without a page and without a view of requests. */
  readonly playground: boolean;
  readonly log: RuntimeOptions['log'];
  readonly signal: AbortSignal;
  readonly onExchange?: (exchange: Exchange) => void;
  /** Called when something begins that may take minutes, such as a conversion. */
  readonly onStep?: OpenOptions['onStep'];
}

/** A model that is being served. */
export interface ServeSession {
  readonly url: string;
  /** The one that answers at the moment. */
  runtime(): RunningRuntime;
  /** Where its model is laid out. */
  directory(): string;
  /**
   * One at a time. Lays the source out again and puts a new runtime in place of the old one, which answers until then and stays
   * where that fails. Without a page both need the same port: the old one ends first, and starts again if the new one fails.
   * @param superseded ends it, as a newer one is to come
   * @throws what packaging or the start of the runtime throw, and the signal's reason
   */
  reload(superseded: AbortSignal): Promise<void>;
  /** Resolves with the exit status of a runtime that ended by itself. */
  readonly ended: Promise<number>;
  /** Ends everything and removes what was made. */
  close(): Promise<void>;
}

/** One runtime with the files that it serves. */
interface Serving {
  readonly root: ModelRoot;
  readonly runtime: RunningRuntime;
  readonly behind: Behind | undefined;
}

/** Starts to serve. @throws what packaging, the start of the runtime and listening throw */
export async function startSession(options: SessionOptions): Promise<ServeSession> {
  let current = await startServing(options);
  let reloading: Promise<void> = Promise.resolve();
  let retired: Promise<unknown> = Promise.resolve();
  let front: Front | undefined;
  const exits = followExits();
  const reload = async (superseded: AbortSignal) => {
    const signal = AbortSignal.any([options.signal, superseded]);
    const root = await layOut({ ...options, signal });
    const old = current;
    if (!options.playground) {
      // Only one runtime can have the port.
      exits.follow(undefined);
      await old.runtime.stop();
    }
    try {
      current = await serveRoot({ ...options, signal }, root);
    } catch (error) {
      await root.cleanUp();
      if (!options.playground) current = await startAgain(options, old, exits);
      throw error;
    }
    exits.follow(current.runtime);
    // It finishes what it has in flight while the new one answers.
    retired = Promise.all([retired, end(old)]);
  };
  exits.follow(current.runtime);
  try {
    front = options.playground ? await listen(options, () => current.behind as Behind) : undefined;
  } catch (error) {
    await end(current);
    throw error;
  }
  return {
    url: front?.url ?? current.runtime.url,
    runtime: () => current.runtime,
    directory: () => current.root.directory,
    ended: exits.ended,
    reload(superseded) {
      const done = reload(superseded);
      reloading = done.catch(() => undefined);
      return done;
    },
    async close() {
      // What starts meanwhile is there before it can be ended.
      await reloading;
      exits.follow(undefined);
      await front?.close();
      await Promise.all([retired, end(current)]);
    },
  };
}

/** Starts what was served before. */
async function startAgain(
  options: SessionOptions,
  old: Serving,
  { follow, onEnded }: ReturnType<typeof followExits>,
): Promise<Serving> {
  if (options.signal.aborted) return old;
  try {
    const again = await serveRoot(options, old.root);
    follow(again.runtime);
    return again;
  } catch {
    // Whoever reloads gets the error of the new one.
    onEnded(1);
    return old;
  }
}

async function end({ runtime, root }: Serving): Promise<void> {
  await runtime.stop();
  await root.cleanUp();
}

/** The end of the runtime that is followed at the moment, if it ends by itself. */
function followExits() {
  let followed: RunningRuntime | undefined;
  let onEnded: (status: number) => void = () => undefined;
  const ended = new Promise<number>((resolve) => {
    onEnded = resolve;
  });
  const follow = (runtime: RunningRuntime | undefined) => {
    followed = runtime;
    runtime?.exited.then((status) => {
      if (followed === runtime) onEnded(status);
    });
  };
  return { ended, follow, onEnded };
}

async function listen(options: SessionOptions, behind: () => Behind): Promise<Front> {
  const { startFront } = await import('./front.ts');
  const { readPage } = await import('./page.ts');
  const { port, host, onExchange } = options;
  const page = await readPage();
  return startFront({ port, host, page, behind, ...(onExchange && { onExchange }) });
}

function layOut({ source, handler, signal, onStep }: SessionOptions): Promise<ModelRoot> {
  return prepareModelRoot(source, handler, { signal, onStep });
}

async function startServing(options: SessionOptions): Promise<Serving> {
  const root = await layOut(options);
  try {
    return await serveRoot(options, root);
  } catch (error) {
    await root.cleanUp();
    throw error;
  }
}

/** Starts a runtime for what is laid out. */
async function serveRoot(options: SessionOptions, root: ModelRoot): Promise<Serving> {
  const { source, signal, playground } = options;
  const runtime = await startRuntime({
    modelDirectory: root.directory,
    source,
    environment: {
      ...options.environment,
      SAGEMAKER_TFS_BIND_ADDRESS: playground ? '127.0.0.1' : options.host,
    },
    log: options.log,
    signal,
    ...(!playground && { port: options.port }),
  });
  try {
    const behind = playground ? await describe(options, root.directory, runtime.url) : undefined;
    return { root, runtime, behind };
  } catch (error) {
    await runtime.stop();
    throw error;
  }
}

async function describe(
  { source, handler, environment }: SessionOptions,
  directory: string,
  url: string,
): Promise<Behind> {
  const { describePlayground } = await import('./describe.ts');
  const { findSamples } = await import('./samples.ts');
  const { openApiOfSource } = await import('@sagemaker-tfs/model-packaging');
  const { switchedTensors } = await import('./switched.ts');
  const { readEnvironment } = await import('@sagemaker-tfs/container/environment');
  const { decode } = readEnvironment({ ...process.env, ...environment }).environment.limits;
  const samples = await findSamples(source, handler);
  return {
    url,
    samples,
    description: await describePlayground(directory, source, samples),
    openApi: () => openApiOfSource(directory, { url: '/', title: shownName(source) }),
    switchedTensors: (picture) => switchedTensors(directory, picture, decode),
  };
}
