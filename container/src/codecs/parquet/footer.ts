/**
 * What a Parquet file says of itself: its columns, and where their parts lie.
 * https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
 */
import type { NumericDType, TensorError } from '@sagemaker-tfs/tensors';
import { arrowDurations } from './arrow-durations.ts';
import { pandasIndex } from './pandas-index.ts';
import { bad, count, type Struct, structIn, structsIn, ThriftReader, textIn } from './thrift.ts';

/** A column of scalars, or of lists of them. */
export interface Column {
  readonly name: string;
  /** How its values lie in pages. */
  readonly physical: Physical;
  readonly dtype: NumericDType | 'string';
  /** Greatest definition and repetition levels: 1 and 0 for an optional scalar. */
  readonly definition: number;
  readonly repetition: number;
  /** Whether a value may be null, alone or in its list. */
  readonly hasNulls: boolean;
}

/** A part of a column. */
export interface Chunk {
  readonly start: number;
  readonly end: number;
  readonly codec: number;
  /** Values, nulls included. */
  readonly values: number;
}

/** Rows of the file, with a part of each column, in the columns' order. */
interface RowGroup {
  readonly rows: number;
  readonly chunks: readonly Chunk[];
}

export interface Footer {
  readonly rows: number;
  readonly columns: readonly Column[];
  readonly groups: readonly RowGroup[];
}

/** Parquet's physical types, by number. */
const PHYSICAL = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
] as const;
export type Physical = (typeof PHYSICAL)[number];

const DTYPES: Partial<Record<Physical, Column['dtype']>> = {
  BOOLEAN: 'bool',
  INT32: 'int32',
  INT64: 'int64',
  FLOAT: 'float32',
  DOUBLE: 'float64',
  BYTE_ARRAY: 'string',
};
const MAGIC = 'PAR1';
const [OPTIONAL, REPEATED] = [1, 2];
/** Of `ConvertedType`: those that change nothing about a value, and unsigned ones. */
const PLAIN_CONVERTED: ReadonlySet<number> = new Set([0, 4, 15, 16, 17, 18, 19, 20]);
const UNSIGNED_CONVERTED: ReadonlySet<number> = new Set([11, 12, 13, 14]);
/** Of `LogicalType`: STRING, ENUM, INTEGER, JSON, BSON. */
const PLAIN_LOGICAL: ReadonlySet<number> = new Set([1, 4, 10, 12, 13]);
const INTEGER = 10;
const NAME = 'name of a column';
/** Field of the footer of a file with encrypted pages. */
const ENCRYPTION = 8;
/** Index without a name that pandas writes as a column; its metadata may have been lost on the way. */
const UNNAMED_INDEX = /^__index_level_\d+__$/;
/** Field of the footer with what writers say beside it. */
const METADATA = 5;

/** @param maxFields fields of the footer at most. @throws TensorError */
export function readFooter(file: Uint8Array, maxFields: number): Footer {
  const text = (start: number, end: number) =>
    Buffer.from(file.subarray(start, end)).toString('latin1');
  const end = file.byteLength - 8;
  if (end < 4 || text(0, 4) !== MAGIC || text(end + 4, end + 8) !== MAGIC) {
    throw bad(`does not begin and end with ${MAGIC}: it is none, cut off, or encrypted`);
  }
  const length = new DataView(file.buffer, file.byteOffset + end, 4).getUint32(0, true);
  if (length > end - 4) throw bad('has a footer that is longer than the file');
  const head = new ThriftReader(file.subarray(0, end), end - length, maxFields).struct();
  if (head.has(ENCRYPTION)) throw bad('is encrypted. Send it without encryption');
  const metadata = metadataOf(head);
  const index = pandasIndex(metadata.get('pandas'));
  const isIndex = (name: string) => UNNAMED_INDEX.test(name) || index.has(name);
  const all = columnsOf(structsIn(head, 2, 'schema'), isIndex);
  const rows = count(head, 3, 'number of rows');
  if (rows === 0) return { rows, columns: [], groups: [] };
  const bounds = { first: 4, end: end - length };
  const groups = structsIn(head, 4, 'row groups').map((group) =>
    groupOf(group, all.length, bounds),
  );
  if (groups.reduce((sum, group) => sum + group.rows, 0) !== rows) {
    throw bad('has other rows than its row groups');
  }
  const chunks = groups.flatMap((group) => group.chunks);
  // Each byte is read once.
  if (chunks.reduce((sum, chunk) => sum + chunk.end - chunk.start, 0) > end) {
    throw bad('has columns that lie in each other');
  }
  const columns = all.filter((column) => column !== undefined);
  const durations = arrowDurations(metadata.get('ARROW:schema'));
  for (const { name } of columns) if (durations.has(name)) throw badType(name);
  return {
    rows,
    columns,
    groups: groups.map((group) => ({
      ...group,
      chunks: group.chunks.filter((_, i) => all[i] !== undefined),
    })),
  };
}

function metadataOf(head: Struct): ReadonlyMap<string, string> {
  const pairs = head.has(METADATA) ? structsIn(head, METADATA, 'metadata') : [];
  return new Map(
    pairs.flatMap((pair) =>
      pair.has(2) ? [[textIn(pair, 1, 'key of metadata'), textIn(pair, 2, 'metadata')]] : [],
    ),
  );
}

/** The schema is a tree, written node by node: scalars, and lists of three levels. An index is undefined, of any type. */
function columnsOf(
  [root, ...nodes]: readonly Struct[],
  isIndex: (name: string) => boolean,
): (Column | undefined)[] {
  if (!root) throw bad('has no schema');
  const columns: (Column | undefined)[] = [];
  let at = 0;
  while (at < nodes.length) {
    const node = nodes[at] as Struct;
    const children = count(node, 5, 'number of children', 0);
    const path = children === 0 ? [node] : nodes.slice(at, at + 3);
    columns.push(isIndex(textIn(node, 4, NAME)) ? undefined : columnOf(path));
    at += path.length;
  }
  if (columns.length !== count(root, 5, 'number of columns', 0)) throw bad('has a broken schema');
  return columns;
}

function columnOf(path: readonly Struct[]): Column {
  const [top, , element] = path as readonly [Struct, Struct?, Struct?];
  const name = textIn(top, 4, NAME);
  const leaf = path.at(-1) as Struct;
  const isNested = path.some(
    (node, i) => count(node, 5, 'number of children', 0) !== (node === leaf ? 0 : 1) || i > 2,
  );
  const repeated = path.map((node) => count(node, 3, 'repetition', 0) === REPEATED);
  const isList = element !== undefined && repeated.join() === 'false,true,false';
  if (isNested || (path.length > 1 ? !isList : repeated[0])) {
    throw bad(`has column '${name}', which is neither of scalars nor of lists of scalars`);
  }
  const { physical, dtype } = typeOf(leaf, name);
  return {
    name,
    physical,
    dtype,
    definition: path.filter((node) => count(node, 3, 'repetition', 0) >= OPTIONAL).length,
    repetition: isList ? 1 : 0,
    hasNulls: count(leaf, 3, 'repetition', 0) === OPTIONAL,
  };
}

function typeOf(leaf: Struct, name: string): Pick<Column, 'physical' | 'dtype'> {
  const physical = PHYSICAL[count(leaf, 1, `type of column '${name}'`)];
  const dtype = physical && DTYPES[physical];
  const converted = leaf.get(6);
  const logical = leaf.get(10) instanceof Map ? (leaf.get(10) as Struct) : undefined;
  const kind = logical && [...logical.keys()][0];
  const isPlain =
    kind === undefined
      ? converted === undefined ||
        PLAIN_CONVERTED.has(Number(converted)) ||
        UNSIGNED_CONVERTED.has(Number(converted))
      : PLAIN_LOGICAL.has(kind);
  if (!physical || !dtype || !isPlain) {
    throw badType(name);
  }
  const isUnsigned =
    kind === INTEGER
      ? structIn(logical as Struct, INTEGER, 'type').get(2) === false
      : kind === undefined && UNSIGNED_CONVERTED.has(Number(converted));
  if (!isUnsigned) return { physical, dtype };
  return { physical, dtype: physical === 'INT32' ? 'uint32' : 'uint64' };
}

function badType(name: string): TensorError {
  return bad(
    `has column '${name}' of a type that no tensor has (dates, times, durations, decimals, half floats, fixed bytes). Send numbers, booleans or text`,
  );
}

function groupOf(
  group: Struct,
  columns: number,
  { first, end }: { readonly first: number; readonly end: number },
): RowGroup {
  const chunks = structsIn(group, 1, 'columns of a row group').map((chunk): Chunk => {
    const meta = structIn(chunk, 3, 'metadata of a column');
    const data = count(meta, 9, 'place of a column');
    const dictionary = count(meta, 11, 'place of a dictionary', 0);
    const start = dictionary > 0 ? Math.min(dictionary, data) : data;
    const stop = start + count(meta, 7, 'length of a column');
    if (start < first || stop > end) throw bad('has a column that lies outside of it');
    const codec = count(meta, 4, 'compression');
    return { start, end: stop, codec, values: count(meta, 5, 'number of values') };
  });
  if (chunks.length !== columns) throw bad('has a row group with other columns');
  const rows = count(group, 3, 'number of rows');
  if (rows === 0 && chunks.some(({ values }) => values > 0)) {
    throw bad('has a row group with values and no rows');
  }
  return { rows, chunks };
}
