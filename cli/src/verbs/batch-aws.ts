import { existsSync } from 'node:fs';
import { isManifest, parseShare, SAGEMAKER_NAME } from '@sagemaker-tfs/batch';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AwsClients } from '../batch/aws/clients.ts';
import type { Explained } from '../batch/aws/explain-missing.ts';
import type { DeadLetters } from '../batch/aws/fetch/dead-letters.ts';
import type { PartsOptions } from '../batch/aws/fetch/in-parts.ts';
import type { FetchPlaces } from '../batch/aws/fetch/input-prefix.ts';
import type { FileFormat } from '../batch/aws/fetch/write-file.ts';
import type { TransformPlaces } from '../batch/aws/transform-places.ts';
import type { VerifyReport } from '../batch/aws/verify.ts';
import { CommandError, usageError } from '../errors.ts';
import { printResult, printText, table } from '../output/print.ts';
import { progress } from '../output/progress.ts';
import { addWatch } from './batch-watch.ts';
import { ANY_JOB, type Engine, engineOption, JOB, type Shared, shared } from './job-options.ts';
import { wholeNumber } from './options.ts';

/** `batch watch`, `verify`, `fetch` and `stop`: what concerns a job that was started. */
export function addBatchAws(batch: Command): void {
  addWatch(batch);
  shared(
    batch
      .command('verify')
      .description('check that every input of a job has an output; list those that have none')
      .argument('[job]', JOB)
      .option('--input-uri <s3 uri>', 'prefix or manifest, instead of a job')
      .option('--output-uri <s3 uri>', 'prefix of the outputs, instead of a job')
      .option('--redrive <file>', 'manifest of the missing inputs', 'redrive.manifest')
      .option('--sample <number>', 'outputs to look into', wholeNumber(0), 5),
  ).action(verify);
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
        'write files with this number of outputs, from many ranges of keys at once; the same command again continues after an interruption',
        wholeNumber(),
      )
      .addOption(
        new Option(
          '--share <n/m>',
          'with --part-keys, the part of one of several processes that write into the same folder: 1/4 to 4/4',
        ).argParser(shareOf),
      ),
  ).action(fetchInto);
  shared(
    batch
      .command('stop')
      .description('stop a job or an execution; outputs that are written stay')
      .argument('<job>', ANY_JOB)
      .addOption(engineOption()),
  ).action(stop);
}

async function verify(
  name: string | undefined,
  options: Shared & { inputUri?: string; outputUri?: string; redrive: string; sample: number },
): Promise<void> {
  const { withAws } = await import('../batch/aws/clients.ts');
  const { describe } = await import('../batch/aws/transform-job.ts');
  const { placesSince } = await import('../batch/aws/origin.ts');
  const { verifyOutputs } = await import('../batch/aws/verify.ts');
  const report = await withAws(options.region, async ({ s3, ...clients }): Promise<Verified> => {
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
    // A sharded run keeps its own, below its folder.
    if (found.redriveManifest === undefined || !job || job.jobs) return found;
    const { explainMissing } = await import('../batch/aws/explain-missing.ts');
    const deadLetters = await explainMissing(job.name, found.redriveManifest, options.region);
    return { ...found, ...(deadLetters && { deadLetters }) };
  });
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

type Verified = VerifyReport & { readonly deadLetters?: Explained };

function placesOf(inputUri?: string, outputUri?: string): TransformPlaces {
  if (!inputUri || !outputUri)
    throw usageError(
      'neither a job nor a place is named. Name a job, or give --input-uri and --output-uri.',
    );
  const dataType = isManifest(inputUri) ? 'ManifestFile' : 'S3Prefix';
  return { inputUri, outputUri, dataType };
}

function describeVerify(report: Verified): string {
  const { inputs, done, missing, stale, empty, samples, firstMissing } = report;
  const lines = [`${done} of ${inputs} inputs have an output; ${empty} are empty`];
  for (const [code, count] of Object.entries(report.failures ?? {})) {
    lines.push(`${count} inputs have the error ${code} instead of an answer`);
  }
  if (stale > 0) lines.push(`${stale} outputs were made by another model or other settings`);
  lines.push(...firstMissing.map((key) => `  no output: ${key}`));
  if (missing > firstMissing.length) lines.push(`  and ${missing - firstMissing.length} more`);
  const { deadLetters } = report;
  if (deadLetters) {
    const counts = Object.entries(deadLetters.codes).map(([code, count]) => `${count} ${code}`);
    const cut = deadLetters.cut ? `; its log was not read to the end: ${deadLetters.cut}` : '';
    lines.push(`reasons from the log: ${counts.join(', ')}, in ${deadLetters.file}${cut}`);
  }
  const { orphans = 0, firstOrphans = [] } = report;
  if (orphans > 0) lines.push(`${orphans} outputs have no input`);
  lines.push(...firstOrphans.map((key) => `  no input: ${key}`));
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

/** @throws CommandError USAGE for a folder of a local job, which is one process's work */
async function fetchParts(from: string, partKeys: number, options: FetchOptions): Promise<void> {
  const { forManyReads, withAws } = await import('../batch/aws/clients.ts');
  const { inputPrefix } = await import('../batch/aws/fetch/input-prefix.ts');
  const { fetchInParts } = await import('../batch/aws/fetch/in-parts.ts');
  const { packedOnS3 } = await import('../batch/aws/fetch/packed-names.ts');
  const { rangedOutputs } = await import('../batch/aws/fetch/source.ts');
  const { out: folder, format = 'ndjson', share = { index: 0, of: 1 } } = options;
  if (options.packed !== undefined)
    throw usageError('--packed is for the folder of a local job. Leave it out.');
  if (isFolder(from)) {
    throw usageError(`${from} is a folder, and --part-keys is for S3. Leave it out.`);
  }
  const metadata = await metadataOf(options);
  const bar = progress('outputs', 0);
  const report = await withAws(
    options.region,
    async ({ s3, ...clients }) => {
      const places = await placesToFetch(clients, from, options);
      const { inputUri, outputUri: uri, accept } = places;
      const packed = inputUri === undefined ? undefined : await packedOnS3(s3, inputUri);
      return fetchInParts(await rangedOutputs(s3, uri, { packed, accept }), {
        from: uri,
        folder,
        format,
        partKeys,
        share,
        metadata,
        inputPrefix: packed?.prefix ?? (await inputPrefix(s3, places)),
        onProgress(outputs) {
          bar.update(outputs);
        },
      });
    },
    forManyReads(),
  ).finally(bar.stop);
  printResult(options.json, report, () => {
    const errors = report.errors > 0 ? ` and ${report.errors} errors` : '';
    const rest = report.complete ? '' : ' so far: other shares are not done';
    const told = `${report.answers} answers${errors} of ${report.outputs} outputs in ${report.files} files of ${folder}${rest}`;
    return told + describeLetters(report.deadLetters);
  });
}

async function fetchInto(from: string, options: FetchOptions): Promise<void> {
  if (options.partKeys !== undefined) return fetchParts(from, options.partKeys, options);
  if (options.share) throw usageError('--share needs --part-keys. Give both.');
  const { withAws } = await import('../batch/aws/clients.ts');
  const { inputPrefix } = await import('../batch/aws/fetch/input-prefix.ts');
  const { fetchOutputs } = await import('../batch/aws/fetch/fetch.ts');
  const { packedInFolder, packedOnS3 } = await import('../batch/aws/fetch/packed-names.ts');
  const { folderOutputs, s3Outputs } = await import('../batch/aws/fetch/source.ts');
  const format = options.format ?? formatOf(options.out);
  const metadata = await metadataOf(options);
  const bar = progress('outputs', 0);
  const settings = {
    file: options.out,
    format,
    metadata,
    onProgress(outputs: number) {
      bar.update(outputs);
    },
  };
  const report = await (isFolder(from)
    ? fetchOutputs(
        folderOutputs(from, {
          packed: options.packed === undefined ? undefined : packedInFolder(options.packed),
          accept: options.accept,
        }),
        settings,
      )
    : withAws(options.region, async ({ s3, ...clients }) => {
        const places = await placesToFetch(clients, from, options);
        const { inputUri, outputUri, accept } = places;
        const packed = inputUri === undefined ? undefined : await packedOnS3(s3, inputUri);
        return fetchOutputs(await s3Outputs(s3, outputUri, { packed, accept }), {
          ...settings,
          inputPrefix: packed?.prefix ?? (await inputPrefix(s3, places)),
        });
      })
  ).finally(bar.stop);
  printResult(options.json, report, () => {
    const errors = report.errors > 0 ? ` and ${report.errors} errors` : '';
    const told = `${report.answers} answers${errors} of ${report.outputs} outputs in ${report.file}`;
    return told + describeLetters(report.deadLetters);
  });
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
  const job = await describe(clients, from);
  return { ...job, accept: accept ?? job.accept };
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

async function stopWorker(
  name: string,
  { engine, region, json }: Shared & { engine: Exclude<Engine, 'transform'> },
): Promise<void> {
  const { withAws } = await import('../batch/aws/clients.ts');
  const { stopBatchJob, stopProcessing } = await import('../batch/aws/stop-worker.ts');
  await withAws(region, ({ sagemaker }) =>
    engine === 'processing' ? stopProcessing(sagemaker, name) : stopBatchJob(name, region),
  );
  printResult(
    json,
    { job: name, status: 'Stopping' },
    () =>
      `${name} is stopping. Its workers write what they have; the same batch start continues after it.`,
  );
}

async function stop(
  name: string,
  { engine, ...options }: Shared & { engine: Engine },
): Promise<void> {
  if (engine !== 'transform') return stopWorker(name, { ...options, engine });
  const { withAws } = await import('../batch/aws/clients.ts');
  const { describe, hasEnded } = await import('../batch/aws/transform-job.ts');
  const { isExecution } = await import('../batch/aws/execution.ts');
  const { StopTransformJobCommand } = await import('@aws-sdk/client-sagemaker');
  const { StopExecutionCommand } = await import('@aws-sdk/client-sfn');
  const job = await withAws(options.region, async (clients) => {
    const before = await describe(clients, name);
    if (hasEnded(before)) return before;
    // Step Functions stops the jobs that an execution waits for.
    if (isExecution(name)) await clients.sfn.send(new StopExecutionCommand({ executionArn: name }));
    else await clients.sagemaker.send(new StopTransformJobCommand({ TransformJobName: name }));
    return describe(clients, name);
  });
  printResult(options.json, { job: name, status: job.status }, () => `${name} is ${job.status}`);
}
