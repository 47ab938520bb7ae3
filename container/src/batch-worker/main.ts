/**
 * `batch-worker`: the image as a worker that reads inputs from S3 and writes packed answers there, with no HTTP between.
 * The process that is started only supervises: TensorFlow or a handler can end a process, and the next one goes on from
 * the last part. After such an end it asks about one object at a time and says which, until it is past the place; the
 * object that ends it again is not tried any more.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { BatchError, modelDigest } from '@sagemaker-tfs/batch';
import type { Environment } from '../environment.ts';
import { createLog } from '../observability/log.ts';
import { inProcessVariables } from '../processes/in-process-variables.ts';
import { ModelGone, rowMaker } from './answer.ts';
import { modelDirectoryAt } from './archive.ts';
import { ask } from './ask.ts';
import { readOptions, type WorkerOptions } from './options.ts';
import { s3Client, storeBelow } from './store.ts';
import { work } from './worker.ts';

/** JSON list of the keys that are not tried any more; there in the process that works. */
const POISON = 'BATCH_WORKER_POISON';
/** Set where the process before this one ended by itself. */
const CAUTIOUS = 'BATCH_WORKER_CAUTIOUS';
/** Status of a process whose model is gone. */
const MODEL_GONE = 70;
/** Ends of processes that the supervisor puts up with. */
const MOST_ENDS = 20;
const PROGRESS_EVERY = 5_000;

/** Ends the process with 0 where all is done, 1 where something is left, 2 for wrong arguments. */
export async function main(
  args: readonly string[],
  environment: Environment,
  warnings: readonly string[],
): Promise<void> {
  try {
    const options = readOptions(args, environment.batchTransform.maxConcurrent);
    if (process.env[POISON] === undefined) process.exitCode = await supervise(environment, options);
    else process.exitCode = await workHere(options, environment, warnings);
  } catch (error) {
    const { message, name } = error as Error;
    process.stderr.write(`sagemaker-tfs: ${message}\n`);
    tell('error', { code: error instanceof BatchError ? error.code : name, message });
    process.exitCode =
      error instanceof ModelGone ? MODEL_GONE : error instanceof BatchError ? error.exitStatus : 1;
  }
}

/** Runs a process that works, and another one after it where it ends by itself. @returns exit status */
async function supervise(environment: Environment, options: WorkerOptions): Promise<number> {
  const { modelPath } = options;
  const modelDir = modelPath === undefined ? undefined : await modelDirectoryAt(modelPath);
  const poison: string[] = [];
  let child: ChildProcess | undefined;
  let stopping = false;
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      stopping = true;
      child?.kill('SIGTERM');
    });
  }
  for (let ends = 0; ; ends++) {
    let key: string | undefined;
    child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: {
        ...process.env,
        ...inProcessVariables({ environment, variables: process.env }),
        ...(modelDir !== undefined && { SAGEMAKER_TFS_MODEL_DIR: modelDir }),
        [POISON]: JSON.stringify(poison),
        ...(ends > 0 && { [CAUTIOUS]: 'true' }),
      },
    });
    child.on('message', (message) => {
      key = message === '' ? undefined : String(message);
    });
    const [status, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (status !== null && status !== MODEL_GONE) return status;
    if (stopping) return 1;
    process.stderr.write(
      `sagemaker-tfs: the worker's process ended (${signal ?? 'its model is gone'})${key === undefined ? '' : ` at ${JSON.stringify(key)}`}.\n`,
    );
    if (key !== undefined) poison.push(key);
    if (ends >= MOST_ENDS) {
      process.stderr.write(
        `sagemaker-tfs: it ended ${ends + 1} times. What is written stays. Find the cause in the log.\n`,
      );
      return 1;
    }
  }
}

async function workHere(
  options: WorkerOptions,
  environment: Environment,
  warnings: readonly string[],
): Promise<number> {
  let stopping = false;
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      stopping = true;
    });
  }
  // The supervisor was killed: nobody would hear what is done here.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  const log = createLog(environment.logLevel);
  for (const warning of warnings) log.warn(warning);
  const { startRuntime } = await import('../runtime.ts');
  const runtime = await startRuntime({
    environment,
    variables: process.env,
    log,
    listens: false,
  });
  const s3 = s3Client(options.reads);
  try {
    await Promise.race([runtime.ready, runtime.failed]);
    const caution = cautionOf(options);
    let tried = 0;
    const report = await Promise.race([
      runtime.failed,
      work({
        options,
        s3,
        store: storeBelow(s3, options.outputUri, randomUUID()),
        model: await modelDigest(environment.modelDir),
        maxHeldBytes: environment.limits.maxHeldBytes,
        reads: () => (caution.isOn() ? 1 : options.reads),
        stopped: () => stopping,
        onProgress: throttled((progress) => tell('progress', progress)),
        rowMaker: (inputs, hold) =>
          rowMaker({
            s3,
            bucket: inputs.bucket,
            root: inputs.root,
            inFlight: options.inFlight,
            maxBytes: environment.limits.maxRequestBytes,
            poison: new Set(JSON.parse(process.env[POISON] ?? '[]') as string[]),
            isCautious: caution.isOn,
            hold,
            async ask(body, key) {
              await caution.at(key);
              return ask(runtime.services, body, options, `worker-${++tried}`).finally(() =>
                caution.past(),
              );
            },
          }),
      }),
    ]);
    tell('report', report);
    return report.done === report.ranges ? 0 : 1;
  } finally {
    s3.destroy();
    await runtime.close(0);
  }
}

/** While it is on, one object is under way at a time, and the supervisor knows which. */
function cautionOf({ partKeys, reads }: WorkerOptions) {
  // The object that ended the process before is at most so far behind the last part.
  let left = process.env[CAUTIOUS] === 'true' ? 2 * partKeys + reads : 0;
  const send = (key: string) =>
    new Promise<void>((resolve) => process.send?.(key, () => resolve()) ?? resolve());
  return {
    isOn: () => left > 0,
    async at(key: string): Promise<void> {
      if (left > 0) await send(key);
    },
    async past(): Promise<void> {
      if (left === 0) return;
      left--;
      await send('');
    },
  };
}

/** A line on standard output for who started the worker: `{"batchWorker": "progress" | "report" | "error", ...}`. */
function tell(batchWorker: 'progress' | 'report' | 'error', what: object): void {
  process.stdout.write(`${JSON.stringify({ batchWorker, ...what })}\n`);
}

function throttled<T>(call: (value: T) => void): (value: T) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (value) => {
    if (performance.now() - last < PROGRESS_EVERY) return;
    last = performance.now();
    call(value);
  };
}
