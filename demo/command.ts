/** The demo's own use of the built command, `cli/bin/sagemaker-tfs.js`. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { execa, type Options } from 'execa';
import { freePort } from 'sagemaker-tfs/development/serving';
import type * as z from 'zod';

const BIN = join(import.meta.dirname, '..', 'cli', 'bin', 'sagemaker-tfs.js');
/** Milliseconds that an interrupted command has to clean up. */
const STOP_MS = 30_000;

function options(signal: AbortSignal) {
  return {
    cancelSignal: signal,
    forceKillAfterDelay: STOP_MS,
    // As under npm: the command ends when its parent does, however that ended.
    env: { npm_lifecycle_event: 'demo' },
  } as const satisfies Options;
}

/**
 * Runs a verb with `--json`; its progress goes to this process's stderr.
 * @returns what it printed, checked by `schema`
 * @throws Error with the command's own message
 */
export async function runCommand<T>(
  args: readonly string[],
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T> {
  const { exitCode, stdout } = await execa(process.execPath, [BIN, ...args, '--json'], {
    ...options(signal),
    stderr: 'inherit',
    reject: false,
  });
  signal.throwIfAborted();
  if (exitCode !== 0) throw new Error(`sagemaker-tfs ${args[0]} ended with status ${exitCode}`);
  return schema.parse(JSON.parse(stdout));
}

/** A `serve` that answers. */
export interface Serving {
  readonly url: string;
  /** What stands behind the runtime. */
  readonly modelServer: string;
  /** Milliseconds from the start of the command, unpacking included. */
  readonly startMilliseconds: number;
  stop(): Promise<void>;
}

/**
 * `serve` of an archive, without the playground.
 * @param log file of what the command and the runtime print
 */
export async function serve(archive: string, log: string, signal: AbortSignal): Promise<Serving> {
  const from = performance.now();
  const args = [BIN, 'serve', archive, '--no-playground', '--port', String(await freePort())];
  const child = execa(process.execPath, args, {
    ...options(signal),
    buffer: false,
    stdout: 'pipe',
    stderr: 'pipe',
    reject: false,
  });
  const file = createWriteStream(log);
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  const stop = async () => {
    child.kill('SIGTERM');
    await child;
    file.end();
  };
  const served = new Promise<RegExpExecArray>((resolve) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const line = /Serving on (\S+) with (\S+)/.exec(text);
      if (line) resolve(line);
    });
  });
  const ended = child.then(({ exitCode }) => {
    signal.throwIfAborted();
    throw new Error(`sagemaker-tfs serve ended with status ${exitCode}; ${log} says why`);
  });
  // Its end after `stop` is no failure.
  ended.catch(() => undefined);
  const [, url = '', modelServer = ''] = await Promise.race([served, ended]);
  return { url, modelServer, startMilliseconds: performance.now() - from, stop };
}
