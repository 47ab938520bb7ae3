import { MEGABYTE, WORKER_DEFAULTS } from '@sagemaker-tfs/batch';
import { fallbackTypes } from '@sagemaker-tfs/batch/instance-types';
import { DEFAULT_SETTINGS } from '@sagemaker-tfs/batch/settings';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { type Command, Option } from 'commander';
import { usageError } from '../errors.ts';
import { COST_HEADS, costColumns, instancesOf, type PricedWay } from '../estimate/basis.ts';
import { CHANGES } from '../estimate/sensitivity.ts';
import { KEY_USES, type KeyUse, LOG_BYTES, WAYS, type Workload } from '../estimate/workload.ts';
import { printResult, printStyled, table } from '../output/print.ts';
import { whileWaiting } from '../output/progress.ts';
import { usd } from '../output/usd.ts';
import { byteSize } from './batch-shards.ts';
import { list, part, positive, share, wholeNumber } from './options.ts';

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
  readonly imagesPerObject?: number;
  readonly packedPerSecond: number;
  readonly objectsPerJob: number;
  readonly startMinutes: number;
  readonly concurrentJobs: number;
  readonly endpointUse: number;
  readonly failed: number;
  readonly months: number;
  readonly kms: KeyUse;
  readonly logBytes: number;
  readonly nat: boolean;
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
      'hours, cost and jobs for a number of images: batch, packed, worker, endpoint and async compared; or the week of an app',
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
  addAssumptions(command)
    .option('--prices <file>', 'price file (default: prices/us-east-1.json of this project)')
    .option('--live-prices', 'instance prices from the AWS Price List API')
    .option('--region <region>', "of the live prices (default: the price file's)")
    .option('--json', 'print the result as JSON')
    .action(run);
}

/** What an estimate assumes by default. */
function addAssumptions(command: Command): Command {
  return command
    .option(
      '--images-per-object <number>',
      `images in a packed file (default: as many as fill ${WORKER_DEFAULTS.partMb} MB, as batch pack makes them)`,
      wholeNumber(),
    )
    .option(
      '--packed-per-second <number>',
      'images that an instance without a GPU packs',
      positive,
      1_000,
    )
    .option('--objects-per-job <number>', 'objects of one job, 0 for all', wholeNumber(0), 0)
    .option(
      '--concurrent-jobs <number>',
      'jobs at once where there are several',
      wholeNumber(),
      DEFAULT_SETTINGS.maxConcurrentJobs,
    )
    .option('--start-minutes <minutes>', 'paid before the first image', positive, 8)
    .option('--endpoint-use <part>', 'part of its time in which an endpoint is busy', share, 0.7)
    .option('--failed <part>', 'images that fail and are asked about once more', part, 0.001)
    .option('--months <number>', 'for which S3 keeps the answers', positive, 1)
    .addOption(
      new Option('--kms <use>', 'encryption of inputs and answers with a key of KMS')
        .choices(KEY_USES)
        .default('none'),
    )
    .option(
      '--log-bytes <number>',
      'that the container logs of a request, and CloudWatch adds to it; 0 for SAGEMAKER_TFS_LOG_LEVEL=warn',
      wholeNumber(0),
      LOG_BYTES,
    )
    .option('--nat', 'the instances reach S3 through a NAT gateway', false)
    .option(
      '--worker-hour <dollars>',
      'an instance hour of the batch worker, such as of an EC2 spot instance (default: of the instance type)',
      positive,
    );
}

async function run(options: Options, command: Command): Promise<void> {
  const { images, app } = options;
  if (app !== undefined && images === undefined) {
    const { estimateWeek } = await import('./estimate-week.ts');
    return estimateWeek(app, options);
  }
  if (images === undefined || app !== undefined) {
    throw usageError(
      'an estimate is for a number of images or for a folder. Give one of --images and --app.',
    );
  }
  return estimateImages({ ...options, images }, (name) => command.getOptionValueSource(name));
}

async function estimateImages(
  options: ImagesOptions,
  sourceOf: (option: string) => string | undefined,
): Promise<void> {
  const { basesOf, describeBases } = await import('../estimate/basis.ts');
  const { estimate } = await import('../estimate/estimate.ts');
  const { sensitivityOf } = await import('../estimate/sensitivity.ts');
  const { instanceHour, originOf, readPrices } = await import('../estimate/prices.ts');
  const prices = await readPrices(options.prices);
  const region = options.region ?? prices.region;
  if (!options.livePrices && region !== prices.region) {
    throw usageError(`the price file is of ${prices.region}. Use --live-prices for ${region}.`);
  }
  const work = await workloadOf(options);
  const estimates: PricedWay[] = [];
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
      const sold = way === 'packed' ? 'batch' : way;
      const hour = (way === 'worker' ? options.workerHour : undefined) ?? known ?? live?.[sold];
      if (hour === undefined) continue;
      const one = estimate(way, work, type, hour, prices);
      estimates.push({ ...one, sensitivity: sensitivityOf(one, work, hour, prices) });
    }
  }
  const origin = options.livePrices ? `AWS Price List API, ${region}` : originOf(prices);
  const bases = basesOf(
    work,
    options.secondsPerImage === undefined,
    (option) => sourceOf(option) === 'cli',
  );
  const notes = [
    `Prices of ${origin}.`,
    ...describeBases(bases),
    ...(new Set(estimates.map(({ instanceType }) => instanceType)).size > 1
      ? ['Every type is taken to be equally fast: measure each, and estimate it alone.']
      : []),
    ...(note ? [note] : []),
  ];
  if (process.stdout.isTTY && !options.json) {
    const { estimateLines } = await import('../terminal/estimate-lines.ts');
    printStyled((style) => estimateLines(estimates, notes, style));
    return;
  }
  printResult(
    options.json,
    { workload: work, bases, prices: origin, estimates, ...(note && { note }) },
    () => [...describe(estimates), ...notes].join('\n'),
  );
}

async function workloadOf(options: ImagesOptions): Promise<Workload> {
  const { inputSize, outputSize, imagesPerObject } = options;
  const { partKeys, partMb } = WORKER_DEFAULTS;
  const fitting = Math.floor((partMb * MEGABYTE) / inputSize);
  return {
    ...options,
    inputBytes: inputSize,
    outputBytes: outputSize,
    secondsPerImage: await secondsOf(options),
    imagesPerObject: imagesPerObject ?? Math.max(1, Math.min(partKeys, fitting)),
  };
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
    throw usageError(
      `cannot take ${measured}: ${sentence((error as Error).message)} Write it with bench --json.`,
    );
  }
}

/** What to know if the speed is of another machine than is priced; empty if it is of the same. */
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

/** In a pipe: what each way costs, and what it would cost where something turns out otherwise. */
function describe(estimates: readonly PricedWay[]): string[] {
  return [
    table(
      [...NAMES, 'hours', 'jobs', ...COST_HEADS, 'total', 'a million'],
      estimates.map((one) => [
        ...namesOf(one),
        one.hours.toFixed(1),
        one.jobs === 0 ? '-' : String(one.jobs),
        ...costColumns(one.costs).map((cost) => usd(cost)),
        usd(one.cost),
        usd(one.costPerMillion),
      ]),
    ),
    table(
      [...NAMES, ...CHANGES.map(({ text }) => `total, ${text}`)],
      estimates.map((one) => [
        ...namesOf(one),
        ...CHANGES.map(({ name }) => {
          const cost = one.sensitivity[name];
          return cost === undefined ? '-' : usd(cost);
        }),
      ]),
    ),
  ];
}

const NAMES = ['way', 'instances'];
const namesOf = (one: PricedWay) => [one.way, instancesOf(one)];
