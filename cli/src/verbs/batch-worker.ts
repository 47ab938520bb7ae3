import { WORKER_DEFAULTS } from '@sagemaker-tfs/batch';
import { TRANSPORTS } from '@sagemaker-tfs/tensors/custom-attributes';
import { type Command, Option } from 'commander';
import { outputsAsInputs } from '../batch/worker/outputs-as-inputs.ts';
import { printResult } from '../output/print.ts';
import { sayStep } from '../output/progress.ts';
import { warn } from '../output/warn.ts';
import { describeCounts, runWorkerWithBar, workerAbort } from './run-worker-with-bar.ts';

/** Options that go to the worker as they are. */
const PASSED = [
  ['key-suffix <text>', 'end of the keys that are taken, such as .jpg (default: all)'],
  [
    'inventory <s3 uri>',
    'manifest.json of an S3 inventory in CSV that lists the inputs (default: the prefix is listed)',
  ],
  ['accept <type>', 'media type of the answers'],
  ['custom-attributes <text>', 'custom attributes of every question'],
  [
    'range <numbers>',
    "ranges of the plan that this worker takes, such as 0..15 (default: its share's)",
  ],
  ['share <part>', 'ranges of one of several workers, such as 1/4 (default: all)'],
  [
    'ranges <number>',
    `ranges that the first worker cuts the keys into (default: ${WORKER_DEFAULTS.ranges})`,
  ],
  ['reads <number>', `objects that are read at once (default: ${WORKER_DEFAULTS.reads})`],
  ['in-flight <number>', "questions to the model at once (default: the container's choice)"],
  ['part-keys <number>', `keys of a part (default: ${WORKER_DEFAULTS.partKeys})`],
  ['part-mb <number>', `MB of answers that end a part (default: ${WORKER_DEFAULTS.partMb})`],
  [
    'max-failure-percent <number>',
    `failed inputs, in percent of those tried, that end it: from the 200th on, and with fewer at the end (default: ${WORKER_DEFAULTS.maxFailurePercent})`,
  ],
  [
    'budget-hours <number>',
    'hours of all workers of the run together, restarts included, after which they end (default: no limit)',
  ],
  [
    'notices-at <percentages>',
    'such as 10,50,90: parts of the ranges at which the topic receives a progress message',
  ],
  ['notice-topic <arn>', 'topic of SNS for --notices-at'],
] as const;

interface WorkerVerbOptions extends Readonly<Record<string, unknown>> {
  readonly input: string;
  readonly output: string;
  readonly model: string;
  readonly handler?: string;
  readonly keySuffix?: string;
  readonly contentType: string;
  readonly backend: string;
  readonly region?: string;
  readonly json?: true;
}

/** `batch worker`: the image's worker on this machine. */
export function addBatchWorker(batch: Command): void {
  const worker = batch
    .command('worker')
    .description(
      'read inputs from S3 and write packed answers there, without HTTP or SageMaker between; run again, it continues',
    )
    .requiredOption('--input <s3 uri>', 'prefix of the inputs, or a manifest')
    .requiredOption('--output <s3 uri>', 'prefix of the answers; nothing else may write there')
    .requiredOption('--model <source>', 'model directory or model.tar.gz')
    .option('--handler <file>', 'handler for a model directory')
    .requiredOption('--content-type <type>', 'media type of the inputs')
    .addOption(
      new Option('--backend <name>', 'how the model runs')
        .choices(TRANSPORTS)
        .default('in-process'),
    );
  for (const [flags, description] of PASSED) worker.option(`--${flags}`, description);
  worker
    .option('--region <region>', 'default: the one of the environment')
    .option('--json', 'print the result as JSON')
    .action(batchWorker)
    .exitOverride();
}

async function batchWorker(options: WorkerVerbOptions): Promise<void> {
  const { prepareModelRoot } = await import('../serving/model-root.ts');
  const { model, handler, backend, region, json, input, output, keySuffix } = options;
  const remark = outputsAsInputs(input, output, keySuffix);
  if (remark !== undefined) warn(remark);
  const abort = workerAbort();
  const { signal } = abort;
  const root = await prepareModelRoot(model, handler, { signal, onStep: sayStep });
  try {
    const report = await runWorkerWithBar(
      { model: { directory: root.directory, backend }, region, args: argumentsOf(options) },
      abort,
    );
    printResult(json, report, () => {
      const { answers, failures, now, seconds } = report;
      const counts = describeCounts(report, `${answers} answers, ${failures} errors`);
      return `${counts} (${(now / seconds).toFixed(0)}/s)`;
    });
  } finally {
    await root.cleanUp();
  }
}

function argumentsOf(options: WorkerVerbOptions): string[] {
  const { input, output, contentType } = options;
  const given = PASSED.flatMap(([flags]) => {
    const flag = flags.split(' ', 1)[0] as string;
    const value = options[flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
    return value === undefined ? [] : [`--${flag}=${String(value)}`];
  });
  return [`--input=${input}`, `--output=${output}`, `--content-type=${contentType}`, ...given];
}
