import {
  MEGABYTE,
  PACK_FORMATS,
  PARTS_FOLDER,
  type PackFormat,
  WORKER_DEFAULTS,
} from '@sagemaker-tfs/batch';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ShardReport } from '../batch/shards.ts';
import { outputsAsInputs } from '../batch/worker/outputs-as-inputs.ts';
import { CommandError, usageError } from '../errors.ts';
import { commandName } from '../output/command-name.ts';
import { printResult, printText } from '../output/print.ts';
import { progress } from '../output/progress.ts';
import { warn } from '../output/warn.ts';
import { describeCounts, runWorkerWithBar } from './run-worker-with-bar.ts';

interface PackOptions {
  readonly out: string;
  readonly format: PackFormat;
  readonly shardSize: number;
  readonly keySuffix?: string;
  readonly inventory?: string;
  readonly share?: string;
  readonly ranges?: string;
  readonly budgetHours?: string;
  readonly region?: string;
  readonly followLinks?: true;
  readonly json?: true;
}

/** `batch pack` and `batch unpack`: a folder of images into shards of records, and back. */
export function addBatchShards(batch: Command): void {
  batch
    .command('pack')
    .description('pack many small files into shards: far fewer objects and requests on S3')
    .argument('<from>', 'files to pack, one record each: a folder, or a prefix or manifest of S3')
    .requiredOption(
      '--out <place>',
      'where shards go: a folder (the names of their records go to <folder>.keys), or a prefix of S3',
    )
    .addOption(
      new Option('--format <format>', 'how records are framed')
        .choices(PACK_FORMATS)
        .default('tfrecord'),
    )
    .option(
      '--shard-size <size>',
      'most bytes of a shard, such as 64MB; a record that has more is a shard of its own',
      byteSize,
      WORKER_DEFAULTS.partMb * MEGABYTE,
    )
    .option(
      '--key-suffix <text>',
      'of S3, end of the keys that are taken, such as .jpg (default: all)',
    )
    .option(
      '--inventory <s3 uri>',
      'of S3, manifest.json of an S3 inventory in CSV that lists the files (default: the prefix is listed)',
    )
    .option(
      '--share <part>',
      'of S3, the part of one of several processes, such as 1/4 (default: all)',
    )
    .option(
      '--ranges <number>',
      `of S3, ranges that the first process cuts the keys into (default: ${WORKER_DEFAULTS.ranges})`,
    )
    .option(
      '--budget-hours <number>',
      'of S3, hours of all processes together, restarts included, after which they end (default: no limit)',
    )
    .option('--region <region>', 'default: the one of the environment')
    .option('--follow-links', 'of a folder, also pack files that links outside of it lead to')
    .option('--json', 'print the result as JSON')
    .action(pack)
    .exitOverride();
  batch
    .command('unpack')
    .description('unpack shards into files')
    .argument('<shard...>', '.tfrecord, .rec or .bin files')
    .requiredOption('--out <folder>', 'where files go')
    .option('--json', 'print the result as JSON')
    .action(unpack)
    .exitOverride();
}

const UNITS = { B: 1, KB: 1024, MB: MEGABYTE, GB: 1024 * MEGABYTE } as const;

/** `64MB`, or a plain number, in bytes. */
export function byteSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?) ?([KMG]?B)?$/i.exec(text);
  if (!match) throw new InvalidArgumentError(`${text} is not a size such as 64MB.`);
  return Math.round(
    Number(match[1]) * UNITS[(match[2] ?? 'B').toUpperCase() as keyof typeof UNITS],
  );
}

async function pack(from: string, options: PackOptions): Promise<void> {
  const onS3 = [from, options.out].filter((place) => place.startsWith('s3://')).length;
  if (onS3 === 1) {
    throw usageError(
      'one place is a folder and the other on S3. Give two folders, or two prefixes.',
    );
  }
  if (onS3 === 2) {
    if (options.followLinks) throw usageError('--follow-links is for a folder. Leave it out.');
    return packOnS3(from, options);
  }
  for (const name of [
    'keySuffix',
    'inventory',
    'share',
    'ranges',
    'budgetHours',
    'region',
  ] as const) {
    if (options[name] === undefined) continue;
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw usageError(`--${flag} is for inputs on S3. Leave it out.`);
  }
  return packFiles(from, options);
}

const MAX_SHARD = UNITS.GB;

/** The worker, without a model. */
async function packOnS3(from: string, options: PackOptions): Promise<void> {
  const { format, shardSize, keySuffix, inventory, share, ranges, budgetHours, region, json } =
    options;
  if (shardSize < 1 || shardSize > MAX_SHARD) {
    throw usageError('--shard-size is too large for shards on S3. Give 1B to 1GB.');
  }
  const args = Object.entries({
    input: from,
    output: options.out,
    pack: format,
    'part-mb': shardSize / UNITS.MB,
    'key-suffix': keySuffix,
    inventory,
    share,
    ranges,
    'budget-hours': budgetHours,
  });
  const remark = outputsAsInputs(from, options.out, keySuffix);
  if (remark !== undefined) warn(remark);
  const report = await runWorkerWithBar({
    region,
    args: args.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
  });
  if (report.failures > 0) {
    throw new CommandError(
      'BATCH_INCOMPLETE',
      `${report.failures} objects are in no shard, ${report.answers} are. ${commandName()} batch verify --input-uri ${from} --output-uri ${options.out} lists them.`,
      { details: report },
    );
  }
  printResult(
    json,
    report,
    () =>
      `${describeCounts(report, `${report.answers} objects packed`)}. Shards: ${options.out.replace(/\/?$/, '/')}${PARTS_FOLDER}`,
  );
}

async function packFiles(folder: string, options: PackOptions): Promise<void> {
  const { packFolder } = await import('../batch/shards.ts');
  const { countInputs, folderSource } = await import('../batch/local/inputs.ts');
  const bar = progress('files', await countInputs(folderSource(folder, options.out), folder));
  let done = 0;
  const report = await packFolder(folder, options.out, {
    format: options.format,
    shardBytes: options.shardSize,
    followLinks: options.followLinks,
    onRecord: () => bar.update(++done),
  }).finally(bar.stop);
  if (!options.json) printText(describe(report));
  if (report.failures.length > 0) {
    const [first] = report.failures;
    throw new CommandError(
      'BATCH_INCOMPLETE',
      `${report.failures.length} files are in no shard, the first ${first?.key}: ${sentence(first?.message ?? '')} Mend them, then pack again.`,
      { details: report },
    );
  }
  if (options.json) printResult(true, report, () => '');
}

async function unpack(shards: string[], options: { out: string; json?: true }): Promise<void> {
  const { unpackShards } = await import('../batch/shards.ts');
  const report = await unpackShards(shards, options.out);
  printResult(options.json, report, () => describe(report));
}

function describe({ records, bytes, shards }: ShardReport): string {
  return `${records} records, ${(bytes / UNITS.MB).toFixed(1)} MB, ${shards} shards`;
}
