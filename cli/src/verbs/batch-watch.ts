import type { Command } from 'commander';
import type { AwsClients } from '../batch/aws/clients.ts';
import type { JobView } from '../batch/aws/watch.ts';
import { CommandError, usageError } from '../errors.ts';
import type { Prices } from '../estimate/prices.ts';
import { commandName } from '../output/command-name.ts';
import { printResult } from '../output/print.ts';
import { progress } from '../output/progress.ts';
import { usd } from '../output/usd.ts';
import { warn } from '../output/warn.ts';
import { ANY_JOB, type Engine, engineOption, type Shared, shared } from './job-options.ts';
import { positive, wholeNumber } from './options.ts';

interface Options extends Shared {
  readonly engine: Engine;
  readonly interval: number;
  readonly once?: true;
  readonly prices?: string;
  readonly workerHour?: number;
  readonly budget?: number;
}

/** `batch watch`: follows a job that was started, on whichever road. */
export function addBatchWatch(batch: Command): void {
  shared(
    batch
      .command('watch')
      .description('follow a job: inputs done, rate, time left, cost so far, failures by reason')
      .argument('<job>', ANY_JOB)
      .addOption(engineOption())
      .option('--interval <seconds>', 'least time between two looks', wholeNumber(), 15)
      .option('--once', 'look once')
      .option('--budget <dollars>', 'show the cost against it; stops nothing', positive)
      .option(
        '--worker-hour <dollars>',
        "price of an hour of a worker's instance (AWS Batch chooses the type, so its cost is unknown without it)",
        positive,
      )
      .option('--prices <file>', 'price file (default: the one of this project)'),
  ).action(watch);
}

async function watch(name: string, options: Options): Promise<void> {
  const { forWatching, withAws } = await import('../batch/aws/clients.ts');
  const { readPrices } = await import('../estimate/prices.ts');
  const { rateMeter } = await import('../batch/rate.ts');
  if (options.workerHour !== undefined && options.engine === 'transform') {
    throw usageError('--worker-hour is the price of a worker. Add --engine processing or batch.');
  }
  const money = moneyOf(await readPrices(options.prices), options);
  const all = forWatching();
  const look = async (clients: AwsClients) => {
    const bar = progress('objects', 0);
    const rate = rateMeter();
    let last: JobView | undefined;
    try {
      for await (last of views(clients, name, options)) {
        const { job, done, total } = last;
        bar.total(total);
        const failed = sum(Object.values(last.failures));
        const facts = [rate(done, total - done), money(last).text, failed && `${failed} failed`];
        bar.update(done, [job.status, ...facts.filter(Boolean)].join(' '));
      }
    } finally {
      bar.stop();
    }
    return last as JobView;
  };
  const view = await withAws(options.region, look, { all });
  report(name, options, view, money(view));
}

async function* views(
  clients: AwsClients,
  name: string,
  { engine, interval, once, region }: Options,
): AsyncGenerator<JobView> {
  const settings = { intervalSeconds: interval, once: once ?? false, onTrouble };
  if (engine === 'transform') {
    const { watchJob } = await import('../batch/aws/watch.ts');
    yield* watchJob(clients, name, settings);
    return;
  }
  const { watchWorker } = await import('../batch/aws/watch-worker.ts');
  const { describeBatchJob, describeProcessing } = await import('../batch/aws/worker-job.ts');
  if (engine === 'processing') {
    yield* watchWorker(clients.s3, () => describeProcessing(clients.sagemaker, name), settings);
    return;
  }
  const { BatchClient } = await import('@aws-sdk/client-batch');
  const { forWatching } = await import('../batch/aws/clients.ts');
  const batch = new BatchClient({ ...(region !== undefined && { region }), ...forWatching() });
  try {
    yield* watchWorker(clients.s3, () => describeBatchJob(batch, name), settings);
  } finally {
    batch.destroy();
  }
}

function onTrouble({ name, message }: Error): void {
  warn(`AWS does not answer (${name}): ${message.replace(/\.$/, '')}. It is asked again`);
}

/** What a job has cost so far. */
interface Money {
  /** Null where no price is known. */
  readonly costUsd: number | null;
  readonly budgetUsd: number | undefined;
  readonly text: string;
}

/** @returns the cost of what was seen, beside the budget: the one given, or that of the run */
function moneyOf(
  prices: Prices,
  { workerHour, budget }: Options,
): (view: Pick<JobView, 'job' | 'instanceHours'>) => Money {
  return ({ job, instanceHours }) => {
    const price = workerHour ?? prices.instanceHour[job.instanceType ?? ''];
    const costUsd = price === undefined ? null : price * instanceHours;
    const hours = 'budgetInstanceHours' in job ? job.budgetInstanceHours : undefined;
    const ofRun = hours === undefined || price === undefined ? undefined : price * hours;
    const budgetUsd = budget ?? ofRun;
    const cost = costUsd === null ? 'cost unknown' : usd(costUsd);
    if (budgetUsd === undefined || costUsd === null) return { costUsd, budgetUsd, text: cost };
    const percent = Math.round((100 * costUsd) / budgetUsd);
    const text = `${cost} of ${usd(budgetUsd)} (${percent}%)`;
    return { costUsd, budgetUsd, text };
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** @throws CommandError JOB_NOT_COMPLETED */
function report(
  name: string,
  { engine, json }: Options,
  { job, total, done, instanceHours, failures }: JobView,
  { costUsd, budgetUsd, text }: Money,
): void {
  const result = {
    job: name,
    status: job.status,
    ...(job.failureReason && { failureReason: job.failureReason }),
    total,
    done,
    failures,
    instanceHours,
    costUsd,
    ...(budgetUsd !== undefined && { budgetUsd }),
    ...('workers' in job && { workers: job.workers }),
  };
  if (job.status === 'Failed' || job.status === 'Stopped') {
    const reason = job.failureReason ? `: ${job.failureReason}` : '';
    const what = engine === 'transform' ? 'objects have an output' : 'objects were dealt with';
    throw new CommandError(
      'JOB_NOT_COMPLETED',
      `${name} is ${job.status}${reason}. ${done} of ${total} ${what}. For the rest, ${goOn(engine, job)}.`,
      { details: result },
    );
  }
  printResult(json, result, () =>
    [
      `${name} ${job.status}: ${done} of ${total} objects, ${instanceHours.toFixed(2)} instance hours, ${text}`,
      ...Object.entries(failures)
        .sort(([, a], [, b]) => b - a)
        .map(([reason, count]) => `  ${count} failed: ${reason}`),
    ].join('\n'),
  );
}

function goOn(engine: Engine, job: JobView['job']): string {
  if (engine !== 'transform') return 'run the same batch start again';
  return 'jobs' in job && job.jobs
    ? 'start it again with the same --run-id'
    : `run ${commandName()} batch start --missing-only`;
}
