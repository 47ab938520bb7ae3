import { existsSync } from 'node:fs';
import { parseShare, SAGEMAKER_NAME } from '@sagemaker-tfs/batch';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AwsClients } from '../batch/aws/clients.ts';
import type { DeadLetters } from '../batch/aws/fetch/dead-letters.ts';
import type { FetchReport } from '../batch/aws/fetch/fetch.ts';
import type { PartsOptions, PartsReport } from '../batch/aws/fetch/in-parts.ts';
import type { FetchPlaces } from '../batch/aws/fetch/input-prefix.ts';
import type { RangedOutputs } from '../batch/aws/fetch/source.ts';
import type { FileFormat } from '../batch/aws/fetch/write-file.ts';
import { CommandError, namingFile, usageError } from '../errors.ts';
import { printResult } from '../output/print.ts';
import { progress } from '../output/progress.ts';
import { placesOf, type Shared, shared } from './job-options.ts';
import { wholeNumber } from './options.ts';

/** `batch fetch`: the outputs of a job as one file or, with `--part-keys`, as many. */
export function addBatchFetch(batch: Command): void {
  shared(
    batch
      .command('fetch')
      .description('stream the outputs of a job into one file')
      .argument(
        '<from>',
        'transform job, ARN of an execution, S3 prefix (s3://...) or folder of a local job',
      )
      .requiredOption('--out <file>', 'the file to write, or with --part-keys the folder')
      .option(
        '--input-uri <s3 uri>',
        'prefix or manifest of the inputs of an S3 prefix: for the manifest of those with errors, and the names of packed ones',
      )
      .option(
        '--packed <folder>',
        'folder of packed inputs whose answers a local job has written: each gets its name back',
      )
      .option(
        '--accept <type>',
        'media type of the outputs: text/csv makes a row of each record. Default: that of the job; of an S3 prefix the outputs themselves decide',
      )
      .addOption(
        new Option(
          '--format <format>',
          'default: by the end of the name, of files in a folder ndjson',
        ).choices(['ndjson', 'csv', 'parquet']),
      )
      .option(
        '--join <file>',
        'CSV, JSON Lines or Parquet with what else is known of the inputs: a row for each key, in memory',
      )
      .option('--on <column>', 'column of that file with the keys, as answers have them', 'key')
      .option(
        '--part-keys <number>',
        'write files with this number of outputs (a part of a worker is never cut), from many ranges of keys at once; the same command again continues after an interruption',
        wholeNumber(),
      )
      .option(
        '--partition-by <column>',
        'with --part-keys and --format parquet, a folder for each value of a column, or of the first folder of the keys (folder), so that a query reads only those that it asks for',
      )
      .addOption(
        new Option(
          '--share <n/m>',
          'with --part-keys, the part of one of several processes that write into the same folder: 1/4 to 4/4',
        ).argParser(shareOf),
      ),
  ).action(fetch);
}

interface FetchOptions extends Shared {
  readonly out: string;
  readonly format?: FileFormat;
  readonly partKeys?: number;
  readonly inputUri?: string;
  readonly packed?: string;
  readonly accept?: string;
  readonly share?: PartsOptions['share'];
  readonly join?: string;
  readonly on: string;
  readonly partitionBy?: string;
}

async function metadataOf({ join, on }: FetchOptions) {
  if (join === undefined) return undefined;
  const { readMetadata } = await import('../batch/aws/fetch/metadata.ts');
  return readMetadata(join, on);
}

function shareOf(text: string): PartsOptions['share'] {
  const share = parseShare(text);
  if (share) return share;
  throw new InvalidArgumentError(`${text} is no share. Give 1/4 for the first of four.`);
}

/** What both ways of fetching take. */
type Common = Pick<PartsOptions, 'format' | 'metadata' | 'onProgress'>;

async function fetch(from: string, options: FetchOptions): Promise<void> {
  const isHere = isFolder(from);
  checkTogether(from, isHere, options);
  const { out, partKeys } = options;
  const format = options.format ?? (partKeys === undefined ? formatOf(out) : 'ndjson');
  const { requirePlace } = await import('../output/place.ts');
  if (partKeys === undefined) await requirePlace('--out', out, 'made');
  const metadata = await metadataOf(options);
  const bar = progress('outputs', 0);
  const common: Common = {
    format,
    metadata,
    onProgress(outputs) {
      bar.update(outputs);
    },
  };
  const report = await (isHere ? fromFolder(from, options, common) : fromS3(from, options, common))
    .catch(namingFile(out))
    .finally(bar.stop);
  printResult(options.json, report, () => describeFetch(report));
}

/** @throws CommandError USAGE for options that do not go together: a folder of a local job is one process's work */
function checkTogether(
  from: string,
  isHere: boolean,
  { partKeys, share, packed, partitionBy, format }: FetchOptions,
): void {
  if (partitionBy !== undefined && (partKeys === undefined || format !== 'parquet')) {
    throw usageError('--partition-by needs --part-keys and --format parquet. Give all three.');
  }
  if (partKeys === undefined) {
    if (share) throw usageError('--share needs --part-keys. Give both.');
    return;
  }
  if (packed !== undefined) {
    throw usageError('--packed is for the folder of a local job. Leave it out.');
  }
  if (isHere) throw usageError(`${from} is a folder, and --part-keys is for S3. Leave it out.`);
}

async function fromFolder(
  folder: string,
  { out: file, packed, accept }: FetchOptions,
  common: Common,
): Promise<FetchReport> {
  const { fetchOutputs } = await import('../batch/aws/fetch/fetch.ts');
  const { packedInFolder } = await import('../batch/aws/fetch/packed-names.ts');
  const { folderOutputs } = await import('../batch/aws/fetch/source.ts');
  const names = packed === undefined ? undefined : packedInFolder(packed);
  return fetchOutputs(folderOutputs(folder, { packed: names, accept }), { ...common, file });
}

async function fromS3(
  from: string,
  options: FetchOptions,
  common: Common,
): Promise<FetchReport | PartsReport> {
  const { forManyReads, withAws } = await import('../batch/aws/clients.ts');
  const { inputPrefix } = await import('../batch/aws/fetch/input-prefix.ts');
  const { packedOnS3 } = await import('../batch/aws/fetch/packed-names.ts');
  const { inOrder, rangedOutputs } = await import('../batch/aws/fetch/source.ts');
  const { out, partKeys, partitionBy, share = { index: 0, of: 1 } } = options;
  return withAws(
    options.region,
    async ({ s3, ...clients }) => {
      const places = await placesToFetch(clients, from, options);
      const { inputUri, outputUri, accept } = places;
      const packed = inputUri === undefined ? undefined : await packedOnS3(s3, inputUri);
      const outputs = await rangedOutputs(s3, outputUri, { packed, accept });
      const { undone } = outputs;
      // What a folder was planned for it holds at the end: nothing more is looked for.
      if (undone && partKeys !== undefined) throw notDone(undone, '');
      const how = { ...common, inputPrefix: packed?.prefix ?? (await inputPrefix(s3, places)) };
      if (partKeys === undefined) {
        const { fetchOutputs } = await import('../batch/aws/fetch/fetch.ts');
        const report = await fetchOutputs(inOrder(outputs), { ...how, file: out });
        if (undone) throw notDone(undone, `${out} holds what is there so far. `, report);
        return report;
      }
      const { fetchInParts } = await import('../batch/aws/fetch/in-parts.ts');
      return fetchInParts(outputs, {
        ...{ ...how, from: outputUri, folder: out, partKeys, partitionBy, share },
      });
    },
    partKeys === undefined ? {} : { s3: forManyReads() },
  );
}

/** Of a worker's run that has not come to its end. */
function notDone(
  { ranges, of }: NonNullable<RangedOutputs['undone']>,
  held: string,
  details?: FetchReport,
): CommandError {
  return new CommandError(
    'BATCH_INCOMPLETE',
    `the worker's run is not complete: ${ranges} of ${of} ranges of keys are not done. ${held}Run the worker again, which continues, then fetch.`,
    { ...(details && { details }) },
  );
}

/** Whether the outputs lie in a folder here. @throws CommandError USAGE if it can be neither a folder nor anything on AWS */
function isFolder(from: string): boolean {
  if (from.startsWith('s3://') || from.startsWith('arn:')) return false;
  if (existsSync(from)) return true;
  if (SAGEMAKER_NAME.test(from)) return false;
  throw usageError(
    `there is no folder ${from}, and no job can have that name. Check the path, or give the name of a job or an s3:// prefix.`,
  );
}

/** Of a place, the inputs are known by `--input-uri`, or by what a worker has written there. */
async function placesToFetch(
  clients: Pick<AwsClients, 'sfn' | 'sagemaker'>,
  from: string,
  { inputUri, accept }: Pick<FetchOptions, 'inputUri' | 'accept'>,
): Promise<FetchPlaces> {
  if (from.startsWith('s3://')) {
    const places = inputUri === undefined ? { outputUri: from } : placesOf(inputUri, from);
    return { ...places, accept };
  }
  const { describe } = await import('../batch/aws/transform-job.ts');
  const { awsError } = await import('../batch/aws/aws-error.ts');
  const job = await describe(clients, from).catch((error: unknown) => {
    throw noFolderEither(from, awsError(error));
  });
  return { ...job, accept: accept ?? job.accept };
}

/** A folder that is not there has the form of a job's name. */
function noFolderEither(from: string, error: unknown): unknown {
  if (!(error instanceof CommandError) || from.startsWith('arn:')) return error;
  const { code, message, cause, details } = error;
  return new CommandError(
    code,
    `there is no folder ${from} here, so it is taken for a transform job. ${message} Check the path.`,
    { cause, details },
  );
}

function describeFetch(report: FetchReport | PartsReport): string {
  const errors = report.errors > 0 ? ` and ${report.errors} errors` : '';
  const counts = `${report.answers} answers${errors} of ${report.outputs} outputs`;
  const empty = report.empty > 0 ? `\n${report.empty} outputs are empty, and have no row` : '';
  return `${counts} in ${describePlace(report)}${empty}${describeLetters(report.deadLetters)}`;
}

function describePlace(report: FetchReport | PartsReport): string {
  if ('file' in report) return report.file;
  const rest = report.complete ? '' : ' so far: other shares are not done';
  return `${report.files} files of ${report.folder}${rest}`;
}

function describeLetters(found: DeadLetters | undefined): string {
  if (!found) return '';
  const { letters, inputs, files, redriveManifest } = found;
  const where = files.length === 1 ? files[0] : `${files.length} files such as ${files[0]}`;
  const list = redriveManifest ? `; ${redriveManifest} lists the inputs` : '';
  return `\n${letters} errors in ${inputs} of the inputs, in ${where}${list}`;
}

function formatOf(file: string): FileFormat {
  const end = /\.(ndjson|jsonl|csv|parquet)$/.exec(file)?.[1];
  if (!end) throw usageError(`${file} does not end in .ndjson, .csv or .parquet. Give --format.`);
  return end === 'jsonl' ? 'ndjson' : (end as FileFormat);
}
