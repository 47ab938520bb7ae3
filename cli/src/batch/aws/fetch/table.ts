/** Answers as rows of a table: for CSV and Parquet, which need their columns before the first row. */
import type { Answer } from '@sagemaker-tfs/batch';
import { jsonText, parseJson } from '@sagemaker-tfs/tensors';

/** A cell. */
export type Cell = string | number | boolean | null;

/** A row by the names of its columns. */
export type Row = Readonly<Record<string, Cell>>;

/** What a column holds. */
export interface Column {
  readonly name: string;
  readonly type: 'STRING' | 'DOUBLE' | 'BOOLEAN';
}

/** A table whose rows come one by one. */
export interface Table {
  readonly columns: readonly Column[];
  readonly rows: AsyncIterable<Row>;
}

/** What else is known of the inputs, all in memory. */
export interface Metadata {
  readonly columns: readonly Column[];
  /** The row of an input; undefined if the file has none. */
  of(key: string): Row | undefined;
  /** SHA-256 of the file and the name of its column of keys, hex. */
  readonly digest: string;
}

/** Rows that decide which columns there are. */
const LOOKED_AT = 1_000;
/** Column for an answer that is no object. */
const VALUE = 'prediction';
/** Column for what fits no other, as JSON: nothing is left out. */
const OTHER = 'other';

/**
 * Makes rows: each element of `predictions` is one, else the whole answer. The fields of an object are columns,
 * nested values as JSON. The first thousand rows decide the columns and their types.
 * @param known what {@link columnsOf} has decided; then no row does
 * @param metadata of the inputs, whose columns follow those of the answers
 */
export async function tableOf(
  answers: AsyncIterable<Answer>,
  known?: readonly Column[],
  metadata?: Metadata,
): Promise<Table> {
  const records = recordsOf(answers);
  const first = known ? [] : await firstOf(records);
  const fields = known ?? fieldColumns(first.map((one) => one.fields));
  const types = new Map(fields.map(({ name, type }) => [name, type]));
  const rows = rowsOf(first, records, types);
  if (!metadata) return { columns: withOwn(fields), rows };
  return { columns: withMetadata(fields, metadata), rows: joinedRows(rows, fields, metadata) };
}

/** All columns of a table with these fields and with what else is known of the inputs. */
export function withMetadata(fields: readonly Column[], { columns }: Metadata): Column[] {
  const nameOf = joinedNames(fields);
  return [...withOwn(fields), ...columns.map(({ name, type }) => ({ name: nameOf(name), type }))];
}

/** Names that the answers have, too, get a prefix. */
function joinedNames(fields: readonly Column[]): (name: string) => string {
  const taken = new Set(withOwn(fields).map(({ name }) => name));
  return (name) => (taken.has(name) ? `input_${name}` : name);
}

async function* joinedRows(
  rows: AsyncIterable<Row>,
  fields: readonly Column[],
  { columns, of }: Metadata,
): AsyncGenerator<Row> {
  const nameOf = joinedNames(fields);
  for await (const row of rows) {
    const known = of(String(row.key));
    const cells = columns.map(({ name, type }) => {
      const cell = known?.[name] ?? null;
      return [nameOf(name), cell !== null && type === 'STRING' ? cellText(cell) : cell] as const;
    });
    yield { ...row, ...Object.fromEntries(cells) };
  }
}

/** The columns of the first answers' fields, for several tables that must have the same. */
export async function columnsOf(answers: AsyncIterable<Answer>): Promise<Column[]> {
  const first = await firstOf(recordsOf(answers));
  return fieldColumns(first.map(({ fields }) => fields));
}

/** All columns of a table with these fields. */
export function withOwn(fields: readonly Column[]): Column[] {
  return [
    { name: 'key', type: 'STRING' },
    { name: 'record', type: 'DOUBLE' },
    ...fields,
    { name: OTHER, type: 'STRING' },
  ];
}

async function firstOf(records: AsyncGenerator<Fields, undefined>): Promise<Fields[]> {
  const first: Fields[] = [];
  for (let next = await records.next(); !next.done; next = await records.next()) {
    if (first.push(next.value) >= LOOKED_AT) break;
  }
  return first;
}

/** The columns of rows: of several types it is text. */
export function fieldColumns(rows: readonly Readonly<Record<string, Cell>>[]): Column[] {
  const types = new Map<string, Column['type']>();
  for (const fields of rows) {
    for (const [name, cell] of Object.entries(fields)) {
      if (cell !== null) types.set(name, joined(types.get(name), typeOf(cell)));
      else if (!types.has(name)) types.set(name, 'STRING');
    }
  }
  return [...types].map(([name, type]) => ({ name, type }));
}

interface Fields {
  readonly key: string;
  readonly record: number;
  readonly fields: Readonly<Record<string, Cell>>;
}

async function* recordsOf(answers: AsyncIterable<Answer>): AsyncGenerator<Fields, undefined> {
  let [last, next]: [string | undefined, number] = [undefined, 0];
  for await (const { key, json, isError } of answers) {
    const value = isError ? { error: parseJson(json) } : parseJson(json);
    const list = (value as { predictions?: unknown } | null)?.predictions;
    // A request may have carried several records: they are counted over all answers to an input.
    if (key !== last) [last, next] = [key, 0];
    for (const one of Array.isArray(list) ? list : [value]) {
      yield { key, record: next++, fields: tableFields(one) };
    }
  }
  return undefined;
}

const TOO_DEEP = 'the answer is nested too deep for a cell; --format ndjson has it';

/** One record that has no form in a table must not keep the others out of it. */
function tableFields(value: unknown): Record<string, Cell> {
  try {
    return fieldsOf(value);
  } catch (error) {
    // Of JSON.stringify, some thousand levels down.
    if (!(error instanceof RangeError)) throw error;
    return { error: TOO_DEEP };
  }
}

/** Names that the table itself uses. */
const OWN = new Set(['key', 'record', OTHER]);

function fieldsOf(value: unknown): Record<string, Cell> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { [VALUE]: cellOf(value) };
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      OWN.has(name) ? `${name}_` : name,
      cellOf(inner),
    ]),
  );
}

/** A value as a cell: nested ones are JSON. */
export function cellOf(value: unknown): Cell {
  if (typeof value === 'object' && value !== null) return jsonText(value);
  return typeof value === 'bigint' ? Number(value) : (value as Cell);
}

function typeOf(cell: Exclude<Cell, null>): Column['type'] {
  return typeof cell === 'number' ? 'DOUBLE' : typeof cell === 'boolean' ? 'BOOLEAN' : 'STRING';
}

function joined(known: Column['type'] | undefined, type: Column['type']): Column['type'] {
  return known === undefined || known === type ? type : 'STRING';
}

async function* rowsOf(
  first: readonly Fields[],
  rest: AsyncIterable<Fields>,
  types: ReadonlyMap<string, Column['type']>,
): AsyncGenerator<Row> {
  for (const fields of first) yield rowOf(fields, types);
  for await (const fields of rest) yield rowOf(fields, types);
}

/** Of numbers, as JSON has them: -0 keeps its sign, which `String` drops. */
export function cellText(cell: Exclude<Cell, null>): string {
  return typeof cell === 'number' ? jsonText(cell) : String(cell);
}

function rowOf({ key, record, fields }: Fields, types: ReadonlyMap<string, Column['type']>): Row {
  const row = new Map<string, Cell>([
    ['key', key],
    ['record', record],
  ]);
  const other: [string, Cell][] = [];
  for (const name of types.keys()) row.set(name, null);
  for (const [name, cell] of Object.entries(fields)) {
    const type = types.get(name);
    if (type === 'STRING') row.set(name, cell === null ? null : cellText(cell));
    else if (type && (cell === null || typeOf(cell) === type)) row.set(name, cell);
    else other.push([name, cell]);
  }
  row.set(OTHER, other.length > 0 ? jsonText(Object.fromEntries(other)) : null);
  return Object.fromEntries(row);
}
