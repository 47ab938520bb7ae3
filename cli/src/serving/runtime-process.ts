/** The serving runtime as a child process: started, awaited until healthy, ended without leftovers. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopbackName } from '@sagemaker-tfs/container/foreign-pages';
import { LAST_WORDS } from '@sagemaker-tfs/container/last-words';
import { removeAbandoned } from '@sagemaker-tfs/container/private-directory';
import { startWatchdog } from '@sagemaker-tfs/container/watchdog';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { CommandError } from '../errors.ts';
import { roomDirectory } from '../files.ts';
import { freePort, freePortRange } from './free-port.ts';
import {
  chooseInProcess,
  chooseModelServer,
  type ModelServerChoice,
  portSettings,
} from './model-server.ts';
import { urlOf } from './url-of.ts';

/** What to start. */
export interface RuntimeOptions {
  /** Laid out as SageMaker lays out `/opt/ml/model`. */
  readonly modelDirectory: string;
  /** What people call the model in an error's message. Default: SageMaker's path. */
  readonly source?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Environment on top of this process's, for example `SAGEMAKER_TFS_BACKEND`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Where the runtime's log goes: a file, `inherit` for this process's stderr, or who takes its text. */
  readonly log: string | 'inherit' | ((text: string) => void);
  /** Seconds until `/ping` must answer 200. Default: 120. */
  readonly readyTimeoutSeconds?: number;
  readonly signal?: AbortSignal;
}

/** A runtime that answers `/ping` with 200. */
export interface RunningRuntime {
  /** For example `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly pid: number;
  readonly modelServer: ModelServerChoice;
  /** Milliseconds from start to the first healthy `/ping`. */
  readonly startMilliseconds: number;
  /** Resolves with the exit status when the runtime ends by itself or is stopped. */
  readonly exited: Promise<number>;
  /** Ends the runtime as SageMaker does: SIGTERM, then SIGKILL after 30 s. */
  stop(): Promise<void>;
}

/** Seconds that a runtime has to finish what is in flight. */
const STOP_SECONDS = 30;
/** Seconds that a runtime has to stop before it is ready: nothing is in flight, and its handler may never finish loading. */
const UNREADY_STOP_SECONDS = 1;
/** Milliseconds between two looks at `/ping`. */
const PING_EVERY = 25;
/** Two for each instance of the model server, and room for four of them. */
const MODEL_SERVER_PORTS = 8;
/** Characters of the log that an error message repeats. */
const LOG_TAIL = 8_000;

/** Starts where another program takes a port between the look for a free one and the start. */
const MAX_STARTS = 3;

/**
 * Starts the runtime and waits until it is healthy.
 * @throws CommandError RUNTIME_FAILED with the runtime's own last words, RUNTIME_NOT_READY with the reason of `/ping`
 */
export async function startRuntime(options: RuntimeOptions): Promise<RunningRuntime> {
  for (let starts = 1; ; starts++) {
    try {
      return await startOnce(options);
    } catch (error) {
      if (starts === MAX_STARTS || !hasLostPort(error, options.port)) throw error;
    }
  }
}

/** Whether a port that was chosen here, not the caller's own, was taken before the runtime listened on it. */
function hasLostPort(error: unknown, own: number | undefined): boolean {
  if (!(error instanceof CommandError) || process.env.SAGEMAKER_SAFE_PORT_RANGE) return false;
  const [, taken] = /\bport (\d+) of \S+ is in use /.exec(error.message) ?? [];
  return taken !== undefined && Number(taken) !== own;
}

async function startOnce(options: RuntimeOptions): Promise<RunningRuntime> {
  const backend = options.environment?.SAGEMAKER_TFS_BACKEND ?? process.env.SAGEMAKER_TFS_BACKEND;
  const modelServer = await (backend === 'in-process'
    ? chooseInProcess(options.signal)
    : chooseModelServer(undefined, options.signal));
  const address = options.environment?.SAGEMAKER_TFS_BIND_ADDRESS ?? '127.0.0.1';
  const port = options.port ?? (await freePort());
  const safePorts = process.env.SAGEMAKER_SAFE_PORT_RANGE ?? (await modelServerPorts(port));
  const started = performance.now();
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', join(roomDirectory('container'), 'dist', 'main.js')],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        // Whoever asks here is who writes the handler.
        SAGEMAKER_TFS_HANDLER_ERRORS: 'place',
        ...portSettings(modelServer, { ...process.env, ...options.environment }),
        ...process.env,
        ...modelServer.environment,
        PATH: modelServer.path,
        SAGEMAKER_BIND_TO_PORT: String(port),
        SAGEMAKER_SAFE_PORT_RANGE: safePorts,
        SAGEMAKER_TFS_MODEL_DIR: options.modelDirectory,
        // Nobody else's machine; the container's own default is any address, as SageMaker needs.
        SAGEMAKER_TFS_BIND_ADDRESS: address,
        // Nor a page that a browser on this machine shows; a machine that is open to others has names of its own.
        SAGEMAKER_TFS_FOREIGN_PAGES: isLoopbackName(address) ? 'refuse' : 'allow',
        ...options.environment,
      },
    },
  );
  const tail = keepLog(child, options);
  const stop = (seconds = STOP_SECONDS) => end(child, seconds);
  const killWithUs = () => child.kill('SIGTERM');
  process.once('exit', killWithUs);
  const watchdog = startWatchdog(String(child.pid), 'TERM');
  const exited = once(child, 'exit').then(([status]) => {
    process.removeListener('exit', killWithUs);
    watchdog.kill('SIGKILL');
    return Number(status ?? 1);
  });
  const url = urlOf(address, port);
  try {
    await healthy(url, exited, tail, options);
  } catch (error) {
    await stop(UNREADY_STOP_SECONDS);
    throw error;
  }
  const startMilliseconds = performance.now() - started;
  return {
    url,
    pid: child.pid as number,
    modelServer,
    startMilliseconds,
    exited,
    stop: () => stop(),
  };
}

/** Ports for several instances of the model server that no other program on this machine has, nor the runtime itself. */
async function modelServerPorts(runtimePort: number): Promise<string> {
  const first = await freePortRange(MODEL_SERVER_PORTS, runtimePort);
  return `${first}-${first + MODEL_SERVER_PORTS - 1}`;
}

/** Where SageMaker unpacks a model: what the log calls the folder that is laid out here for a while. */
const CONTAINER_MODEL = '/opt/ml/model';
/** Its own path and what lies below it. */
const CONTAINER_PATHS = /\/opt\/ml\/model(?![\w-])/g;

/**
 * Sends the child's output where it belongs, by lines and with the container's paths, and remembers its end for
 * messages.
 */
function keepLog(child: ChildProcess, { log, modelDirectory }: RuntimeOptions): () => string {
  const { take, done } = takerOf(log);
  child.once('close', done);
  let tail = '';
  for (const input of [child.stdout, child.stderr]) {
    if (!input) continue;
    createInterface({ input }).on('line', (line) => {
      const text = `${line.replaceAll(modelDirectory, CONTAINER_MODEL)}\n`;
      tail = (tail + text).slice(-LOG_TAIL);
      take(text);
    });
  }
  return () => tail.trim();
}

function takerOf(log: RuntimeOptions['log']): { take: (text: string) => void; done: () => void } {
  const nothing = () => undefined;
  if (typeof log === 'function') return { take: log, done: nothing };
  if (log === 'inherit') return { take: (text) => process.stderr.write(text), done: nothing };
  const file = createWriteStream(log);
  // A full disk costs the log, and not what is served.
  file.on('error', nothing);
  return { take: (text) => file.write(text), done: () => file.end() };
}

async function healthy(
  url: string,
  exited: Promise<number>,
  tail: () => string,
  options: RuntimeOptions,
): Promise<void> {
  const seconds = options.readyTimeoutSeconds ?? 120;
  const deadline = Date.now() + seconds * 1_000;
  let status: number | undefined;
  exited.then((value) => {
    status = value;
  });
  let reason = 'it does not listen yet';
  while (Date.now() < deadline) {
    options.signal?.throwIfAborted();
    if (status !== undefined) throw runtimeFailed(status, tail(), options.source);
    const answer = await ping(url, options.signal);
    if (answer === 'healthy') return;
    reason = answer ?? reason;
    await sleep(PING_EVERY);
  }
  throw new CommandError(
    'RUNTIME_NOT_READY',
    `the runtime was not ready after ${seconds} s: ${sentence(reason)} See its log, or give the model more time.`,
  );
}

/** The runtime's own one-line reason where it gave one, else the end of its log. */
function runtimeFailed(status: number, log: string, source = CONTAINER_MODEL): CommandError {
  const reason = log.split('\n').findLast((line) => line.startsWith(LAST_WORDS));
  const why = reason ? `It says: ${reason.slice(LAST_WORDS.length)}` : `Its log ends with:\n${log}`;
  return new CommandError(
    'RUNTIME_FAILED',
    `the serving runtime ended with status ${status}. ${why.replace(CONTAINER_PATHS, () => source)}`,
  );
}

/** `healthy`, the reason why not, or undefined if nothing answers. */
async function ping(url: string, stop?: AbortSignal): Promise<string | undefined> {
  const signal = AbortSignal.any([AbortSignal.timeout(2_000), ...(stop ? [stop] : [])]);
  try {
    const response = await fetch(`${url}/ping`, { signal });
    const text = await response.text();
    return response.ok ? 'healthy' : text;
  } catch {
    return undefined;
  }
}

async function end(child: ChildProcess, seconds: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), seconds * 1_000);
  await gone;
  clearTimeout(force);
  // One that was killed removes nothing itself.
  if (child.signalCode !== null) await removeAbandoned();
}
