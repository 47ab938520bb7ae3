import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ShardFormatName, ShardReport } from '../batch/shards.ts';
import { CommandError, sentence } from '../errors.ts';
import { printResult, printText } from '../output/print.ts';
import { progress } from '../output/progress.ts';

interface PackOptions {
  readonly out: string;
  readonly format: ShardFormatName;
  readonly shardSize: number;
  readonly json?: true;
}

/** `batch pack` and `batch unpack`: a folder of images into shards of records, and back. */
export function addBatchShards(batch: Command): void {
  batch
    .command('pack')
    .description('pack the files of a folder into shards: far fewer objects and requests on S3')
    .argument('<folder>', 'files to pack, one record each')
    .requiredOption(
      '--out <folder>',
      'where shards go; the names of their records go to <folder>.keys',
    )
    .addOption(
      new Option('--format <format>', 'how records are framed')
        .choices(['tfrecord', 'recordio', 'length-prefixed'])
        .default('tfrecord'),
    )
    .option('--shard-size <size>', 'size of a shard, such as 64MB', byteSize, byteSize('64MB'))
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

const UNITS = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 } as const;

/** `64MB` in bytes. */
export function byteSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?) ?([KMG]?B)$/i.exec(text);
  if (!match) throw new InvalidArgumentError(`${text} is not a size such as 64MB.`);
  return Math.round(Number(match[1]) * UNITS[match[2]?.toUpperCase() as keyof typeof UNITS]);
}

async function pack(folder: string, options: PackOptions): Promise<void> {
  const { packFolder } = await import('../batch/shards.ts');
  const { countInputs, folderSource } = await import('../batch/local/inputs.ts');
  const bar = progress('files', await countInputs(folderSource(folder, options.out)));
  let done = 0;
  const report = await packFolder(folder, options.out, options.format, options.shardSize, () =>
    bar.update(++done),
  ).finally(bar.stop);
  if (!options.json) printText(describe(report));
  if (report.failures.length > 0) {
    const [first] = report.failures;
    throw new CommandError(
      'BATCH_INCOMPLETE',
      `${report.failures.length} files are in no shard, the first ${first?.key}: ${sentence(first?.message ?? '')}`,
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
  return `${records} records, ${(bytes / 1024 ** 2).toFixed(1)} MB, ${shards} shards`;
}
