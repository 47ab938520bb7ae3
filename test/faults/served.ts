/** The built runtime as a process of its own, with what the faults need: its processes, its log, its memory. */
import type { ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chooseModelServer, freePort, freePortRange } from 'sagemaker-tfs/development/serving';
import { answering, endChild, startChild } from '../../tools/children.ts';
import { commandOf, processTree, residentBytes } from '../../tools/process-stats.ts';

/** Where the tensors are computed. */
export type Backend = 'grpc' | 'rest' | 'in-process';

/** What to start. */
interface ServedOptions {
  readonly modelDirectory: string;
  readonly backend: Backend;
  readonly environment?: Readonly<Record<string, string>>;
  /** Searched for programs before all else. */
  readonly programs?: string;
  /** File descriptors that a process may have. Default: this process's own limit. */
  readonly descriptors?: number;
}

/** A runtime that serves. */
export interface Served {
  readonly url: string;
  readonly port: number;
  /** Those of the model server, or of the workers, that are there now. */
  pids(kind: 'model server' | 'worker'): number[];
  /** Of all its processes, now. */
  memoryBytes(): number;
  /** File descriptors of all its processes, now. */
  descriptors(): number;
  /** Lines of its log, parsed. */
  log(): Record<string, unknown>[];
  /** Kills all its processes, as a container's are when its first one ends, and starts another. */
  replace(): Promise<void>;
  stop(): Promise<void>;
}

const PROGRAM = resolve('container/dist/main.js');
/** Characters of the log that are kept. */
const LOG_LENGTH = 4_000_000;
const END_LIMIT_MS = 10_000;

/** Starts a runtime and waits until it is healthy. */
export async function startServed(options: ServedOptions): Promise<Served> {
  const { backend, modelDirectory, environment, programs, descriptors } = options;
  const { path, environment: library } = await chooseModelServer();
  const port = await freePort();
  const low = await freePortRange(2);
  const env = {
    ...process.env,
    ...library,
    PATH: programs ? `${programs}:${path}` : path,
    SAGEMAKER_BIND_TO_PORT: String(port),
    SAGEMAKER_TFS_BIND_ADDRESS: '127.0.0.1',
    SAGEMAKER_SAFE_PORT_RANGE: `${low}-${low + 1}`,
    SAGEMAKER_TFS_BACKEND: backend,
    SAGEMAKER_TFS_MODEL_DIR: modelDirectory,
    SAGEMAKER_TFS_LOG_LEVEL: 'warn',
    ...environment,
  };
  const limit = descriptors ? `ulimit -n ${descriptors}; ` : '';
  let text = '';
  const url = `http://127.0.0.1:${port}`;
  const start = async (): Promise<ChildProcess> => {
    const command = ['-c', `${limit}exec "$0" "$1"`, process.execPath, PROGRAM];
    const started = startChild('/bin/sh', command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [started.stdout, started.stderr]) {
      stream?.setEncoding('utf8').on('data', (piece: string) => {
        text = (text + piece).slice(-LOG_LENGTH);
      });
    }
    await answering(`${url}/ping`, started).catch((cause) => {
      const end = text.slice(-2000);
      throw new Error(`the runtime does not start; its log ends with:\n${end}`, { cause });
    });
    return started;
  };
  let child = await start();
  const tree = () => processTree(child.pid as number);
  return {
    url,
    port,
    pids: (kind) => tree().filter((pid, at) => at > 0 && kindOf(pid) === kind),
    memoryBytes: () => tree().reduce((sum, pid) => sum + residentOf(pid), 0),
    descriptors: () => tree().reduce((sum, pid) => sum + descriptorsOf(pid), 0),
    log: () => parsedLines(text),
    async replace() {
      const all = tree();
      for (const pid of all) process.kill(pid, 'SIGKILL');
      await ended(all);
      child = await start();
    },
    stop: () => endChild(child),
  };
}

/** Waits for their end. @throws Error if it does not come */
async function ended(pids: readonly number[]): Promise<void> {
  const isThere = (pid: number) => commandOf(pid) !== '';
  for (const end = performance.now() + END_LIMIT_MS; pids.some(isThere); await sleep(20)) {
    if (performance.now() > end) throw new Error('a process outlives SIGKILL');
  }
}

/** The model server's program is named by its directory, a worker's is the runtime's own. */
function kindOf(pid: number): 'model server' | 'worker' | undefined {
  const command = commandOf(pid);
  if (command.includes(PROGRAM)) return 'worker';
  if (/^\S*node\S* .*tensorflow_model_server /.test(command)) return 'model server';
  return /^\S*tensorflow_model_server /.test(command) ? 'model server' : undefined;
}

function residentOf(pid: number): number {
  try {
    return residentBytes(pid);
  } catch {
    // It has ended.
    return 0;
  }
}

function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    // It has ended.
    return 0;
  }
}

function parsedLines(text: string): Record<string, unknown>[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [];
    } catch {
      // Cut at the beginning.
      return [];
    }
  });
}

/** Programs of the faults. */
export const PROXY_PROGRAM = join(import.meta.dirname, 'model-server-proxy.mjs');
