/** One file of many answers, as NDJSON, CSV or Parquet. */
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Answer, answerLine } from '@sagemaker-tfs/batch';
import { stringify } from 'csv-stringify';
import { fileWriter, parquetWriteRows } from 'hyparquet-writer';
import { type Column, cellText, tableOf } from './table.ts';

/** Formats of the file. */
export const FILE_FORMATS = ['ndjson', 'csv', 'parquet'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** Rows of Parquet that are in memory at once. */
const ROW_GROUP = 5_000;

/**
 * Writes a file; it is there as a whole or not at all. Memory does not grow with the number of answers.
 * @param columns of a table; by default the first rows decide them
 */
export async function writeAnswers(
  answers: AsyncIterable<Answer>,
  path: string,
  format: FileFormat,
  columns?: readonly Column[],
): Promise<void> {
  const partial = `${path}.${process.pid}.partial`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await WRITERS[format](answers, partial, columns);
    await sync(partial);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** A name that outlives a loss of power must not stand for bytes that do not. */
async function sync(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.datasync().finally(() => file.close());
}

type Writer = (
  answers: AsyncIterable<Answer>,
  path: string,
  columns: readonly Column[] | undefined,
) => Promise<void>;

const WRITERS: Record<FileFormat, Writer> = {
  async ndjson(answers, path) {
    await pipeline(Readable.from(ndjson(answers)), createWriteStream(path));
  },
  async csv(answers, path, known) {
    const { columns, rows } = await tableOf(answers, known);
    const header = columns.map(({ name }) => name);
    const format = stringify({
      header: true,
      columns: header,
      cast: { boolean: cellText, number: cellText },
    });
    await pipeline(Readable.from(rows), format, createWriteStream(path));
  },
  async parquet(answers, path, known) {
    const { columns, rows } = await tableOf(answers, known);
    await parquetWriteRows({
      writer: fileWriter(path),
      columns: columns.map(({ name, type }) => ({ name, type, nullable: true })),
      rows,
      rowGroupSize: ROW_GROUP,
    });
  },
};

async function* ndjson(answers: AsyncIterable<Answer>): AsyncGenerator<string> {
  for await (const answer of answers) yield answerLine(answer);
}
