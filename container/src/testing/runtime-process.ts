/** The runtime as SageMaker runs it: a process of its own, configured by its environment. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bundledProgram } from '../../../test/bundled-program.ts';
import { MODEL_SERVER_BIN } from './model-server-bin.ts';
import { freePorts } from './ports.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** A started runtime. */
export interface RuntimeProcess {
  readonly url: string;
  readonly pid: number;
  /** Everything it wrote so far. */
  output(): string;
  /** Lines of its log, parsed. */
  log(): Record<string, unknown>[];
  /** Resolves when `GET /ping` answers 200. */
  ready(): Promise<void>;
  /** Sends a signal and returns the exit status, or the name of the signal that ended it. */
  end(signal?: NodeJS.Signals): Promise<number | string>;
  /** Exit status once it has ended by itself. */
  readonly exit: Promise<number | string>;
}

/**
 * Starts the bundled runtime with the local model server as `tensorflow_model_server`, or the one under test.
 * @param variables added to the environment; `undefined` removes one
 */
export async function startRuntimeProcess(
  variables: Record<string, string | undefined>,
): Promise<RuntimeProcess> {
  const port = await freePorts(1);
  const instances = Number(variables.SAGEMAKER_TFS_INSTANCE_COUNT ?? 1);
  const low = await freePorts(2 * instances);
  const env = {
    ...process.env,
    PATH: `${MODEL_SERVER_BIN}:${process.env.PATH}`,
    SAGEMAKER_BIND_TO_PORT: String(port),
    SAGEMAKER_SAFE_PORT_RANGE: `${low}-${low + 2 * instances - 1}`,
    ...variables,
  };
  const child = spawn(process.execPath, [bundledProgram('container')], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk;
    });
  }
  const exit = once(child, 'close').then(
    ([status, signal]) => (status ?? signal) as number | string,
  );
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    pid: child.pid as number,
    output: () => text,
    log: () => parsedLines(text),
    ready: () => untilReady(url, exit, () => text),
    end(signal = 'SIGTERM') {
      child.kill(signal);
      return exit;
    },
    exit,
  };
}

/** Polls until a condition holds; jest's own time limit ends a wait that never does. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(50);
}

/** Whether there is a process of this id. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function untilReady(
  url: string,
  exit: Promise<unknown>,
  output: () => string,
): Promise<void> {
  let ended = false;
  void exit.then(() => {
    ended = true;
  });
  await until(async () => {
    if (ended) throw new Error(`the runtime ended:\n${output()}`);
    return fetch(`${url}/ping`).then(
      ({ status }) => status === 200,
      () => false,
    );
  });
}

function parsedLines(text: string): Record<string, unknown>[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    return [JSON.parse(line) as Record<string, unknown>];
  });
}
