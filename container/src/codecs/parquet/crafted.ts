/** Parquet files made by hand, in Thrift's compact protocol, for what no writer writes. */

interface Crafted {
  readonly rows?: number;
  /** Values of the column, as the footer says. */
  readonly values?: number;
  /** Row groups with the same page. */
  readonly chunks?: number;
  /** Columns of the same page. Default: 1 */
  readonly columns?: number;
  /** Whether they are lists. */
  readonly lists?: boolean;
  /** Values of one more row group, which has no rows. */
  readonly rowless?: number;
  readonly page?: Buffer;
  /** Physical type, by its number. Default: floats */
  readonly physical?: number;
  /** Compression, by its number. Default: none */
  readonly codec?: number;
  /** In place of the whole footer, hexadecimal. */
  readonly footer?: string;
}

/** A file of columns `x`. */
export function crafted({
  rows = 4,
  values = rows,
  chunks = 1,
  columns = 1,
  lists = false,
  rowless = 0,
  page = floatPage(4),
  physical = 4,
  codec = 0,
  footer = '',
}: Crafted): Buffer {
  const body = Buffer.concat([Buffer.from('PAR1'), page]);
  const chunkOf = (count: number) =>
    struct(
      field(
        3,
        struct(
          int(1, physical),
          list(2, 5, [varint(0)]),
          list(3, 8, [text('x')]),
          int(4, codec),
          int(5, count),
          int(6, page.length),
          int(7, page.length),
          int(9, 4),
        ),
      ),
    );
  const groupOf = (count: number, of: number) =>
    struct(list(1, 12, times(columns, chunkOf(count))), int(2, page.length), int(3, of));
  const groups = times(chunks, groupOf(values, rows / chunks));
  if (rowless > 0) groups.push(groupOf(rowless, 0));
  const value = (called: string) => struct(int(1, physical), int(3, 0), field(4, text(called), 8));
  const column = lists
    ? [
        struct(int(3, 0), field(4, text('x'), 8), int(5, 1), int(6, 3)),
        struct(int(3, 2), field(4, text('list'), 8), int(5, 1)),
        value('element'),
      ]
    : [value('x')];
  const schema = [
    struct(field(4, text('root'), 8), int(5, columns)),
    ...times(columns, column).flat(),
  ];
  const head =
    footer === ''
      ? struct(int(1, 1), list(2, 12, schema), int(3, rows), list(4, 12, groups))
      : Buffer.from(footer, 'hex');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return Buffer.concat([body, head, length, Buffer.from('PAR1')]);
}

function times<T>(count: number, one: T): T[] {
  return Array.from({ length: count }, () => one);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value * 2;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}
const length = (value: number) => varint(value / 2);
const text = (value: string) => Buffer.concat([length(value.length), Buffer.from(value)]);
/** Each field says its own number. */
const field = (id: number, value: Buffer, type = 12) =>
  Buffer.concat([Buffer.from([type]), varint(id), value]);
const int = (id: number, value: number) => field(id, varint(value), 6);
const list = (id: number, type: number, items: Buffer[]) =>
  field(id, Buffer.concat([Buffer.from([0xf0 | type]), length(items.length), ...items]), 9);
const struct = (...fields: Buffer[]) => Buffer.concat([...fields, Buffer.from([0])]);

/** A page of plain floats 0, 1, 2, 3. */
export function floatPage(count: number, { size = 16 } = {}): Buffer {
  const data = Buffer.alloc(16);
  for (let i = 0; i < 4; i++) data.writeFloatLE(i, i * 4);
  const head = struct(
    int(1, 0),
    int(2, size),
    int(3, 16),
    field(5, struct(int(1, count), int(2, 0), int(3, 3), int(4, 3))),
  );
  return Buffer.concat([head, data]);
}

/** A page of floats that are packed, and unpack to 16 bytes, or so says its head. */
export function packedPage(packed: Buffer, size = 16): Buffer {
  const head = struct(
    int(1, 0),
    int(2, size),
    int(3, packed.length),
    field(5, struct(int(1, 4), int(2, 0), int(3, 3), int(4, 3))),
  );
  return Buffer.concat([head, packed]);
}

/** A dictionary: values without bytes of their own. */
export function dictionaryPage(count: number, size: number, packed = Buffer.alloc(0)): Buffer {
  const head = struct(
    int(1, 2),
    int(2, size),
    int(3, packed.length),
    field(7, struct(int(1, count), int(2, 0))),
  );
  return Buffer.concat([head, packed]);
}

/** A page of indices in one run. */
export function runPage(count: number, run: number, index = 1): Buffer {
  const data = Buffer.concat([Buffer.from([1]), length(run * 2), Buffer.from([index])]);
  const head = struct(
    int(1, 0),
    int(2, data.length),
    int(3, data.length),
    field(5, struct(int(1, count), int(2, 8), int(3, 3), int(4, 3))),
  );
  return Buffer.concat([head, data]);
}
