import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { type Command, Option } from 'commander';
import { CommandError, cannotRead, explain, usageError } from '../errors.ts';
import { interruptSignal } from '../interrupt.ts';
import { ms, printResult, printStyled, printText, table } from '../output/print.ts';
import { progress } from '../output/progress.ts';
import { remark } from '../output/quiet.ts';
import type { TuneRun } from '../report/tune-report.ts';
import type { CountedAnswer } from '../serving/counted-answer.ts';
import type { Samples } from '../tune/load.ts';
import type { Point, ServerSettings } from '../tune/point.ts';
import { curveText, serverText } from '../tune/server-text.ts';
import { list, wholeNumber } from './options.ts';
import { withHint } from './target.ts';

interface Options {
  readonly model?: string;
  readonly handler?: string;
  readonly url?: string;
  readonly endpoint?: string;
  readonly recommend?: string;
  readonly roleArn?: string;
  readonly samplePayload?: string;
  readonly instanceType?: string[];
  readonly region?: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly maxConcurrency: number;
  readonly batchSizes: number[];
  readonly maxBatchSizes: number[];
  readonly decodeThreads: number[];
  readonly seconds: number;
  readonly maxLatency?: number;
  readonly chart?: string;
  readonly report?: string;
  readonly write?: string;
  readonly name?: string;
  readonly json?: true;
}

/** `tune`: how many requests in flight, and which settings of the runtime, serve most. */
export function addTune(program: Command): void {
  const tune = program
    .command('tune')
    .description('measure throughput against latency over many settings, and pick the knee')
    .argument('[sample...]', 'request bodies: files, or folders of them')
    .addOption(
      new Option('--model <source>', 'model to serve on this machine').conflicts([
        'url',
        'endpoint',
      ]),
    )
    .option('--handler <file>', 'handler for a model directory')
    .addOption(new Option('--url <url>', 'a runtime that is serving').conflicts('endpoint'))
    .option('--endpoint <name>', 'a SageMaker endpoint');
  addGrid(tune);
  addRecommender(tune);
  tune
    .option('--chart <file>', 'draw throughput against latency, as SVG')
    .option('--report <file>', 'also write the result as one HTML page')
    .option('--write <file>', 'write the knee into serving.config.ts, or into a .json file')
    .option('--name <model>', "the configuration's model")
    .option('--json', 'print the result as JSON')
    .action(run);
}

function addGrid(tune: Command): void {
  tune
    .option('--content-type <type>', "media type of the samples (default: by their names' ending)")
    .option('--accept <type>', 'media type of the answers')
    .option('--max-concurrency <number>', 'powers of two up to this', wholeNumber(), 64)
    .option('--batch-sizes <list>', 'images in a request, such as 1,8', numbers(1), [1])
    .option(
      '--max-batch-sizes <list>',
      'server-side batching of --model, 0 for none, such as 0,8,32',
      numbers(0),
      [0, 8],
    )
    .option(
      '--decode-threads <list>',
      'threads that decode pictures for --model, 0 for the defaults, such as 0,8',
      numbers(0),
      [0],
    )
    .option('--seconds <number>', 'of each measurement', wholeNumber(), 3)
    .option('--max-latency <ms>', 'maximum P95 of the knee (default: none)', wholeNumber());
}

function addRecommender(tune: Command): void {
  tune
    .option(
      '--recommend <model>',
      'also run SageMaker Inference Recommender on this SageMaker model',
    )
    .option('--role-arn <arn>', 'role of that job')
    .option('--sample-payload <s3 uri>', 'archive of sample bodies for that job')
    .option('--instance-type <type>', 'for that job (repeatable)', list)
    .option('--region <region>', 'default: the one of the environment');
}

function numbers(least: number): (text: string) => number[] {
  return (text) => text.split(',').map((part) => wholeNumber(least)(part.trim()));
}

async function run(files: string[], options: Options): Promise<void> {
  const { kneeOf } = await import('../tune/point.ts');
  const { requirePlace } = await import('../output/place.ts');
  const signal = interruptSignal();
  for (const option of ['chart', 'report', 'write'] as const) {
    const file = options[option];
    if (file !== undefined) await requirePlace(`--${option}`, file);
  }
  const swept = await sweep(files, options, signal);
  const points = [...(swept?.points ?? []), ...(await recommended(options, signal))];
  // What SageMaker measured on other machines says nothing of the settings here.
  const knee = kneeOf(
    points.filter(({ concurrency }) => concurrency !== undefined),
    options.maxLatency,
  );
  if (options.chart) await draw(options.chart, points);
  if (options.report) await report(options.report, { ...swept, points, knee }, options);
  if (!options.json) await print(points, knee);
  if (!knee && points.some(({ concurrency }) => concurrency !== undefined)) {
    throw noKnee(points, options.maxLatency, swept?.refusal);
  }
  if (options.write && knee) {
    const { settingsOf, writeSettings } = await import('../tune/write-settings.ts');
    await writeSettings(options.write, settingsOf(knee), options.name);
    remark(`written to ${options.write}`);
  }
  if (options.json) printResult(true, { points, knee }, () => '');
}

/** Why no setting can be run with. @param refusal what a request got in place of an answer */
function noKnee(
  points: readonly Point[],
  maxLatency: number | undefined,
  refusal: Error | undefined,
): CommandError {
  const steady = points.filter(({ errors }) => errors === 0);
  const latencies = steady.map(({ p95, p50 }) => p95 ?? p50);
  const message =
    steady.length > 0
      ? `no setting met --max-latency ${maxLatency} without errors. The lowest P95 without errors was ${ms(Math.min(...latencies))} ms: allow more, or use a faster machine.`
      : `requests failed at every setting, the last with: ${sentence(refusal ? explain(refusal) : 'no reason')} Correct that, or try a smaller --max-concurrency.`;
  return new CommandError('NO_KNEE', message, { details: { points } });
}

/** What a sweep measured, and with what. */
interface Swept {
  readonly points: readonly Point[];
  readonly samples: Samples;
  /** The last one. */
  readonly answer: CountedAnswer | undefined;
  /** What the last request without an answer got. */
  readonly refusal: Error | undefined;
}

async function sweep(
  files: string[],
  options: Options,
  signal: AbortSignal,
): Promise<Swept | undefined> {
  const { model, url, endpoint, handler, region } = options;
  if (!model && !url && !endpoint) {
    if (options.recommend) return undefined;
    throw usageError(
      'there is nothing to measure. Give --model SOURCE, --url, --endpoint or --recommend.',
    );
  }
  const { powersOfTwo, sweepModel, sweepTarget } = await import('../tune/sweep.ts');
  const { runtimeLog } = await import('../terminal/runtime-log.ts');
  const concurrencies = powersOfTwo(options.maxConcurrency);
  const servers: ServerSettings[] = options.maxBatchSizes.flatMap((maxBatchSize) =>
    options.decodeThreads.map((decodeThreads) => ({ maxBatchSize, decodeThreads })),
  );
  const each = concurrencies.length * options.batchSizes.length;
  const samples = await readSamples(files, options);
  const bar = progress('settings', each * (model ? servers.length : 1));
  let done = 0;
  let answer: CountedAnswer | undefined;
  let refusal: Error | undefined;
  const plan = {
    samples: {
      ...samples,
      onAnswer: (last: CountedAnswer) => {
        answer = last;
      },
      onError: (last: Error) => {
        refusal = last;
      },
    },
    concurrencies,
    batchSizes: options.batchSizes,
    seconds: options.seconds,
    signal,
    onPoint: ({ imagesPerSecond }: Point) => bar.update(++done, `${imagesPerSecond.toFixed(0)}/s`),
  };
  const target = url ? { url } : { endpointName: endpoint ?? '', ...(region && { region }) };
  const points = await (model
    ? sweepModel({ source: model, log: runtimeLog(), ...(handler && { handler }) }, servers, plan)
    : sweepTarget(url ?? endpoint ?? '', target, plan).catch((error: unknown) => {
        throw withHint(error, target);
      })
  ).finally(bar.stop);
  return { points, samples, answer, refusal };
}

/** Most samples that are sent. */
const SAMPLES = 64;

async function readSamples(files: string[], options: Options): Promise<Samples> {
  const { readdir, readFile, stat } = await import('node:fs/promises');
  const { join } = await import('node:path');
  const { requireMediaType } = await import('../serving/media-type.ts');
  const filesOf = async (path: string) => {
    const info = await stat(path).catch(cannotRead(path));
    return info.isFile() ? [path] : (await readdir(path)).sort().map((name) => join(path, name));
  };
  const names = (await Promise.all(files.map(filesOf))).flat().slice(0, SAMPLES);
  if (names.length === 0) {
    throw usageError('no sample is named. Name files with the request bodies to send.');
  }
  const requests = await Promise.all(
    names.map(async (name) => {
      const contentType = options.contentType ?? requireMediaType(name);
      return { name, contentType, body: await readFile(name) };
    }),
  );
  return { requests, ...(options.accept && { accept: options.accept }) };
}

async function recommended(options: Options, signal: AbortSignal): Promise<Point[]> {
  const {
    recommend: modelName,
    roleArn,
    samplePayload,
    contentType,
    instanceType,
    region,
  } = options;
  if (!modelName) return [];
  if (!roleArn || !samplePayload || !instanceType || !contentType) {
    throw usageError(
      '--recommend starts a job on SageMaker. Give --role-arn, --sample-payload, --content-type and --instance-type.',
    );
  }
  const { recommend } = await import('../tune/recommender.ts');
  const job = { modelName, roleArn, samplePayload, contentType, instanceTypes: instanceType };
  return recommend({ ...job, region, signal });
}

async function report(
  file: string,
  { points, knee, samples, answer }: Partial<Swept> & Pick<TuneRun, 'points' | 'knee'>,
  { seconds }: Options,
): Promise<void> {
  const { runFacts } = await import('../bench/run-facts.ts');
  const { tuneReport } = await import('../report/tune-report.ts');
  const { writeWhole } = await import('../output/write-whole.ts');
  const requests = samples?.requests ?? [];
  const bytes = requests.reduce((sum, { body }) => sum + body.byteLength, 0);
  const page = await tuneReport({
    points,
    knee,
    run: runFacts(answer?.customAttributes),
    samples: requests.map(({ name }) => name),
    inputBytes: bytes / Math.max(1, requests.length),
    // Of one image: an answer to several is for all of them.
    outputBytes: (answer?.bytes ?? 0) / (points.at(-1)?.batchSize ?? 1),
    contentTypes: [...new Set(requests.map(({ contentType }) => contentType))],
    seconds,
    words: process.argv.slice(2),
  });
  await writeWhole(file, page);
  remark(`written to ${file}`);
}

async function draw(file: string, points: readonly Point[]): Promise<void> {
  const { lineChart } = await import('../output/chart.ts');
  const { writeWhole } = await import('../output/write-whole.ts');
  const names = [...new Set(points.map(curveText))];
  const series = names.map((name) => ({
    name,
    points: points
      .filter((point) => curveText(point) === name)
      .map(({ imagesPerSecond, p95, p50 }) => [imagesPerSecond, p95 ?? p50] as const),
  }));
  const axes = { x: 'images a second', y: 'P95, ms' };
  await writeWhole(file, `${lineChart('Throughput against latency', axes, series)}\n`);
}

/** For people in a terminal a view; a pipe gets the table. */
async function print(points: readonly Point[], knee: Point | undefined): Promise<void> {
  if (!process.stdout.isTTY) return printText(describe(points, knee));
  const { tuneLines } = await import('../terminal/tune-lines.ts');
  printStyled((style) => tuneLines(points, knee, style));
}

/** In a pipe. */
function describe(points: readonly Point[], knee: Point | undefined): string {
  const rows = points.map((point) => [
    point === knee ? '>' : '',
    point.where,
    serverText(point.server),
    point.batchSize,
    point.concurrency ?? '-',
    point.imagesPerSecond.toFixed(1),
    ms(point.p50),
    point.p95 === undefined ? '-' : ms(point.p95),
    point.errors,
    point.dollarsPerMillion?.toFixed(2) ?? '-',
  ]);
  const head = ['', 'where', 'server', 'a request', 'in flight', 'images/s', 'P50 ms', 'P95 ms'];
  const lines = [table([...head, 'errors', '$ a million'], rows)];
  if (knee) {
    lines.push(
      `Knee: ${knee.concurrency} in flight, ${knee.batchSize} a request, ${serverText(knee.server)}: lowest P95 within 5% of the best throughput.`,
    );
  }
  return lines.join('\n');
}
