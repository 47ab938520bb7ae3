/** A Parquet file of columns, piece by piece: a page for each column of a row group, plain and not packed. */
import { binary, i32, i64, list, struct, type Written } from './thrift-writer.ts';
import type { WrittenColumn } from './written-column.ts';

const MAGIC = Buffer.from('PAR1');
/** Values of the widest column in a row group; a row is never parted. */
const GROUP_VALUES = 2 ** 18;
const [REQUIRED, REPEATED] = [0, 2];
const LIST_TYPE = 3;
const [PLAIN, RLE] = [0, 3];
const UNCOMPRESSED = 0;
/** Of a page: its length is a number of 32 bits. */
export const MAX_PAGE_BYTES = 2 ** 31 - 1;

/** Rows that a row group has. */
export function groupRows(columns: readonly WrittenColumn[]): number {
  const widest = columns.reduce((most, { width }) => Math.max(most, width), 1);
  return Math.max(1, Math.floor(GROUP_VALUES / widest));
}

/** The pieces of the file, each made when it is asked for. */
export function* writeTable(columns: readonly WrittenColumn[], rows: number): Iterable<Uint8Array> {
  yield MAGIC;
  let at = MAGIC.length;
  const groups: Written[] = [];
  const step = groupRows(columns);
  for (let row = 0; row < rows; row += step) {
    const end = Math.min(rows, row + step);
    const chunks: Written[] = [];
    const start = at;
    for (const column of columns) {
      const values = (end - row) * column.width;
      const size = column.pageSize(row, end);
      const head = pageHead(values, size);
      yield head;
      yield* column.page(row, end);
      const length = head.length + size;
      chunks.push(chunkOf(column, values, at, length));
      at += length;
    }
    groups.push(struct({ 1: list(chunks), 2: i64(at - start), 3: i64(end - row) }));
  }
  const footer = struct({
    1: i32(1),
    2: list(schemaOf(columns)),
    3: i64(rows),
    4: list(groups),
    6: binary('sagemaker-tfs'),
  }).bytes;
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  yield Buffer.concat([footer, length, MAGIC]);
}

function pageHead(values: number, size: number): Buffer {
  const data = struct({ 1: i32(values), 2: i32(PLAIN), 3: i32(RLE), 4: i32(RLE) });
  return struct({ 1: i32(0), 2: i32(size), 3: i32(size), 5: data }).bytes;
}

function chunkOf({ name, leaf, depth }: WrittenColumn, values: number, at: number, bytes: number) {
  const path = [name, ...Array.from({ length: depth }, () => ['list', 'element']).flat()];
  const meta = struct({
    1: i32(leaf.type),
    2: list([i32(PLAIN), i32(RLE)]),
    3: list(path.map(binary)),
    4: i32(UNCOMPRESSED),
    5: i64(values),
    6: i64(bytes),
    7: i64(bytes),
    9: i64(at),
  });
  return struct({ 2: i64(at), 3: meta });
}

/** The tree, node by node. A list is three levels deep: itself, its repetition, its element. */
function schemaOf(columns: readonly WrittenColumn[]): Written[] {
  const root = struct({ 4: binary('root'), 5: i32(columns.length) });
  return [root, ...columns.flatMap(nodesOf)];
}

function nodesOf({ name, leaf, depth }: WrittenColumn): Written[] {
  const lists = Array.from({ length: depth }, (_, i): Written[] => [
    struct({
      3: i32(REQUIRED),
      4: binary(i === 0 ? name : 'element'),
      5: i32(1),
      6: i32(LIST_TYPE),
    }),
    struct({ 3: i32(REPEATED), 4: binary('list'), 5: i32(1) }),
  ]);
  const element = struct({
    1: i32(leaf.type),
    3: i32(REQUIRED),
    4: binary(depth === 0 ? name : 'element'),
    6: leaf.converted === undefined ? undefined : i32(leaf.converted),
  });
  return [...lists.flat(), element];
}
