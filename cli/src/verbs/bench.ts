import type { Target } from '@sagemaker-tfs/client';
import { type Command, Option } from 'commander';
import type { BenchRun, TransportResult } from '../bench/bench-run.ts';
import { cannotRead, usageError } from '../errors.ts';
import { interruptSignal } from '../interrupt.ts';
import { ms, printResult, printStyled, table } from '../output/print.ts';
import { progress } from '../output/progress.ts';
import { remark } from '../output/quiet.ts';
import { wholeNumber } from './options.ts';
import { LOCAL_RUNTIME, type TargetOptions, targetOf, withHint } from './target.ts';

interface BenchOptions extends TargetOptions {
  readonly requests: number;
  readonly inFlight: number;
  readonly transport: string[];
  readonly contentType?: string;
  readonly accept?: string;
  readonly report?: string;
  readonly compare?: string[];
  readonly json?: true;
}

/** `bench`: sends a file again and again over each transport and tells how long the answers took. */
export function addBench(program: Command): void {
  program
    .command('bench')
    .description('latency and throughput of a runtime or an endpoint for one request body')
    .argument('[file]', 'the request body')
    .option('--url <url>', `the runtime (default: ${LOCAL_RUNTIME})`)
    .option('--endpoint <name>', 'a SageMaker endpoint instead')
    .option('--region <region>', "the endpoint's region (default: AWS_REGION or the profile's)")
    .option('--variant <name>', "one of the endpoint's production variants")
    .option('--requests <number>', 'requests over each transport', wholeNumber(), 100)
    .option('--in-flight <number>', 'requests at a time', wholeNumber(), 1)
    .addOption(
      new Option(
        '--transport <kinds...>',
        "how the runtime reaches the model (default: the runtime's own)",
      )
        .choices(['grpc', 'rest', 'own'])
        .default(['own']),
    )
    .option('--content-type <type>', "media type of the file (default: by its name's ending)")
    .option('--accept <type>', 'media type of the answers')
    .option('--report <file>', 'also write the result as one HTML page')
    .option(
      '--compare <files...>',
      'instead, compare results of bench --json, BEFORE AFTER: how much faster or slower, and whether it is noise; each one file, or three or more with commas',
    )
    .option('--json', 'print the result as JSON, for --compare')
    .action(run);
}

async function run(file: string | undefined, options: BenchOptions): Promise<void> {
  if (options.compare) return compare(options.compare, file, options);
  if (file === undefined) {
    throw usageError('the request body is missing. Name a file, or give --compare BEFORE AFTER.');
  }
  const { requirePlace } = await import('../output/place.ts');
  const { writeWhole } = await import('../output/write-whole.ts');
  if (options.report) await requirePlace('--report', options.report);
  const measured = await bench(file, options);
  if (process.stdout.isTTY && !options.json) {
    const { benchLines } = await import('../terminal/bench-lines.ts');
    printStyled((style) => benchLines(measured.results, options, style));
  } else printResult(options.json, measured, () => describe(measured.results));
  if (options.report) {
    const { benchReport } = await import('../report/bench-report.ts');
    await writeWhole(options.report, await benchReport(measured, process.argv.slice(2)));
    remark(`written to ${options.report}`);
  }
}

async function bench(file: string, options: BenchOptions): Promise<BenchRun> {
  const target = targetOf(options);
  const { readFile } = await import('node:fs/promises');
  const { createHash } = await import('node:crypto');
  const { runFacts } = await import('../bench/run-facts.ts');
  const { requireMediaType } = await import('../serving/media-type.ts');
  const body = await readFile(file).catch(cannotRead(file));
  const { requests, inFlight, accept } = options;
  const contentType = options.contentType ?? requireMediaType(file);
  const { results, attributes } = await overTransports(target, { body, contentType }, options);
  return {
    ...runFacts(attributes),
    target: 'url' in target ? target.url : target.endpointName,
    request: {
      file,
      bytes: body.byteLength,
      sha256: createHash('sha256').update(body).digest('hex'),
      contentType,
      ...(accept && { accept }),
      requests,
      inFlight,
    },
    results,
  };
}

async function overTransports(
  target: Target,
  what: { readonly body: Uint8Array; readonly contentType: string },
  options: BenchOptions,
) {
  const { measure } = await import('../serving/measure.ts');
  const { requests, inFlight, accept, variant } = options;
  const signal = interruptSignal();
  const over = async (transport: string) => {
    const bar = progress(transport === 'own' ? 'requests' : transport, requests);
    return measure({
      target,
      ...what,
      ...(accept && { accept }),
      ...(variant && { variant }),
      transport,
      requests,
      inFlight,
      signal,
      onDone: (done) => bar.update(done),
    })
      .catch((error: unknown) => {
        throw withHint(error, target);
      })
      .finally(() => bar.stop());
  };
  const [first = 'own', ...others] = options.transport;
  const { result, attributes } = await over(first);
  const results: BenchRun['results'] = [result];
  for (const transport of others) results.push((await over(transport)).result);
  return { results, attributes };
}

/** @throws CommandError USAGE, FILE_NOT_FOUND, RUN_INVALID */
async function compare(
  files: readonly string[],
  file: string | undefined,
  { json, report }: BenchOptions,
): Promise<void> {
  const [before, after, ...more] = files.map((names) => names.split(',').filter(Boolean));
  if (!before?.length || !after?.length || more.length > 0 || file !== undefined) {
    throw usageError(
      '--compare takes two results of bench --json and no other file. Write --compare BEFORE AFTER.',
    );
  }
  if (report) throw usageError('--compare and --report exclude each other. Give one.');
  const { readBenchRun } = await import('../bench/bench-run.ts');
  const { compareRuns, differencesOf, ENOUGH_RUNS } = await import('../bench/compare.ts');
  const { comparisonLines } = await import('../terminal/comparison-lines.ts');
  if (
    (before.length > 1 || after.length > 1) &&
    Math.min(before.length, after.length) < ENOUGH_RUNS
  ) {
    throw usageError(
      `--compare got ${before.length} runs before and ${after.length} after. Give one of each, or at least ${ENOUGH_RUNS}.`,
    );
  }
  const runs = [
    await Promise.all(before.map(readBenchRun)),
    await Promise.all(after.map(readBenchRun)),
  ] as const;
  const comparisons = compareRuns(...runs);
  const differences = differencesOf(...runs);
  if (comparisons.length === 0) {
    throw usageError(
      'the two runs have no transport in common. Run bench with the same --transport.',
    );
  }
  if (json) printResult(json, { comparisons, differences }, () => '');
  else printStyled((style) => comparisonLines(comparisons, differences, before.length, style));
}

/** In a pipe. */
function describe(results: readonly TransportResult[]): string {
  return table(
    ['transport', 'mean ms', 'P50', 'P90', 'P95', 'P99', 'first', 'requests/s', 'answer bytes'],
    results.map(({ transport, latency, firstMs, requestsPerSecond, responseBytes }) => [
      transport,
      ...[latency.mean, latency.p50, latency.p90, latency.p95, latency.p99, firstMs].map(ms),
      requestsPerSecond.toFixed(1),
      responseBytes,
    ]),
  );
}
