import { extname } from 'node:path';
import { amiFor } from '@sagemaker-tfs/batch/ami';
import { DEFAULT_SETTINGS } from '@sagemaker-tfs/batch/settings';
import type { Command } from 'commander';
import type { ProbeOptions, ProbeReport } from '../batch/aws/probe/probe.ts';
import { cannotRead } from '../errors.ts';
import { interruptSignal } from '../interrupt.ts';
import { printResult, table } from '../output/print.ts';
import { progress } from '../output/progress.ts';
import { requireMediaType } from '../serving/media-type.ts';
import { wholeNumber } from './options.ts';

interface Options {
  readonly modelName: string;
  readonly outputUri: string;
  readonly sample: string;
  readonly badSample?: string;
  readonly contentType?: string;
  readonly accept: string;
  readonly maxPayload: number;
  readonly instanceType: string;
  readonly interval: number;
  readonly prices?: string;
  readonly region?: string;
  readonly json?: true;
}

/** What no model takes for an input. */
const NO_INPUT = Buffer.from('\0no input of any model\0');

/** `batch probe`: what a transform job does where AWS's documents leave it open. */
export function addBatchProbe(batch: Command): void {
  batch
    .command('probe')
    .description(
      'run a real transform job over twelve small objects to see where outputs lie and what bad, large, empty and deleted inputs do; keep what was seen for runs over the same output prefix',
    )
    .requiredOption('--model-name <name>', 'the SageMaker model')
    .requiredOption('--output-uri <s3 uri>', 'output prefix of the runs to come')
    .requiredOption('--sample <file>', 'an input that the model answers')
    .option('--bad-sample <file>', 'one that it refuses (default: bytes that mean nothing)')
    .option('--content-type <type>', "media type of the inputs (default: by the sample's ending)")
    .option('--accept <type>', 'media type of the outputs', DEFAULT_SETTINGS.accept)
    .option(
      '--max-payload <MB>',
      'largest request; one object is larger',
      wholeNumber(1, 100),
      DEFAULT_SETTINGS.maxPayloadInMB,
    )
    .option('--instance-type <type>', 'instance of the job', 'ml.m5.xlarge')
    .option('--interval <seconds>', 'time between two looks at the job', wholeNumber(), 15)
    .option('--prices <file>', 'price file (default: the one of this project)')
    .option('--region <region>', 'default: the one of the environment')
    .option('--json', 'print the result as JSON')
    .action(batchProbe)
    .exitOverride();
}

async function batchProbe(options: Options): Promise<void> {
  const { forWatching, withAws } = await import('../batch/aws/clients.ts');
  const { probe } = await import('../batch/aws/probe/probe.ts');
  const { readPrices } = await import('../estimate/prices.ts');
  const prices = await readPrices(options.prices);
  const job = await probeOf(options);
  const bar = progress('jobs', 0);
  const seen = new Set<string>();
  const onProgress = (name: string, status: string) =>
    bar.update(seen.add(name).size, `${name} ${status}`);
  const report = await withAws(
    options.region,
    (clients) => probe(clients, { ...job, onProgress }).finally(bar.stop),
    { all: forWatching() },
  );
  const costUsd = costOf(report, prices.instanceHour);
  const { findingsOf } = await import('../batch/aws/probe/findings.ts');
  const findings = findingsOf(report.facts);
  const { facts, factsUri, leftUri, jobs } = report;
  const result = {
    ...{ facts, findings, factsUri, jobs: jobs.map(({ name }) => name) },
    ...{ costUsd: costUsd ?? null, ...(leftUri && { leftUri }) },
  };
  printResult(options.json, result, () =>
    [
      table(
        ['fact', 'assumed', 'found', 'verdict'],
        findings.map((row) => [row.fact, row.assumed, row.found, row.differs ? 'differs' : '']),
      ),
      `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}, ${costUsd === undefined ? 'cost unknown' : `about $${costUsd.toFixed(2)} at prices of ${prices.asOf}`}. Runs over ${options.outputUri} read ${factsUri}.`,
      ...(leftUri ? [`The objects at ${leftUri} could not be deleted. Delete them.`] : []),
    ].join('\n'),
  );
}

async function probeOf(options: Options): Promise<ProbeOptions> {
  const { readFile } = await import('node:fs/promises');
  const { sample, badSample, instanceType, maxPayload } = options;
  const good = await readFile(sample).catch(cannotRead(sample));
  const bad =
    badSample === undefined ? NO_INPUT : await readFile(badSample).catch(cannotRead(badSample));
  return {
    ...DEFAULT_SETTINGS,
    modelName: options.modelName,
    outputUri: options.outputUri,
    accept: options.accept,
    jobName: `sagemaker-tfs-probe-${Date.now()}`,
    samples: { good, bad, suffix: extname(sample) },
    contentType: options.contentType ?? requireMediaType(sample),
    instanceType,
    transformAmiVersion: amiFor(instanceType),
    instanceCount: 1,
    fallbacks: [],
    maxConcurrentTransforms: 1,
    maxPayloadInMB: maxPayload,
    tags: {},
    intervalSeconds: options.interval,
    signal: interruptSignal('The job is stopped, and the objects are deleted.'),
  };
}

/** Dollars of all jobs together; undefined if the instance type has no price. */
function costOf(
  { jobs }: ProbeReport,
  instanceHour: Readonly<Record<string, number>>,
): number | undefined {
  const costs = jobs.map(({ instanceType, startedAt, endedAt }) => {
    const price = instanceHour[instanceType];
    if (price === undefined || !startedAt || !endedAt) return undefined;
    return (price * (endedAt.getTime() - startedAt.getTime())) / 3_600_000;
  });
  return costs.reduce(
    (sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost),
    0,
  );
}
