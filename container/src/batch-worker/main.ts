/**
 * `batch-worker`: the image as a worker that reads inputs from S3 and writes packed answers there, with no HTTP between.
 * The process that is started supervises another one, which works.
 */

import { randomUUID } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import { BatchError, modelDigest } from '@sagemaker-tfs/batch';
import type { Logger } from 'pino';
import type { Environment } from '../environment.ts';
import type { Services } from '../http/services.ts';
import { LAST_WORDS } from '../last-words.ts';
import { createLog } from '../observability/log.ts';
import { ModelGone, rowMaker } from './answer.ts';
import { ask } from './ask.ts';
import { cautionOf } from './caution.ts';
import { noticeTeller, publishToTopic } from './notices.ts';
import { readOptions, type WorkerOptions } from './options.ts';
import { s3Client, storeBelow } from './store.ts';
import { MODEL_GONE, onStopSignals, POISON, supervise } from './supervise.ts';
import { type WorkerContext, work } from './worker.ts';

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
    process.stderr.write(`${LAST_WORDS}${message}\n`);
    tell('error', { code: error instanceof BatchError ? error.code : name, message });
    process.exitCode =
      error instanceof ModelGone ? MODEL_GONE : error instanceof BatchError ? error.exitStatus : 1;
  }
}

async function workHere(
  options: WorkerOptions,
  environment: Environment,
  warnings: readonly string[],
): Promise<number> {
  let stopping = false;
  onStopSignals(() => {
    stopping = true;
  });
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
    const report = await Promise.race([
      runtime.failed,
      work({
        ...(await modelWork({ options, environment, s3, services: runtime.services, log })),
        stopped: () => stopping,
        onProgress: throttled((progress) => tell('progress', progress)),
      }),
    ]);
    tell('report', report);
    return report.done === report.ranges ? 0 : 1;
  } finally {
    s3.destroy();
    await runtime.close(0);
  }
}

/** What the worker does with this process's model. */
async function modelWork({
  options,
  environment: { modelDir, limits },
  s3,
  services,
  log,
}: {
  readonly options: WorkerOptions;
  readonly environment: Environment;
  readonly s3: S3Client;
  readonly services: Services;
  readonly log: Logger;
}): Promise<Omit<WorkerContext, 'stopped' | 'onProgress'>> {
  const store = storeBelow(s3, options.outputUri, randomUUID());
  const caution = cautionOf(options);
  const poison = new Set(JSON.parse(process.env[POISON] ?? '[]') as string[]);
  let tried = 0;
  return {
    options,
    s3,
    store,
    onRangeDone: noticeTeller(store, options, {
      publish: publishToTopic,
      onFailure: (error) => log.warn(`a notice was not sent: ${(error as Error).message}`),
    }),
    model: await modelDigest(modelDir),
    maxHeldBytes: limits.maxHeldBytes,
    reads: () => (caution.isOn() ? 1 : options.reads),
    rowMaker: ({ bucket, root }, hold) =>
      rowMaker({
        ...{ s3, bucket, root, poison, hold },
        inFlight: options.inFlight,
        maxBytes: limits.maxRequestBytes,
        caution,
        ask: (body) => ask(services, body, options, `worker-${++tried}`),
      }),
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
