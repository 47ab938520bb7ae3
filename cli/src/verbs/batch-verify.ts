import type { Command } from 'commander';
import type { AwsClients } from '../batch/aws/clients.ts';
import type { Explained } from '../batch/aws/explain-missing.ts';
import type { VerifyReport } from '../batch/aws/verify.ts';
import { CommandError } from '../errors.ts';
import { printResult, printText, table } from '../output/print.ts';
import { printable } from '../output/printable.ts';
import { progress } from '../output/progress.ts';
import { JOB, placesOf, type Shared, shared } from './job-options.ts';
import { wholeNumber } from './options.ts';

/** `batch verify`: whether every input of a job has an output. */
export function addBatchVerify(batch: Command): void {
  shared(
    batch
      .command('verify')
      .description('check that every input of a job has an output; list those that have none')
      .argument('[job]', JOB)
      .option('--input-uri <s3 uri>', 'prefix or manifest, instead of a job')
      .option('--output-uri <s3 uri>', 'prefix of the outputs, instead of a job')
      .option('--redrive <file>', 'manifest of the missing inputs', 'redrive.manifest')
      .option('--sample <number>', 'outputs to look into', wholeNumber(0), 5)
      .option('--allow-empty', 'a place without inputs is complete'),
  ).action(verify);
}

async function verify(
  name: string | undefined,
  options: Shared & {
    inputUri?: string;
    outputUri?: string;
    redrive: string;
    sample: number;
    allowEmpty?: true;
  },
): Promise<void> {
  const { forManyReads, withAws } = await import('../batch/aws/clients.ts');
  const { describe } = await import('../batch/aws/transform-job.ts');
  const { placesSince } = await import('../batch/aws/origin.ts');
  const { verifyOutputs } = await import('../batch/aws/verify.ts');
  const { requirePlace } = await import('../output/place.ts');
  await requirePlace('--redrive', options.redrive, 'made');
  const look = async ({ s3, ...clients }: AwsClients): Promise<Verified> => {
    const job = name === undefined ? undefined : await describe(clients, name);
    const bar = progress('inputs', 0);
    const places = job ? await placesSince(s3, job) : placesOf(options.inputUri, options.outputUri);
    const found = await verifyOutputs(s3, places, {
      redriveManifest: options.redrive,
      samples: options.sample,
      accept: job?.accept,
      onProgress(inputs) {
        bar.update(inputs);
      },
    }).finally(bar.stop);
    if (found.inputs + found.gone === 0 && !options.allowEmpty) throw nothingAt(places.inputUri);
    // A sharded run keeps its own, below its folder.
    if (found.redriveManifest === undefined || !job || job.jobs) return found;
    const { explainMissing } = await import('../batch/aws/explain-missing.ts');
    const deadLetters = await explainMissing(job.name, found.redriveManifest, options.region);
    return { ...found, ...(deadLetters && { deadLetters }) };
  };
  const report = await withAws(options.region, look, { s3: forManyReads() });
  if (!options.json) printText(describeVerify(report));
  const bad = report.samples.filter(({ problem }) => problem !== undefined);
  if (report.missing > 0 || report.empty > 0 || bad.length > 0) {
    const missing = report.missing > 0 ? `, which ${report.redriveManifest} lists` : '';
    throw new CommandError(
      'BATCH_INCOMPLETE',
      `${report.missing} of ${report.inputs} inputs have no output, ${report.empty} outputs are empty, ${bad.length} of ${report.samples.length} samples are wrong. Run what is missing again${missing}.`,
      { details: report },
    );
  }
  if (options.json) printResult(true, report, () => '');
}

/** A place that is named wrongly would pass any check. */
function nothingAt(inputUri: string): CommandError {
  return new CommandError(
    'INPUT_EMPTY',
    `there is no input at ${inputUri}, so nothing was verified. Check the place, or give --allow-empty.`,
  );
}

type Verified = VerifyReport & { readonly deadLetters?: Explained };

function describeVerify(report: Verified): string {
  const { inputs, done, missing, stale, empty, older, gone, samples, firstMissing } = report;
  const lines = [`${done} of ${inputs} inputs have an output; ${empty} are empty`];
  for (const [code, count] of Object.entries(report.failures ?? {})) {
    lines.push(`${count} inputs have the error ${printable(code)} instead of an answer`);
  }
  if (gone > 0)
    lines.push(`${gone} were deleted before the worker came to them: no inputs any more`);
  if (older > 0)
    lines.push(`${older} outputs are older than their input, which was replaced since`);
  if (stale > 0) lines.push(`${stale} outputs were made by another model or other settings`);
  lines.push(...firstMissing.map((key) => `  no output: ${printable(key)}`));
  if (missing > firstMissing.length) lines.push(`  and ${missing - firstMissing.length} more`);
  const { deadLetters } = report;
  if (deadLetters) {
    const counts = Object.entries(deadLetters.codes).map(
      ([code, count]) => `${count} ${printable(code)}`,
    );
    const cut = deadLetters.cut ? `; its log was not read to the end: ${deadLetters.cut}` : '';
    lines.push(`reasons from the log: ${counts.join(', ')}, in ${deadLetters.file}${cut}`);
  }
  const { orphans = 0, firstOrphans = [] } = report;
  if (orphans > 0) lines.push(`${orphans} outputs have no input`);
  lines.push(...firstOrphans.map((key) => `  no input: ${printable(key)}`));
  if (orphans > firstOrphans.length) lines.push(`  and ${orphans - firstOrphans.length} more`);
  if (samples.length > 0) {
    lines.push(
      table(
        ['sample', 'bytes', 'begins'],
        samples.map(({ key, bytes, start, problem }) => [key, bytes, problem ?? start]),
      ),
    );
  }
  return lines.join('\n');
}
