/** What else is known of the inputs, by their keys: a file of CSV, JSON Lines or Parquet. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { textLines } from '@sagemaker-tfs/batch';
import { parseJson } from '@sagemaker-tfs/tensors';
import { parse } from 'csv-parse';
import { CommandError, usageError } from '../../../errors.ts';
import { parquetRows } from './parquet-rows.ts';
import { type Cell, cellOf, fieldColumns, type Metadata } from './table.ts';

/**
 * @param on the column that has the keys: below the input prefix, as answers have them
 * @throws CommandError USAGE for a file of another kind, without that column, or with a key twice
 */
export async function readMetadata(file: string, on: string): Promise<Metadata> {
  const rows = new Map<string, Record<string, Cell>>();
  for await (const { [on]: key, ...row } of rowsIn(file)) {
    if (key === undefined || key === null)
      throw usageError(`a row of ${file} has no '${on}'. Name the column of keys with --on.`);
    if (rows.has(String(key)))
      throw usageError(`${file} names the key ${key} twice. Leave one row for each.`);
    rows.set(String(key), row);
  }
  if (/\.csv$/.test(file)) findNumbers([...rows.values()]);
  const columns = fieldColumns([...rows.values()]);
  const hash = createHash('sha256').update(on);
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return { columns, of: (key) => rows.get(key), digest: hash.digest('hex') };
}

function rowsIn(file: string): AsyncIterable<Record<string, Cell>> {
  if (/\.csv$/.test(file)) return csv(file);
  if (/\.(ndjson|jsonl)$/.test(file)) return jsonLines(file);
  if (/\.parquet$/.test(file)) return parquet(file);
  throw usageError(`--join does not read ${file}. Give .csv, .ndjson, .jsonl or .parquet.`);
}

async function* csv(file: string): AsyncGenerator<Record<string, Cell>> {
  const text = await readFile(file, 'utf8').catch(notRead(file));
  const records = parse(text, { columns: true, bom: true, skip_empty_lines: true });
  try {
    for await (const record of records) {
      const cells = Object.entries(record as Record<string, string>);
      yield Object.fromEntries(cells.map(([name, cell]) => [name, cell === '' ? null : cell]));
    }
  } catch (error) {
    notRead(file)(error as Error);
  }
}

async function* jsonLines(file: string): AsyncGenerator<Record<string, Cell>> {
  await access(file).catch(notRead(file));
  let number = 0;
  for await (const line of textLines(createReadStream(file))) {
    number++;
    if (line.trim() === '') continue;
    const row = objectIn(line);
    if (!row) {
      throw usageError(
        `line ${number} of ${file} is no JSON object. Write an object in each line.`,
      );
    }
    yield cellsOf(row);
  }
}

async function* parquet(file: string): AsyncGenerator<Record<string, Cell>> {
  const rows = await parquetRows(file).catch(notRead(file));
  for (const row of rows) yield cellsOf(row);
}

function objectIn(line: string): object | undefined {
  try {
    const row = parseJson(line);
    return typeof row === 'object' && row !== null && !Array.isArray(row) ? row : undefined;
  } catch {
    return undefined;
  }
}

function cellsOf(row: object): Record<string, Cell> {
  const cells = Object.entries(row).map(([name, value]) => [name, cellOf(plain(value))] as const);
  return Object.fromEntries(cells);
}

function plain(value: unknown): unknown {
  if (typeof value !== 'bigint') return value ?? null;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

/** Columns of CSV in which every cell is a number as JSON would write it; `007` stays text. */
function findNumbers(rows: readonly Record<string, Cell>[]): void {
  for (const name of Object.keys(rows[0] ?? {})) {
    const cells = rows.map(({ [name]: cell }) => cell ?? null);
    if (cells.every((cell) => cell === null || String(Number(cell)) === cell)) {
      for (const row of rows) if (row[name] !== null) row[name] = Number(row[name]);
    }
  }
}

function notRead(file: string): (error: Error) => never {
  return (cause) => {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError(
      'FILE_NOT_FOUND',
      `cannot read ${file} for --join: ${cause.message}. Check the file.`,
      { cause },
    );
  };
}
