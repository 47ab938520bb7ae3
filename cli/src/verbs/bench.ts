import { type Command, Option } from 'commander';
import { cannotRead } from '../errors.ts';
import { interruptSignal } from '../interrupt.ts';
import { ms, printResult, printStyled, table } from '../output/print.ts';
import { progress } from '../output/progress.ts';
import type { TransportResult } from '../serving/measure.ts';
import { wholeNumber } from './options.ts';
import { LOCAL_RUNTIME, type TargetOptions, targetOf, withHint } from './target.ts';

interface BenchOptions extends TargetOptions {
  readonly requests: number;
  readonly inFlight: number;
  readonly transport: string[];
  readonly contentType?: string;
  readonly accept?: string;
  readonly json?: true;
}

/** `bench`: sends a file again and again over each transport and tells how long the answers took. */
export function addBench(program: Command): void {
  program
    .command('bench')
    .description('latency and throughput of a runtime or an endpoint for one request body')
    .argument('<file>', 'the request body')
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
    .option('--json', 'print the result as JSON')
    .action(bench);
}

async function bench(file: string, options: BenchOptions): Promise<void> {
  const target = targetOf(options);
  const { readFile } = await import('node:fs/promises');
  const { measure } = await import('../serving/measure.ts');
  const { requireMediaType } = await import('../serving/media-type.ts');
  const body = await readFile(file).catch(cannotRead(file));
  const { requests, inFlight, accept, variant } = options;
  const signal = interruptSignal();
  const results: TransportResult[] = [];
  for (const transport of options.transport) {
    const bar = progress(transport, requests);
    const result = await measure({
      target,
      body,
      contentType: options.contentType ?? requireMediaType(file),
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
    results.push(result);
  }
  if (process.stdout.isTTY && !options.json) {
    const { benchLines } = await import('../terminal/bench-lines.ts');
    printStyled((style) => benchLines(results, options, style));
  } else printResult(options.json, results, () => describe(results));
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
