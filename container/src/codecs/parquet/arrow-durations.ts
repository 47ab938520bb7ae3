/**
 * The columns of durations, which Parquet does not tell from whole numbers: Arrow's own schema beside them does. It is a
 * flatbuffer: https://github.com/apache/arrow/blob/main/format/Schema.fbs
 */

const DURATION = 18;
/** Slots of the tables `Message`, `Schema` and `Field`. */
const [HEADER, FIELDS, NAME, TYPE, CHILDREN] = [2, 1, 0, 2, 5];

/** Bytes of a name; many fields may have the same, made to be long. */
const MAX_NAME = 1024;

/** @param schema base64, as pyarrow writes it. What cannot be read names no column. */
export function arrowDurations(schema: string | undefined): ReadonlySet<string> {
  const found = new Set<string>();
  if (schema === undefined) return found;
  const bytes = Buffer.from(schema, 'base64');
  try {
    // Before the message stands its length, since Arrow 0.15 behind a mark.
    const start = bytes.readInt32LE(0) === -1 ? 8 : 4;
    const message = follow(bytes, start);
    for (const field of elements(bytes, follow(bytes, slot(bytes, message, HEADER)), FIELDS)) {
      if (isDuration(bytes, field)) found.add(nameOf(bytes, field));
    }
  } catch (error) {
    // Of Buffer's own realm, where tests have another.
    if ((error as Error).name !== 'RangeError') throw error;
  }
  return found;
}

/** Of a list the only child says what it holds. */
function isDuration(bytes: Buffer, field: number): boolean {
  if (typeOf(bytes, field) === DURATION) return true;
  const [child] = elements(bytes, field, CHILDREN);
  return child !== undefined && typeOf(bytes, child) === DURATION;
}

function typeOf(bytes: Buffer, field: number): number {
  const at = slot(bytes, field, TYPE);
  return at === 0 ? 0 : bytes.readUInt8(at);
}

function nameOf(bytes: Buffer, field: number): string {
  const at = follow(bytes, slot(bytes, field, NAME));
  return bytes.toString('utf8', at + 4, at + 4 + Math.min(bytes.readUInt32LE(at), MAX_NAME));
}

/** Tables of a vector. */
function* elements(bytes: Buffer, table: number, number: number): Generator<number> {
  const at = slot(bytes, table, number);
  if (at === 0) return;
  const vector = follow(bytes, at);
  const count = bytes.readUInt32LE(vector);
  for (let i = 0; i < count; i++) yield follow(bytes, vector + 4 + 4 * i);
}

/** Where a table's field lies; 0 if it is left out. */
function slot(bytes: Buffer, table: number, number: number): number {
  const sizes = table - bytes.readInt32LE(table);
  const entry = 4 + 2 * number;
  if (entry >= bytes.readUInt16LE(sizes)) return 0;
  const offset = bytes.readUInt16LE(sizes + entry);
  return offset === 0 ? 0 : table + offset;
}

/** Offsets are counted from where they stand. */
function follow(bytes: Buffer, at: number): number {
  return at + bytes.readUInt32LE(at);
}
