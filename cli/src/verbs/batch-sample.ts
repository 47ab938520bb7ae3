import { isManifest } from '@sagemaker-tfs/batch';
import type { Command } from 'commander';
import { usageError } from '../errors.ts';
import { commandName } from '../output/command-name.ts';
import { printResult } from '../output/print.ts';
import { whileWaiting } from '../output/progress.ts';
import { type Shared, shared } from './job-options.ts';
import { wholeNumber } from './options.ts';

interface SampleVerbOptions extends Shared {
  readonly inputUri: string;
  readonly out: string;
  readonly count: number;
  readonly keySuffix?: string;
}

/** `batch sample`: a manifest of a few inputs, for a dry run. */
export function addBatchSample(batch: Command): void {
  shared(
    batch
      .command('sample')
      .description(
        'write a manifest of a few inputs at random: a run over it shows what the whole would do',
      )
      .requiredOption('--input-uri <s3 uri>', 'prefix or manifest of the inputs')
      .requiredOption('--out <s3 uri>', 'the manifest to write; its name ends in .manifest')
      .option('--count <number>', 'how many inputs', wholeNumber(1, 10_000), 100)
      .option('--key-suffix <text>', 'end of the keys that are taken, such as .jpg (default: all)'),
  ).action(sample);
}

async function sample({ inputUri, out, count, keySuffix, region, json }: SampleVerbOptions) {
  if (!isManifest(out)) throw usageError(`--out is ${out}. Give a name that ends in .manifest.`);
  const { withAws } = await import('../batch/aws/clients.ts');
  const { sampleInputs } = await import('../batch/aws/sample.ts');
  const report = await whileWaiting(`Listing ${inputUri}`, () =>
    withAws(region, ({ s3 }) => sampleInputs(s3, { inputUri, keySuffix, count, manifestUri: out })),
  );
  printResult(
    json,
    report,
    () =>
      `${report.inputs} inputs in ${report.manifest}. Run them with: ${commandName()} batch start --model-name MODEL --input-uri ${report.manifest} --output-uri S3-URI`,
  );
}
