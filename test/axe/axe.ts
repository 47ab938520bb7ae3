/** A local batch job that is killed (SIGKILL) at random moments and started again, compared with one that is not. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { uniform } from 'sagemaker-tfs/development/random';

/** What is to be done. */
interface AxeOptions {
  /** A runtime that is serving. */
  readonly url: string;
  /** The inputs. */
  readonly directory: string;
  readonly contentType: string;
  readonly kills: number;
  /** Of the moments; the same again kills after the same numbers of outputs. */
  readonly seed: number;
  readonly onKill?: (kill: number, outputs: number) => void;
}

/** What was found. */
export interface AxeReport {
  readonly inputs: number;
  /** Jobs that were killed before their end. */
  readonly killed: number;
  /** Outputs that differ from those of the undisturbed job, or that only one of the two has. */
  readonly different: readonly string[];
  /** Files that the killed jobs left: in the temporary directory, and among the outputs. */
  readonly left: readonly string[];
}

/** From the root of the repository, where npm and jest run. */
const PROGRAM = resolve('cli/bin/sagemaker-tfs.js');

/** Runs both jobs. Everything but the inputs is in a temporary directory, which is removed. */
export async function axe(options: AxeOptions): Promise<AxeReport> {
  const work = await mkdtemp(join(tmpdir(), 'axe-'));
  const temporary = join(work, 'tmp');
  await mkdir(temporary);
  const start = (out: string) =>
    spawn(
      process.execPath,
      [
        ...[PROGRAM, 'batch', 'local', options.directory, '--out', out, '--url', options.url],
        ...['--content-type', options.contentType],
      ],
      { stdio: 'ignore', env: { ...process.env, TMPDIR: temporary } },
    );
  try {
    const whole = join(work, 'whole');
    const cut = join(work, 'cut');
    const [status] = (await once(start(whole), 'exit')) as [number | null];
    if (status !== 0) throw new Error(`the undisturbed job ended with status ${status}`);
    const inputs = (await readdir(options.directory)).length;
    const killed = await killAtRandom(options, inputs, cut, () => start(cut));
    const [last] = (await once(start(cut), 'exit')) as [number | null];
    if (last !== 0) throw new Error(`the last job ended with status ${last}`);
    return {
      inputs,
      killed,
      different: await differences(whole, cut),
      left: [...(await filesIn(temporary)), ...(await filesIn(cut)).filter((name) => !isOwn(name))],
    };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function killAtRandom(
  { kills, seed, onKill }: AxeOptions,
  inputs: number,
  out: string,
  start: () => ReturnType<typeof spawn>,
): Promise<number> {
  const random = uniform(seed);
  const moments = Array.from({ length: kills }, () => Math.floor(random() * inputs));
  let killed = 0;
  for (const moment of moments.sort((a, b) => a - b)) {
    const job = start();
    const ended = once(job, 'exit');
    try {
      while ((await outputsIn(out)) < moment && job.exitCode === null) await sleep(2);
      // Some milliseconds more, so that not every kill comes right behind a rename.
      await sleep(random() * 10);
    } finally {
      job.kill('SIGKILL');
    }
    const [, signal] = (await ended) as [number | null, string | null];
    if (signal === 'SIGKILL') killed++;
    onKill?.(killed, await outputsIn(out));
  }
  return killed;
}

const isOutput = (name: string) => name.endsWith('.out');
/** What a finished job leaves among the outputs. */
const isOwn = (name: string) => isOutput(name) || name === '.origin.json' || name === '.inputs';

async function filesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}

async function outputsIn(directory: string): Promise<number> {
  return (await filesIn(directory)).filter(isOutput).length;
}

async function differences(a: string, b: string): Promise<string[]> {
  const names = new Set([...(await filesIn(a)), ...(await filesIn(b))].filter(isOutput));
  const read = (directory: string, name: string) =>
    readFile(join(directory, name)).catch(() => undefined);
  const different: string[] = [];
  for (const name of names) {
    const [one, other] = [await read(a, name), await read(b, name)];
    if (!one || !other || !one.equals(other)) different.push(name);
  }
  return different;
}
