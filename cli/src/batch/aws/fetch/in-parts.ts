/** Fetches the outputs of a job into many files: ranges of keys at once, and again from where it was killed. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Answer } from '@sagemaker-tfs/batch';
import { noOutputs } from '../../../errors.ts';
import { FIND_PARTITIONS, ndjsonTable, parquetTable } from './athena.ts';
import { type Counts, writeCounted } from './counted-file.ts';
import { collectDeadLetters, type DeadLetters } from './dead-letters.ts';
import { countFiles, type Partition, partitionOf } from './partitions.ts';
import {
  agreeOnPlan,
  type FetchPlan,
  LETTERS,
  lettersPath,
  PARTITIONS,
  partialFolder,
  partName,
  partPath,
  type RangeProgress,
  readProgress,
  TABLE,
  writeProgress,
} from './parts-plan.ts';
import type { OutputObject, RangedOutputs } from './source.ts';
import { type Column, columnsOf, type Metadata, withMetadata, withOwn } from './table.ts';
import type { FileFormat } from './write-file.ts';

/** How to fetch. */
export interface PartsOptions {
  /** The outputs' place, which the folder remembers. */
  readonly from: string;
  readonly folder: string;
  readonly format: FileFormat;
  /** Outputs of one file. */
  readonly partKeys: number;
  /** The ranges of this process: every `of`-th from `index` on. */
  readonly share: { readonly index: number; readonly of: number };
  /** S3 URI that the inputs' keys are below, if it is known. */
  readonly inputPrefix?: string | undefined;
  /** What else is known of the inputs. */
  readonly metadata?: Metadata | undefined;
  /** Of Parquet, the column whose values part the table into folders. */
  readonly partitionBy?: string | undefined;
  readonly onProgress?: (outputs: number) => void;
}

/** What the folder holds now. */
export interface PartsReport extends Readonly<Counts> {
  readonly folder: string;
  readonly files: number;
  /** False while other shares are not done. */
  readonly complete: boolean;
  /** Absent while the fetch is not complete, and if there is no error. */
  readonly deadLetters?: DeadLetters;
}

/**
 * Fetches what the folder lacks. Memory holds the objects that are being read, and of tables a group of rows for each range.
 * @throws CommandError OUTPUT_EXISTS for a folder with anything else, OUTPUT_EMPTY where there is no output
 */
export async function fetchInParts(
  source: RangedOutputs,
  options: PartsOptions,
): Promise<PartsReport> {
  const { folder, share, from, format, partKeys, partitionBy } = options;
  const join = options.metadata?.digest;
  const wanted = {
    from,
    format,
    partKeys,
    ...(join && { join }),
    ...(partitionBy && { partitionBy }),
  };
  const plan = await agreeOnPlan(folder, wanted, () => planOf(source, format));
  const columns = columnsOfTable(plan, options.metadata);
  const partition = partitionBy === undefined ? undefined : partitionOf(columns, partitionBy);
  const numbers = [...plan.ranges.keys()];
  const own = numbers.filter((number) => number % share.of === share.index);
  let outputs = 0;
  const count = (more: number) => {
    outputs += more;
    options.onProgress?.(outputs);
  };
  await Readable.from(own)
    .map((number: number) => fetchRange(source, { ...options, partition }, plan, number, count), {
      concurrency: source.rangesAtOnce,
    })
    .toArray();
  const all = await Promise.all(numbers.map((number) => readProgress(folder, number)));
  const sum = (name: keyof Counts | 'parts') =>
    all.reduce((total, range) => total + range[name], 0);
  const complete = all.every(({ done }) => done);
  const deadLetters = complete && (await lettersOf(options));
  if (complete) await writeTable(folder, columns, options, partition);
  return {
    outputs: sum('outputs'),
    answers: sum('answers'),
    errors: sum('errors'),
    empty: sum('empty'),
    folder,
    files: partition ? await countFiles(folder, partition) : sum('parts'),
    complete,
    ...(deadLetters && { deadLetters }),
  };
}

/** The statement for Athena; CSV has a header in each file, and texts over several lines. */
async function writeTable(
  folder: string,
  columns: readonly Column[],
  { format, metadata }: Pick<PartsOptions, 'format' | 'metadata'>,
  partition: Partition | undefined,
): Promise<void> {
  if (format === 'csv') return;
  const sql =
    format === 'parquet'
      ? parquetTable(partition?.columns ?? columns, partition?.name)
      : ndjsonTable(metadata !== undefined);
  await writeFile(join(folder, TABLE), sql);
  if (partition) await writeFile(join(folder, PARTITIONS), FIND_PARTITIONS);
}

function columnsOfTable({ columns = [] }: FetchPlan, metadata: Metadata | undefined): Column[] {
  return metadata ? withMetadata(columns, metadata) : withOwn(columns);
}

/** Those of all parts. */
async function lettersOf({ folder, inputPrefix }: PartsOptions): Promise<DeadLetters | undefined> {
  const own = join(folder, LETTERS);
  const names = (await readdir(own).catch(() => [])).filter((name) => name.endsWith('.ndjson'));
  const files = names.sort().map((name) => join(own, name));
  return collectDeadLetters(files, join(own, 'redrive.manifest'), inputPrefix);
}

/** All files of a table have the columns of the first outputs. */
async function planOf(
  source: RangedOutputs,
  format: FileFormat,
): Promise<Pick<FetchPlan, 'ranges' | 'columns'>> {
  const all = source.open(source.whole);
  const first = await all[Symbol.asyncIterator]().next();
  if (first.done) {
    throw noOutputs();
  }
  const ranges = await source.ranges();
  if (format === 'ndjson') return { ranges };
  return { ranges, columns: await columnsOf(answersOfAll(source.open(source.whole))) };
}

async function* answersOfAll(objects: AsyncIterable<OutputObject>): AsyncGenerator<Answer> {
  for await (const object of objects) {
    yield* (await object.read()).filter(({ isEmpty }) => !isEmpty);
  }
}

/** An object and what it holds. */
interface ReadObject {
  readonly key: string;
  readonly answers: readonly Answer[];
}

type RangeOptions = Pick<PartsOptions, 'folder' | 'format' | 'partKeys' | 'metadata'> & {
  readonly partition: Partition | undefined;
};

async function fetchRange(
  source: RangedOutputs,
  { folder, format, partKeys, metadata, partition }: RangeOptions,
  { ranges, columns }: FetchPlan,
  number: number,
  onOutputs: (count: number) => void,
): Promise<void> {
  let progress = await readProgress(folder, number);
  onOutputs(progress.outputs);
  const range = ranges[number];
  if (progress.done || range === undefined) return;
  const read = async (object: OutputObject): Promise<ReadObject> => ({
    key: object.key,
    answers: await object.read(),
  });
  const objects: AsyncIterator<ReadObject> = Readable.from(source.open(range, progress.after))
    .map(read, { concurrency: source.reads })
    [Symbol.asyncIterator]();
  for (let next = await objects.next(); !next.done; next = await objects.next()) {
    const part = openPart(objects, next.value, partKeys);
    const counts = await writeCounted(part.objects, {
      path: partPath(folder, number, progress.parts, format),
      lettersPath: lettersPath(folder, number, progress.parts),
      format,
      columns,
      metadata,
      partition: partition && {
        of: partition,
        folder,
        file: partName(number, progress.parts, format),
        partial: partialFolder(folder),
        ...{ atOnce: source.rangesAtOnce, smaller: source.smallerParts },
      },
    });
    const { outputs } = progress;
    progress = added(progress, part.after(), counts);
    await writeProgress(folder, number, progress);
    onOutputs(progress.outputs - outputs);
  }
  await writeProgress(folder, number, { ...progress, done: true });
}

function added(before: RangeProgress, after: string, more: Counts): RangeProgress {
  return {
    parts: before.parts + 1,
    after,
    outputs: before.outputs + more.outputs,
    answers: before.answers + more.answers,
    errors: before.errors + more.errors,
    empty: before.empty + more.empty,
    done: false,
  };
}

/** Objects from one on, until there are enough outputs; none is ever cut. `after` is the key of the last one. */
function openPart(objects: AsyncIterator<ReadObject>, first: ReadObject, partKeys: number) {
  let after = first.key;
  async function* own(counts: Readonly<Counts>): AsyncGenerator<readonly Answer[]> {
    for (let object: ReadObject | undefined = first; object !== undefined; ) {
      yield object.answers;
      after = object.key;
      if (counts.outputs >= partKeys) return;
      const next = await objects.next();
      object = next.done ? undefined : next.value;
    }
  }
  return { objects: own, after: () => after };
}
