/**
 * `batch-worker`: the image as a worker that reads inputs from S3 and writes packed answers there, with no HTTP between.
 * The process that is started supervises another one, which works.
 */

import { randomUUID } from 'node:crypto';
import { BatchError, modelDigest, type PackFormat } from '@sagemaker-tfs/batch';
import { attempts, isPassing } from '@sagemaker-tfs/batch/s3';
import type { Logger } from 'pino';
import type { Environment } from '../environment.ts';
import { StartError } from '../errors.ts';
import type { Services } from '../http/services.ts';
import { LAST_WORDS } from '../last-words.ts';
import { createLog } from '../observability/log.ts';
import { answerLines, ModelGone } from './answer.ts';
import { ask } from './ask.ts';
import { openBudget } from './budget.ts';
import { cautionOf, NO_CAUTION } from './caution.ts';
import { openLease, runOfMachine } from './lease.ts';
import { noticeTeller, publishToTopic } from './notices.ts';
import { readOptions, type WorkerOptions } from './options.ts';
import { recordOf } from './pack.ts';
import { rowMaker } from './row.ts';
import { type Store, s3Client, storeBelow } from './store.ts';
import { MODEL_GONE, onStopSignals, POISON, supervise, tellSupervisor } from './supervise.ts';
import { type WorkerContext, type WorkerReport, work } from './worker.ts';

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
    const { name } = error as Error;
    const hasCode = error instanceof BatchError || error instanceof StartError;
    const message = hasCode ? error.message : withAdvice(error as Error);
    process.stderr.write(`${LAST_WORDS}${message}\n`);
    tell('error', { code: hasCode ? error.code : name, message });
    process.exitCode =
      error instanceof ModelGone ? MODEL_GONE : error instanceof BatchError ? error.exitStatus : 1;
  }
  await tellSupervisor({ meant: Number(process.exitCode) });
}

/** What an error of S3, or one that nobody knows, says of the run. */
function withAdvice(error: Error): string {
  const tries = isPassing(error) ? ` It was tried ${attempts()} times.` : '';
  return `${error.message.replace(/[.]?$/, '.')}${tries} What is written stays. Run it again to continue.`;
}

async function workHere(
  options: WorkerOptions,
  environment: Environment,
  warnings: readonly string[],
): Promise<number> {
  const asked = new AbortController();
  onStopSignals(() => asked.abort());
  // The supervisor was killed: nobody would hear what is done here.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  const log = createLog(environment.logLevel);
  for (const warning of warnings) log.warn(warning);
  const s3 = s3Client(options.reads);
  const name = randomUUID();
  const store = storeBelow(s3, options.outputUri, name, options.kmsKeyId);
  const lease = await leaseOf(store, asked.signal, log);
  if (!lease) return 1;
  const budget = await openBudget(store, name, options.budgetHours, (error) =>
    log.warn(`the hours of the run were not counted: ${(error as Error).message}`),
  );
  const base = {
    options,
    s3,
    store,
    maxHeldBytes: environment.limits.maxHeldBytes,
    stopping: AbortSignal.any([asked.signal, budget.usedUp, lease.lost]),
    onProgress: (progress: WorkerReport) => tell('progress', progress),
  };
  const onFailure = (error: unknown) =>
    log.warn(`a notice was not sent: ${(error as Error).message}`);
  const onRangeDone = noticeTeller(base.store, options, { publish: publishToTopic, onFailure });
  try {
    const report = await (options.pack
      ? work({ ...base, onRangeDone, ...packing(options.pack, base, environment) })
      : withModel(environment, log, async (services) =>
          work({ ...base, onRangeDone, ...(await asking(base, environment, services)) }),
        ));
    tell('report', report);
    if (report.done === report.ranges) return 0;
    lease.lost.throwIfAborted();
    if (!asked.signal.aborted && budget.isUsedUp()) throw overBudget(options);
    return 1;
  } finally {
    await budget.close();
    await lease.close();
    s3.destroy();
  }
}

function leaseOf(store: Store, stopping: AbortSignal, log: Logger) {
  return openLease(store, {
    run: runOfMachine(process.env),
    stopping,
    onWait: (holder) =>
      log.info(`the run ${holder} may still write here: waiting for its end, or for a sign of it`),
    onFailure: (error) => log.warn(`no sign of life was written: ${(error as Error).message}`),
  });
}

function overBudget({ budgetHours }: WorkerOptions): BatchError {
  return new BatchError(
    'OVER_BUDGET',
    `the workers of this run have used up its --budget-hours ${budgetHours}. What is written stays. Run it again with more to do the rest.`,
  );
}

/** Runs a task with the model in this process. */
async function withModel<T>(
  environment: Environment,
  log: Logger,
  task: (services: Services) => Promise<T>,
): Promise<T> {
  const { startRuntime } = await import('../runtime.ts');
  const runtime = await startRuntime({ environment, variables: process.env, log, listens: false });
  try {
    await Promise.race([runtime.ready, runtime.failed]);
    return await Promise.race([runtime.failed, task(runtime.services)]);
  } finally {
    await runtime.close(0);
  }
}

/** What a worker does with any of its inputs. */
type Work = Pick<WorkerContext, 'model' | 'caution' | 'rowMaker'>;
type Base = Pick<WorkerContext, 'options' | 's3'>;

function packing(format: PackFormat, { s3 }: Base, { limits }: Environment): Work {
  const rest = { maxBytes: limits.maxRequestBytes, poison: new Set<string>(), tellsErrors: false };
  return {
    model: '',
    caution: NO_CAUTION,
    rowMaker: ({ bucket, root }, hold) =>
      rowMaker({ ...rest, s3, bucket, root, hold, make: recordOf(format) }),
  };
}

/** Asks this process's model. */
async function asking(
  { options, s3 }: Base,
  { modelDir, limits }: Environment,
  services: Services,
): Promise<Work> {
  const caution = cautionOf(options);
  const poison = new Set(JSON.parse(process.env[POISON] ?? '[]') as string[]);
  let tried = 0;
  const make = answerLines({
    inFlight: options.inFlight,
    caution,
    ask: (body) => ask(services, body, options, `worker-${++tried}`),
  });
  const rest = { poison, maxBytes: limits.maxRequestBytes, tellsErrors: true };
  return {
    model: await modelDigest(modelDir),
    caution,
    rowMaker: ({ bucket, root }, hold) => rowMaker({ ...rest, s3, bucket, root, hold, make }),
  };
}

/** A line on standard output for who started the worker: `{"batchWorker": "progress" | "report" | "error", "pid": ..., ...}`. */
function tell(batchWorker: 'progress' | 'report' | 'error', what: object): void {
  process.stdout.write(`${JSON.stringify({ batchWorker, pid: process.pid, ...what })}\n`);
}
