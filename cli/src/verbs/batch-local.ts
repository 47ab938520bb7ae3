import { EXISTING, type Existing } from '@sagemaker-tfs/batch';
import {
  ANSWERS_GLUED,
  ASSEMBLIES,
  BATCH_STRATEGIES,
  DEFAULT_SETTINGS,
  HEADER_CUT_OFF,
  SPLIT_TYPES,
} from '@sagemaker-tfs/batch/settings';
import { type Command, Option } from 'commander';
import type { JobProgress, JobResult, LocalJob } from '../batch/local/agent.ts';
import { reasonOf } from '../batch/local/failures.ts';
import type { InputSource } from '../batch/local/inputs.ts';
import { rateText } from '../batch/rate.ts';
import { CommandError, usageError } from '../errors.ts';
import { interrupted, onInterrupt } from '../interrupt.ts';
import { printResult, printStyled, printText } from '../output/print.ts';
import { printable } from '../output/printable.ts';
import { progress, sayStep } from '../output/progress.ts';
import { remark } from '../output/quiet.ts';
import { wholeNumber } from './options.ts';
import { refuseConflicts } from './refuse-conflicts.ts';

interface BatchLocalOptions {
  readonly out: string;
  readonly manifest?: string;
  readonly url?: string;
  readonly model?: string;
  readonly handler?: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly customAttributes?: string;
  readonly splitType?: LocalJob['splitType'];
  readonly batchStrategy?: LocalJob['batchStrategy'];
  readonly assembleWith?: LocalJob['assembleWith'];
  readonly maxConcurrentTransforms?: number;
  readonly maxPayload?: number;
  readonly maxRetries?: number;
  readonly timeout?: number;
  readonly existing?: Existing;
  readonly maxFailurePercent?: number;
  readonly followLinks?: true;
  readonly report?: string;
  readonly json?: true;
}

/** `batch local`: what a SageMaker transform job does, on this machine. */
export function addBatchLocal(batch: Command): void {
  const local = batch
    .command('local')
    .description(
      'run a batch transform job over a folder on this machine; a second run does what is missing',
    )
    .argument('<folder>', 'input files, one request each unless they are split')
    .requiredOption('--out <folder>', 'where <name>.out files go')
    .option('--manifest <file>', 'manifest of the keys below the folder to do (default: all files)')
    .option('--follow-links', 'also read files that links outside the folder lead to');
  addRuntimeOptions(local);
  addRequestOptions(local);
  local
    .option('--report <file>', 'also write the result as one HTML page')
    .option('--json', 'print the result as JSON')
    .action(batchLocal);
  local.exitOverride();
}

function addRuntimeOptions(local: Command): void {
  local
    .addOption(
      new Option('--url <url>', 'a runtime that is already serving').conflicts([
        'model',
        'handler',
      ]),
    )
    .option('--model <source>', 'model directory or model.tar.gz to serve for the job')
    .option('--handler <file>', 'handler for a model directory');
}

/** Options that a transform job of SageMaker has too, under its names. */
function addRequestOptions(local: Command): void {
  local
    .option('--content-type <type>', "media type of the inputs (default: by their names' ending)")
    .option('--accept <type>', 'media type of the outputs')
    .option('--custom-attributes <text>', 'custom attributes of every request')
    .addOption(
      new Option('--split-type <type>', 'how a file is cut into records').choices(SPLIT_TYPES),
    )
    .addOption(
      new Option(
        '--batch-strategy <strategy>',
        "records in a request: one, or as many as --max-payload takes (default: the container's choice)",
      ).choices(BATCH_STRATEGIES),
    )
    .addOption(
      new Option(
        '--assemble-with <what>',
        'what follows the answer to each request of a split file (default: Line for JSON, None for other types)',
      ).choices(ASSEMBLIES),
    )
    .option(
      '--max-concurrent-transforms <number>',
      "requests in flight (default: the container's choice)",
      wholeNumber(),
    )
    .option(
      '--max-payload <MB>',
      "largest request, 0 for no limit (default: the container's choice)",
      wholeNumber(0),
    )
    .option(
      '--max-retries <number>',
      `tries after the first of a request that got 429, 5xx or no answer (default: ${DEFAULT_SETTINGS.invocationsMaxRetries})`,
      wholeNumber(0),
    )
    .option(
      '--timeout <seconds>',
      `time for one request (default: ${DEFAULT_SETTINGS.invocationsTimeoutInSeconds})`,
      wholeNumber(),
    )
    .addOption(
      new Option(
        '--existing <what>',
        'outputs that count as done: those not older than model, settings and input; all; none',
      )
        .choices(EXISTING)
        .default(DEFAULT_SETTINGS.existing),
    )
    .option(
      '--max-failure-percent <number>',
      'failed inputs of those tried, in percent, that end the job',
      wholeNumber(0, 100),
      DEFAULT_SETTINGS.maxFailurePercent,
    );
}

async function batchLocal(folder: string, options: BatchLocalOptions): Promise<void> {
  if (!options.url && !options.model) {
    throw usageError(
      'there is nothing to ask. Give --model SOURCE to serve, or --url of a runtime that is serving.',
    );
  }
  const abort = new AbortController();
  onInterrupt((name) => abort.abort(interrupted(name, 'Run it again to do the rest.')));
  const { requirePlace } = await import('../output/place.ts');
  if (options.report) await requirePlace('--report', options.report);
  const job = await run(folder, options, abort);
  const { result } = job;
  if (!options.json) await print(result);
  if (options.report) await report(options.report, folder, options, job);
  if (result.missing > 0) {
    throw new CommandError(
      'BATCH_INCOMPLETE',
      `${result.missing} of ${result.inputs} inputs have no output. ${result.redriveManifest} lists them for --manifest, ${result.redriveReasons} says why.`,
      { details: result },
    );
  }
  if (options.json) printResult(true, result, () => '');
}

/** For people in a terminal a view; a pipe gets the text. */
async function print(result: JobResult): Promise<void> {
  if (!process.stdout.isTTY) return printText(describeResult(result));
  const { jobLines } = await import('../terminal/job-lines.ts');
  printStyled((style) => jobLines(result, process.argv.slice(2), style));
}

/** What the report is made from. */
interface Job {
  readonly result: JobResult;
  readonly source: InputSource;
  readonly contentType: string;
  readonly rate: readonly (readonly [number, number])[];
  /** Custom attributes of the last answer. */
  readonly attributes: string;
}

async function run(
  folder: string,
  options: BatchLocalOptions,
  abort: AbortController,
): Promise<Job> {
  const { runLocalJob, sourceOf } = await import('../batch/local/agent.ts');
  const { countInputs } = await import('../batch/local/inputs.ts');
  const { typeOfInputs } = await import('../batch/local/input-type.ts');
  const { rateMeter } = await import('../batch/rate.ts');
  const { rateHistory } = await import('../batch/rate-history.ts');
  const places = {
    inputDirectory: folder,
    outputDirectory: options.out,
    ...(options.manifest !== undefined && { manifest: options.manifest }),
  };
  const source = await sourceOf(places);
  const total = await countInputs(source, options.manifest ?? folder);
  const contentType = options.contentType ?? (await typeOfInputs(source, options));
  refuseConflicts(settingsOf(options, contentType), [HEADER_CUT_OFF, ANSWERS_GLUED]);
  return withRuntime(options, abort, async (url, model) => {
    const bar = progress('inputs', total);
    const rate = rateMeter();
    const history = rateHistory();
    let attributes = '';
    const onProgress = ({ done, skipped, failed }: JobProgress) => {
      history.record(done + failed);
      const note = rate(done + failed, total - done - skipped - failed);
      bar.update(done + skipped + failed, failed > 0 ? `${note}, ${failed} failed` : note);
    };
    const job = {
      ...places,
      ...requestsOf(options),
      contentType,
      url,
      model,
      signal: abort.signal,
      onProgress,
      onAnswer: (text: string) => {
        attributes = text;
      },
    };
    const result = await runLocalJob(job).finally(bar.stop);
    return { result, source, contentType, rate: history.points(), attributes };
  });
}

function settingsOf(
  { splitType, accept, assembleWith }: BatchLocalOptions,
  contentType: string,
): Parameters<typeof refuseConflicts>[0] {
  return {
    contentType,
    ...(splitType && { splitType }),
    ...(accept !== undefined && { accept }),
    ...(assembleWith && { assembleWith }),
  };
}

async function report(
  file: string,
  folder: string,
  { out }: BatchLocalOptions,
  { source, attributes, ...job }: Job,
): Promise<void> {
  const { parseCustomAttributes } = await import('@sagemaker-tfs/client');
  const { writeWhole } = await import('../output/write-whole.ts');
  const { jobReport } = await import('../report/job-report.ts');
  const { runFacts } = await import('../bench/run-facts.ts');
  const page = await jobReport({
    ...job,
    ...(await meanSizes(source, out)),
    folder,
    out,
    run: runFacts(parseCustomAttributes(attributes)),
    words: process.argv.slice(2),
  });
  await writeWhole(file, page);
  remark(`written to ${file}`);
}

/** Inputs whose sizes are looked at. */
const SIZED = 100;

/** Mean bytes of the first inputs and of their outputs. */
async function meanSizes(source: InputSource, out: string) {
  const { stat } = await import('node:fs/promises');
  const { outputPath } = await import('../batch/local/outputs.ts');
  const sums = { inputs: 0, outputs: 0, count: 0 };
  for await (const { key, path } of source.list()) {
    const [input, output] = await Promise.all(
      [path, outputPath(out, key)].map((file) => stat(file).catch(() => undefined)),
    );
    if (!input || !output) continue;
    sums.inputs += input.size;
    sums.outputs += output.size;
    sums.count++;
    if (sums.count === SIZED) break;
  }
  const count = Math.max(1, sums.count);
  return { inputBytes: sums.inputs / count, outputBytes: sums.outputs / count };
}

/** Runs `work` against `--url`, or against a runtime of its own for `--model`. */
async function withRuntime<T>(
  options: BatchLocalOptions,
  abort: AbortController,
  work: (url: string, model: string) => Promise<T>,
): Promise<T> {
  if (options.url) {
    const url = options.url.replace(/\/$/, '');
    await requireListener(url);
    return work(url, '');
  }
  const { prepareModelRoot } = await import('../serving/model-root.ts');
  const { startRuntime } = await import('../serving/runtime-process.ts');
  const { modelDigest } = await import('@sagemaker-tfs/batch');
  const { runtimeLog } = await import('../terminal/runtime-log.ts');
  const root = await prepareModelRoot(options.model as string, options.handler, {
    signal: abort.signal,
    onStep: sayStep,
  });
  try {
    const model = await modelDigest(root.directory);
    const runtime = await startRuntime({
      modelDirectory: root.directory,
      source: options.model as string,
      environment: { SAGEMAKER_BATCH: 'true', SAGEMAKER_TFS_LOG_LEVEL: 'warn' },
      log: runtimeLog(),
      signal: abort.signal,
    });
    return await work(runtime.url, model).finally(runtime.stop);
  } finally {
    await root.cleanUp();
  }
}

/** A runtime that is busy may be late; where nobody listens there is nothing to wait for. @throws CommandError NO_RUNTIME */
async function requireListener(url: string): Promise<void> {
  const { nothingAnswers } = await import('./target.ts');
  const refused = await fetch(`${url}/ping`, { signal: AbortSignal.timeout(2_000) }).then(
    () => false,
    ({ cause }: { cause?: { code?: unknown } }) => cause?.code === 'ECONNREFUSED',
  );
  if (refused) throw nothingAnswers(url);
}

function requestsOf(options: BatchLocalOptions) {
  const { accept, customAttributes, splitType, batchStrategy, assembleWith } = options;
  const { maxConcurrentTransforms, maxPayload, maxRetries, timeout } = options;
  const { existing, maxFailurePercent, followLinks } = options;
  return {
    ...(accept !== undefined && { accept }),
    ...(customAttributes !== undefined && { customAttributes }),
    ...(splitType && { splitType }),
    ...(batchStrategy && { batchStrategy }),
    ...(assembleWith && { assembleWith }),
    ...(maxConcurrentTransforms !== undefined && { maxConcurrentTransforms }),
    ...(maxPayload !== undefined && { maxPayloadInMB: maxPayload }),
    ...(maxRetries !== undefined && { maxRetries }),
    ...(timeout !== undefined && { timeoutSeconds: timeout }),
    ...(existing && { existing }),
    ...(followLinks && { followLinks }),
    ...(maxFailurePercent !== undefined && { maxFailurePercent }),
  };
}

/** Failures that the summary lists before it only counts them. */
const LISTED = 20;

/** What a pipe gets. */
export function describeResult(result: JobResult): string {
  const { done, skipped, failed, seconds, failures, duplicates } = result;
  const lines = [
    `${done} done, ${skipped} done before, ${failed} failed in ${seconds.toFixed(1)} s (${rateText(done / seconds)})`,
    `${result.inputs - result.missing} of ${result.inputs} inputs have an output`,
  ];
  if (duplicates.length > 0) {
    const first = printable(`${duplicates[0]}`);
    lines.push(`the manifest repeats ${duplicates.length} keys, each done once: ${first}`);
  }
  if (failures.length > 0) {
    // Reasons are whole, so no table: one that is long would make every row as long.
    const listed = failures
      .slice(0, LISTED)
      .map((failure) => printable(`  ${failure.key}: ${reasonOf(failure)}`));
    lines.push(...listed);
  }
  if (failures.length > LISTED) lines.push(`and ${failed - LISTED} more; --json lists them`);
  return lines.join('\n');
}
