/** Runs this package's Python scripts with the user's Python TensorFlow, else in TensorFlow's container. */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { aborted, PackagingError } from '../errors.ts';
import type { OpenOptions } from './open-options.ts';

/** The scripts in `python/`. */
type PythonScript = 'convert_keras.py' | 'wrap_image_input.py';

/** What a script works on. */
interface PythonWork extends OpenOptions {
  /** For messages: `converting model.keras`. */
  readonly purpose: string;
  /** Path of the file or directory that it reads. */
  readonly input: string;
  /** Path of the directory that it writes; its parent exists. */
  readonly output: string;
  /** A JSON argument. */
  readonly settings?: unknown;
}

/** TensorFlow's image for machines without Python TensorFlow. */
const IMAGE = 'tensorflow/tensorflow:2.21.0';

/**
 * Runs a script. Python is `python3`; where it has no TensorFlow and Docker is at hand (`CDK_DOCKER` names
 * another program), TensorFlow's image is used.
 * @throws PackagingError PYTHON_TENSORFLOW, CONVERSION_FAILED, ABORTED
 */
export async function runPython(script: PythonScript, work: PythonWork): Promise<void> {
  work.onStep?.(`${work.purpose} with Python TensorFlow`);
  const path = scriptFile(script);
  const settings = JSON.stringify(work.settings ?? {});
  const probe = await run('python3', ['-c', 'import tensorflow'], work.signal);
  if (probe.status === 0) {
    const args = [path, work.input, work.output, settings];
    return check(work, await run('python3', args, work.signal));
  }
  const docker = process.env.CDK_DOCKER ?? 'docker';
  if ((await run(docker, ['--version'], work.signal)).status !== 0) {
    throw missing(work, probe, `there is no ${docker} to run ${IMAGE}`);
  }
  const finished = await run(docker, containerArguments(path, work, settings), work.signal);
  if (NOT_STARTED.has(finished.status ?? 0)) {
    const why = wordsOf(docker, finished.stderr) || 'no message';
    throw missing(work, probe, `${docker} cannot run ${IMAGE} (${why})`);
  }
  check(work, finished);
}

/** Exit statuses of `docker run` where the command in the container has not run: Docker itself failed, or no such command. */
const NOT_STARTED = new Set([125, 126, 127]);

/** The line with which Docker says what is wrong; hints follow it. */
function wordsOf(docker: string, stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const own = lines.find((line) => line.startsWith(`${basename(docker)}: `)) ?? lines.at(-1) ?? '';
  return own
    .slice(own.startsWith(`${basename(docker)}: `) ? basename(docker).length + 2 : 0)
    .trim();
}

/** In the published package, and in this workspace. */
function scriptFile(script: PythonScript): string {
  const published = fileURLToPath(new URL(`../python/${script}`, import.meta.url));
  if (existsSync(published)) return published;
  return createRequire(import.meta.url).resolve(`@sagemaker-tfs/model-packaging/python/${script}`);
}

function containerArguments(script: string, work: PythonWork, settings: string): string[] {
  const input = `/input/${basename(work.input)}`;
  const output = `/output/${basename(work.output)}`;
  const user = process.getuid ? ['--user', `${process.getuid()}:${process.getgid?.() ?? 0}`] : [];
  const volumes = [
    `${dirname(script)}:/scripts:ro`,
    `${dirname(work.input)}:/input:ro`,
    `${dirname(work.output)}:/output`,
  ].flatMap((volume) => ['-v', volume]);
  const command = ['python3', `/scripts/${basename(script)}`, input, output, settings];
  return ['run', '--rm', ...user, ...volumes, IMAGE, ...command];
}

/** @param container why there is none that could do the work */
function missing(
  { purpose }: PythonWork,
  { stderr, status }: Finished,
  container: string,
): PackagingError {
  const why =
    status === undefined
      ? 'there is no python3'
      : `python3 cannot import it (${lastLine(stderr) || 'no message'})`;
  return new PackagingError(
    'PYTHON_TENSORFLOW',
    `${purpose} needs Python TensorFlow, but ${why}, and ${container}. Run 'python3 -m pip install tensorflow' in the environment that exported the model, or export a SavedModel there yourself: model.export('my_model/1').`,
  );
}

interface Finished {
  /** Undefined if the program could not be started. */
  readonly status: number | undefined;
  readonly stderr: string;
}

function run(command: string, args: readonly string[], signal?: AbortSignal): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '2' },
      ...(signal && { signal }),
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-20_000);
    });
    child.once('error', (error) => {
      if (!signal?.aborted) return resolve({ status: undefined, stderr: error.message });
      reject(aborted(error));
    });
    child.once('close', (status) => resolve({ status: status ?? 1, stderr }));
  });
}

/** @throws PackagingError CONVERSION_FAILED with the last line of Python's traceback */
function check({ purpose, output }: PythonWork, { status, stderr }: Finished): void {
  if (status === 0 && existsSync(output)) return;
  const last = lastLine(stderr);
  const words = stderr.trim().split('\n').slice(-15).join('\n');
  const whole = words.trim() === last ? '' : `\nPython said:\n${words}`;
  throw new PackagingError(
    'CONVERSION_FAILED',
    `${purpose} failed: ${sentence(last || `Python left with status ${status}`)} Try the same in Python.${whole}`,
  );
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}
