/** One file of many answers, as NDJSON, CSV or Parquet. */
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Answer, answerLine } from '@sagemaker-tfs/batch';
import { jsonText } from '@sagemaker-tfs/tensors';
import { stringify } from 'csv-stringify';
import { fileWriter, parquetWriteRows } from 'hyparquet-writer';
import { placeOf } from '../../../output/place.ts';
import { type Column, cellText, type Metadata, tableOf } from './table.ts';

/** Formats of the file. */
export const FILE_FORMATS = ['ndjson', 'csv', 'parquet'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** Rows of Parquet that are in memory at once. */
const ROW_GROUP = 5_000;

/** What a file has beside the answers. */
export interface TableOptions {
  /** Of a table; by default the first rows decide them. */
  readonly columns?: readonly Column[] | undefined;
  /** Of the inputs. */
  readonly metadata?: Metadata | undefined;
}

/**
 * Writes a file, or what a link leads to; it is there as a whole or not at all. Memory does not grow with the number of
 * answers.
 * @throws CommandError USAGE if a device or directory is there
 */
export async function writeAnswers(
  answers: AsyncIterable<Answer>,
  path: string,
  format: FileFormat,
  { columns, metadata }: TableOptions = {},
): Promise<void> {
  const place = await placeOf(path);
  const partial = `${place}.${process.pid}.partial`;
  await mkdir(dirname(place), { recursive: true });
  try {
    await WRITERS[format](answers, partial, { columns, metadata });
    await syncFile(partial);
    await rename(partial, place);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** A name that outlives a loss of power must not stand for bytes that do not. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.datasync().finally(() => file.close());
}

type Writer = (
  answers: AsyncIterable<Answer>,
  path: string,
  options: TableOptions,
) => Promise<void>;

const WRITERS: Record<FileFormat, Writer> = {
  async ndjson(answers, path, { metadata }) {
    await pipeline(Readable.from(ndjson(answers, metadata)), createWriteStream(path));
  },
  async csv(answers, path, options) {
    const { columns, rows } = await tableOf(answers, options.columns, options.metadata);
    const header = columns.map(({ name }) => name);
    const format = stringify({
      header: true,
      columns: header,
      cast: { boolean: cellText, number: cellText },
    });
    await pipeline(Readable.from(rows), format, createWriteStream(path));
  },
  async parquet(answers, path, options) {
    const { columns, rows } = await tableOf(answers, options.columns, options.metadata);
    await parquetWriteRows({
      writer: fileWriter(path),
      columns: columns.map(({ name, type }) => ({ name, type, nullable: true })),
      rows,
      rowGroupSize: ROW_GROUP,
    });
  },
};

async function* ndjson(
  answers: AsyncIterable<Answer>,
  metadata: Metadata | undefined,
): AsyncGenerator<string> {
  for await (const answer of answers) {
    const line = answerLine(answer);
    const row = metadata?.of(answer.key);
    yield row ? `${line.slice(0, -2)},"input":${jsonText(row)}}\n` : line;
  }
}
