/** The image's batch worker as a process of this machine. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { BATCH_ERRORS, BatchError, type BatchErrorCode, textLines } from '@sagemaker-tfs/batch';
import { LAST_WORDS } from '@sagemaker-tfs/container/last-words';
import { startWatchdog } from '@sagemaker-tfs/container/watchdog';
import * as z from 'zod';
import { CommandError } from '../../errors.ts';
import { roomDirectory } from '../../files.ts';
import { printable } from '../../output/printable.ts';
import { freePortRange } from '../../serving/free-port.ts';
import { chooseInProcess, chooseModelServer } from '../../serving/model-server.ts';
import { acrossProcesses } from './across-processes.ts';

const number = z.number();
const reportSchema = z.object({
  answers: number,
  failures: number,
  gone: number,
  ranges: number,
  done: number,
  now: number,
  seconds: number,
});

/** What a worker did in all its processes, and what it found done. */
export type WorkerReport = z.output<typeof reportSchema>;

const lineSchema = z.union([
  reportSchema.extend({ batchWorker: z.enum(['progress', 'report']), pid: number }),
  z.object({ batchWorker: z.literal('error'), code: z.string(), message: z.string() }),
]);

/** The model that a worker asks. */
interface WorkerModel {
  /** Laid out as SageMaker lays out `/opt/ml/model`. */
  readonly directory: string;
  /** How it is reached. */
  readonly backend: string;
}

/** What to start. */
export interface WorkerProcess {
  /** Undefined for a worker that asks no model. */
  readonly model?: WorkerModel;
  /** Default: the one of the environment. */
  readonly region: string | undefined;
  /** Arguments behind `batch-worker`. */
  readonly args: readonly string[];
  readonly signal: AbortSignal;
  readonly onProgress: (report: WorkerReport) => void;
}

/** For a worker whose command was killed: it continues behind its last part in any case. */
const ORPHAN_SECONDS = 2;

/** Two for each instance of the model server, and room for four of them. */
const PORTS = 8;

/**
 * Runs a worker to its end. When the signal aborts, it writes what it has and ends.
 * @returns its report, also of a worker that ended early
 * @throws BatchError, CommandError WORKER_ENDED, the signal's reason
 */
export async function runWorker(options: WorkerProcess): Promise<WorkerReport> {
  const { model, region, args, signal } = options;
  const environment = model ? await environmentOf(model, signal) : {};
  const child = spawn(
    process.execPath,
    [
      ...['--enable-source-maps', join(roomDirectory('container'), 'dist', 'main.js')],
      ...['batch-worker', ...args],
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        SAGEMAKER_TFS_LOG_LEVEL: 'warn',
        ...process.env,
        ...environment,
        ...(region !== undefined && { AWS_REGION: region }),
        SAGEMAKER_BATCH: 'true',
      },
    },
  );
  const end = () => child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  // A killed command must not leave a worker that continues: it writes what it has at once, and ends.
  const watchdog = startWatchdog(String(child.pid), 'TERM', ORPHAN_SECONDS);
  try {
    return await reportOf(child, options);
  } finally {
    signal.removeEventListener('abort', end);
    process.removeListener('exit', kill);
    watchdog.kill('SIGKILL');
  }
}

async function environmentOf(
  { directory, backend }: WorkerModel,
  signal: AbortSignal,
): Promise<NodeJS.ProcessEnv> {
  const isInProcess = backend === 'in-process';
  const model = await (isInProcess
    ? chooseInProcess(signal)
    : chooseModelServer(undefined, signal));
  const first = await freePortRange(PORTS);
  const { SAGEMAKER_SAFE_PORT_RANGE = `${first}-${first + PORTS - 1}` } = process.env;
  return {
    SAGEMAKER_SAFE_PORT_RANGE,
    ...model.environment,
    SAGEMAKER_TFS_BACKEND: backend,
    PATH: model.path,
    SAGEMAKER_TFS_MODEL_DIR: directory,
  };
}

async function reportOf(
  child: ChildProcess,
  { signal, onProgress }: WorkerProcess,
): Promise<WorkerReport> {
  let report: WorkerReport | undefined;
  let error: { code: string; message: string } | undefined;
  const said: string[] = [];
  const inAll = acrossProcesses<WorkerReport & { readonly pid: number }>();
  const stdout = eachLine(child.stdout as Readable, (text) => {
    const line = parseLine(text);
    if (!line) process.stderr.write(`${printable(text)}\n`);
    else if (line.batchWorker === 'error') error = line;
    else {
      const { batchWorker, ...rest } = line;
      const all = inAll(rest);
      if (batchWorker === 'report') report = all;
      onProgress(all);
    }
  });
  const stderr = eachLine(child.stderr as Readable, (text) => {
    if (text.startsWith(LAST_WORDS)) said.push(text.slice(LAST_WORDS.length));
    else process.stderr.write(`${printable(text)}\n`);
  });
  const ended = once(child, 'close');
  await Promise.all([stdout, stderr]);
  const [status, killedBy] = (await ended) as [number | null, string | null];
  if (error && isBatchError(error.code)) throw new BatchError(error.code, error.message);
  if (report) return report;
  signal.throwIfAborted();
  throw new CommandError(
    'WORKER_ENDED',
    error?.message ??
      said.at(-1) ??
      `the worker ${killedBy ? `was killed by ${killedBy}` : `ended with status ${status}`}. Run it again.`,
  );
}

async function eachLine(output: Readable, take: (line: string) => void): Promise<void> {
  for await (const line of textLines(output)) take(line);
}

function parseLine(text: string): z.output<typeof lineSchema> | undefined {
  if (!text.startsWith('{"batchWorker"')) return undefined;
  try {
    return lineSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function isBatchError(code: string): code is BatchErrorCode {
  return Object.hasOwn(BATCH_ERRORS, code);
}
