import { fallbackTypes } from '@sagemaker-tfs/batch/instance-types';
import { DEFAULT_SETTINGS } from '@sagemaker-tfs/batch/settings';
import type { Command } from 'commander';
import { usageError } from '../errors.ts';
import type { Estimate, Workload } from '../estimate/estimate.ts';
import { printResult, printStyled, table } from '../output/print.ts';
import { whileWaiting } from '../output/progress.ts';
import { byteSize } from './batch-shards.ts';
import { list, positive, share, wholeNumber } from './options.ts';

/** What a batch job tries in turn if no type is named. */
const DEFAULT_TYPES = [
  DEFAULT_SETTINGS.instanceType,
  ...fallbackTypes(DEFAULT_SETTINGS.instanceType),
];

interface Options {
  readonly images?: number;
  readonly app?: string;
  readonly inputSize: number;
  readonly outputSize: number;
  readonly secondsPerImage?: number;
  readonly measured?: string;
  readonly instanceType?: string[];
  readonly instanceCount: number;
  readonly imagesPerObject: number;
  readonly objectsPerJob: number;
  readonly startMinutes: number;
  readonly concurrentJobs: number;
  readonly endpointUse: number;
  readonly workerHour?: number;
  readonly prices?: string;
  readonly livePrices?: true;
  readonly region?: string;
  readonly json?: true;
}

type ImagesOptions = Options & { readonly images: number };

/** `estimate`: hours and cost before anything is started. */
export function addEstimate(program: Command): void {
  const command = program
    .command('estimate')
    .description(
      'hours, cost and jobs for a number of images: batch, worker, endpoint and async compared; or the week of an app',
    )
    .option('--images <number>', 'how many', wholeNumber())
    .option(
      '--app <folder>',
      'instead, a week of the endpoints of a synthesized app (cdk.out), by their schedules',
    )
    .option('--input-size <size>', 'one image', byteSize, byteSize('100KB'))
    .option('--output-size <size>', 'the answer to one image', byteSize, byteSize('15KB'))
    .option('--seconds-per-image <seconds>', 'of one fully loaded instance', positive)
    .option('--measured <file>', 'result of batch local, batch worker or tune with --json, instead')
    .option(
      '--instance-type <type>',
      `repeatable (default: what a batch job tries in turn: ${DEFAULT_TYPES.join(', ')})`,
      list,
    )
    .option('--instance-count <number>', 'instances at once', wholeNumber(), 2);
  command
    .option('--images-per-object <number>', 'images packed into one object', wholeNumber(), 1)
    .option('--objects-per-job <number>', 'objects of one job, 0 for all', wholeNumber(0), 0)
    .option(
      '--concurrent-jobs <number>',
      'jobs at once where there are several',
      wholeNumber(),
      DEFAULT_SETTINGS.maxConcurrentJobs,
    )
    .option('--start-minutes <minutes>', 'paid before the first image', positive, 8)
    .option('--endpoint-use <part>', 'part of its time in which an endpoint is busy', share, 0.7)
    .option(
      '--worker-hour <dollars>',
      'an instance hour of the batch worker, such as of an EC2 spot instance (default: of the instance type)',
      positive,
    )
    .option('--prices <file>', 'price file (default: prices/us-east-1.json of this project)')
    .option('--live-prices', 'instance prices from the AWS Price List API')
    .option('--region <region>', "of the live prices (default: the price file's)")
    .option('--json', 'print the result as JSON')
    .action(run);
}

async function run(options: Options): Promise<void> {
  const { images, app } = options;
  if (app !== undefined && images === undefined) {
    const { estimateWeek } = await import('./estimate-week.ts');
    return estimateWeek(app, options);
  }
  if (images === undefined || app !== undefined) {
    throw usageError('one of --images and --app is needed: a number of images, or a folder.');
  }
  return estimateImages({ ...options, images });
}

async function estimateImages(options: ImagesOptions): Promise<void> {
  const { estimate, WAYS } = await import('../estimate/estimate.ts');
  const { instanceHour, originOf, readPrices } = await import('../estimate/prices.ts');
  const prices = await readPrices(options.prices);
  const region = options.region ?? prices.region;
  if (!options.livePrices && region !== prices.region) {
    throw usageError(`the price file is of ${prices.region}. Use --live-prices for ${region}.`);
  }
  const work: Workload = {
    ...options,
    inputBytes: options.inputSize,
    outputBytes: options.outputSize,
    secondsPerImage: await secondsOf(options),
  };
  const estimates: Estimate[] = [];
  const types = options.instanceType ?? DEFAULT_TYPES;
  const note = options.secondsPerImage === undefined ? await measuredElsewhere(options, types) : '';
  for (const type of types) {
    const live = options.livePrices
      ? await whileWaiting(`Asking AWS for prices of ${type}`, async () =>
          (await import('../estimate/live-prices.ts')).livePrices(type, region),
        )
      : undefined;
    const known = live ? undefined : instanceHour(prices, type);
    for (const way of WAYS) {
      const hour = (way === 'worker' ? options.workerHour : undefined) ?? known ?? live?.[way];
      if (hour !== undefined) estimates.push(estimate(way, work, type, hour, prices));
    }
  }
  const origin = options.livePrices ? `AWS Price List API, ${region}` : originOf(prices);
  const notes = [...notesOn(work, origin, estimates), ...(note ? [note] : [])];
  if (process.stdout.isTTY && !options.json) {
    const { estimateLines } = await import('../terminal/estimate-lines.ts');
    printStyled((style) => estimateLines(estimates, notes, style));
    return;
  }
  printResult(
    options.json,
    { workload: work, prices: origin, estimates, ...(note && { note }) },
    () => [describe(estimates), ...notes].join('\n'),
  );
}

async function secondsOf({ secondsPerImage, measured }: Options): Promise<number> {
  if (secondsPerImage !== undefined) return secondsPerImage;
  if (measured === undefined)
    throw usageError(
      'the time of an image is missing. Give --seconds-per-image or --measured FILE.',
    );
  const { measuredSeconds } = await import('../estimate/estimate.ts');
  const { readFile } = await import('node:fs/promises');
  try {
    return measuredSeconds(JSON.parse(await readFile(measured, 'utf8')), measured);
  } catch (error) {
    throw usageError(`cannot take ${measured}: ${(error as Error).message}`);
  }
}

/** What to know where the speed is of another machine than is priced; empty where it is of the same. */
async function measuredElsewhere(
  { measured = '' }: Options,
  types: readonly string[],
): Promise<string> {
  const { measuredOn } = await import('../estimate/estimate.ts');
  const { readFile } = await import('node:fs/promises');
  const where = measuredOn(JSON.parse(await readFile(measured, 'utf8')));
  const others = types.filter((type) => type !== where);
  if (others.length === 0) return '';
  return `The speed is that of ${where ?? 'the machine that measured'}, the prices are of ${others.join(', ')}: measure there (tune --endpoint, --recommend) before you rely on this.`;
}

/** What the figures rest on. */
function notesOn(work: Workload, prices: string, estimates: readonly Estimate[]): string[] {
  return [
    `Prices of ${prices}. ${work.startMinutes} minutes to start each job or endpoint; an endpoint is busy ${work.endpointUse * 100}% of its time; ${work.imagesPerObject} image(s) an object, one for the worker.`,
    ...(new Set(estimates.map(({ instanceType }) => instanceType)).size > 1
      ? ['Every type is taken to be equally fast: measure each, and estimate it alone.']
      : []),
  ];
}

/** In a pipe. */
function describe(estimates: readonly Estimate[]): string {
  const usd = (value: number) => `$${value.toFixed(2)}`;
  const rows = estimates.map((one) => [
    one.way,
    `${one.instanceCount} x ${one.instanceType}`,
    one.hours.toFixed(1),
    one.jobs === 0 ? '-' : String(one.jobs),
    usd(one.instanceCost),
    usd(one.requestCost),
    usd(one.dataCost),
    usd(one.cost),
    usd(one.costPerMillion),
  ]);
  return table(
    [
      'way',
      'instances',
      'hours',
      'jobs',
      'instance cost',
      'S3 requests',
      'data',
      'total',
      'a million',
    ],
    rows,
  );
}
