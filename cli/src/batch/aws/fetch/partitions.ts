/** The answers of a part as Parquet files, one for each value of a column, in folders that tell the value: `site=north/`. */
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import { usageError } from '../../../errors.ts';
import { columnNames } from './athena.ts';
import { type Cell, type Column, cellText, type Row, type Table } from './table.ts';
import { syncFile } from './write-file.ts';

/** Rows that wait in memory, of all values together. */
const WAITING = 5_000;
/** Files that are open at once, of all parts that are written at once. */
const MAX_FILES = 1_600;
/** Folder of the key, where no column has that name. */
const KEY_FOLDER = 'folder';

/** How a table is parted. */
export interface Partition {
  /** Name of the column, as the table has it. */
  readonly by: string;
  /** Name in the paths and in Athena. */
  readonly name: string;
  /** The columns that the files have: all others. */
  readonly columns: readonly Column[];
}

/**
 * @param columns of the whole table
 * @throws CommandError USAGE for a column that the table lacks, and for the key
 */
export function partitionOf(columns: readonly Column[], by: string): Partition {
  const names = columns.map(({ name }) => name);
  const at = names.indexOf(by);
  if (by === 'key' || (at < 0 && by !== KEY_FOLDER)) {
    const others = names.filter((name) => name !== 'key');
    throw usageError(
      `--partition-by ${by} is no column to part answers by. Give one of ${others.join(', ')}, or ${KEY_FOLDER} for the first folder of the keys.`,
    );
  }
  const all = columnNames(at < 0 ? [...names, by] : names);
  return {
    by,
    name: (at < 0 ? all.at(-1) : all[at]) as string,
    columns: columns.filter(({ name }) => name !== by),
  };
}

/** Files below the folders of a partition. */
export async function countFiles(folder: string, { name }: Partition): Promise<number> {
  const folders = (await readdir(folder)).filter((one) => one.startsWith(`${name}=`));
  const files = await Promise.all(folders.map((one) => readdir(join(folder, one))));
  return files.flat().length;
}

/** Where the files of a part go. */
export interface PartFiles {
  readonly folder: string;
  /** Of the file, the same in each folder. */
  readonly file: string;
  /** Folder for incomplete files. */
  readonly partial: string;
  /** Parts that are written at once. */
  readonly atOnce: number;
  /** What makes parts smaller. */
  readonly smaller: string;
}

interface OpenFile {
  readonly value: string | null;
  readonly path: string;
  readonly partial: string;
  readonly parquet: ParquetWriter;
  rows: Row[];
}

/** Writes the files; each is there as a whole or not at all. Memory does not grow with the number of answers. */
export async function writePartitions(
  { rows }: Pick<Table, 'rows'>,
  partition: Partition,
  places: PartFiles,
): Promise<void> {
  const files = new Map<string | null, OpenFile>();
  let waiting = 0;
  await mkdir(places.partial, { recursive: true });
  try {
    for await (const row of rows) {
      const value = partitionValue(row, partition);
      const file = files.get(value) ?? openFile(value, files.size, partition, places);
      files.set(value, file);
      file.rows.push(row);
      if (++waiting >= WAITING) waiting -= await writeLargest([...files.values()], partition);
    }
    for (const file of files.values()) {
      await writeGroup(file, partition);
      await file.parquet.finish();
      await syncFile(file.partial);
    }
    for (const { partial, path } of files.values()) {
      await mkdir(dirname(path), { recursive: true });
      await rename(partial, path);
    }
  } catch (error) {
    for (const { partial } of files.values()) await rm(partial, { force: true });
    throw error;
  }
}

function partitionValue(row: Row, { by }: Partition): string | null {
  const cell: Cell | undefined = row[by];
  if (cell !== undefined) return cell === null || cell === '' ? null : cellText(cell);
  const key = String(row.key);
  const end = key.indexOf('/');
  return end <= 0 ? null : key.slice(0, end);
}

function openFile(
  value: string | null,
  number: number,
  partition: Partition,
  { folder, file, partial, atOnce, smaller }: PartFiles,
): OpenFile {
  const most = Math.floor(MAX_FILES / atOnce);
  if (number >= most) {
    throw usageError(
      `--partition-by ${partition.by} has more than ${most} values in one part. Choose a column with fewer, or ${smaller}.`,
    );
  }
  const path = join(partial, `${file}.${process.pid}.${number}`);
  const writer = fileWriter(path);
  // Nothing of a row group that is written stays in memory.
  writer.flush = () => writer.finish();
  const schema = schemaFromColumnData({ columnData: columnData(partition.columns, []) });
  return {
    value,
    path: join(folder, `${partition.name}=${pathText(value)}`, file),
    partial: path,
    parquet: new ParquetWriter({ writer, schema }),
    rows: [],
  };
}

/** @returns rows that no longer wait */
async function writeLargest(
  files: readonly OpenFile[],
  partition: Pick<Partition, 'columns'>,
): Promise<number> {
  const largest = files.reduce((a, b) => (b.rows.length > a.rows.length ? b : a));
  const { length } = largest.rows;
  await writeGroup(largest, partition);
  return length;
}

async function writeGroup(file: OpenFile, { columns }: Pick<Partition, 'columns'>): Promise<void> {
  const rowGroupSize = file.rows.length;
  if (rowGroupSize === 0) return;
  const data = columnData(columns, file.rows).map(({ name, data }) => ({ name, data }));
  await file.parquet.write({ columnData: data, rowGroupSize });
  file.rows = [];
}

function columnData(columns: readonly Column[], rows: readonly Row[]) {
  return columns.map(({ name, type }) => ({
    ...{ name, type, nullable: true },
    data: rows.map(({ [name]: cell }) => cell ?? null),
  }));
}

/** Name of the folder of rows without a value, as Hive and Athena know it. */
const NO_VALUE = '__HIVE_DEFAULT_PARTITION__';

/**
 * As Hive writes values into paths.
 * @see https://github.com/apache/hive/blob/master/common/src/java/org/apache/hadoop/hive/common/FileUtils.java
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are among what Hive does not write as it is
const ESCAPED = /[\u0001-\u001f"#%'*/:=?\\{[\]^\u007f]/g;

/** Bytes that a name of a folder may have, and most that are left for a value. */
const MAX_BYTES = 200;

function pathText(value: string | null): string {
  if (value === null) return NO_VALUE;
  const text = value.replace(
    ESCAPED,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
  if (Buffer.byteLength(text) <= MAX_BYTES) return text;
  throw usageError(
    `--partition-by has the value '${text.slice(0, 40)}...', which is too long for the name of a folder. Choose a column with short values.`,
  );
}
