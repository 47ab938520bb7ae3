/** The values of a column, read page by page. */
import { TensorError } from '@sagemaker-tfs/tensors';
import type { Chunk, Column } from './footer.ts';
import { hybridReader } from './hybrid.ts';
import { bad, count, type Struct, structIn, ThriftReader } from './thrift.ts';
import { unpack } from './unpack.ts';
import { SIZES, type Values, valuesOf } from './values.ts';

/** What all pages of a file may take together. */
export interface PageBudget {
  /** Bytes of pages, unpacked, and of texts that are named in dictionaries, each time. */
  bytes: number;
  /** Fields of the heads of pages. */
  readonly maxFields: number;
  /** Pages: each takes as long as some thousand values, whatever it holds. */
  pages: number;
}

/** A page takes about as long as this number of values, and the event loop waits for as many at most, or for a page. */
const PAGE_WORK = 100;
const TURN_WORK = 50_000;
const [DATA, DICTIONARY, DATA_V2] = [0, 2, 3];
const [PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY] = [0, 2, 3, 8];

/**
 * Reads a part of a column.
 * @param at the index of its first value in `into`
 * @param nextTurn called between pages
 * @throws TensorError
 */
export async function readChunk(
  file: Uint8Array,
  column: Column,
  chunk: Chunk,
  { into, at, rows }: { readonly into: Values; readonly at: number; readonly rows: number },
  budget: PageBudget,
  nextTurn: () => Promise<unknown>,
): Promise<void> {
  let dictionary: Values | undefined;
  let read = 0;
  let position = chunk.start;
  let work = 0;
  while (read < chunk.values) {
    const before = read;
    if (position >= chunk.end)
      throw bad(`has fewer values of column '${column.name}' than it says`);
    const reader = new ThriftReader(file.subarray(0, chunk.end), position, budget.maxFields);
    const head = reader.struct();
    const packed = count(head, 3, 'length of a page');
    position = reader.at + packed;
    if (budget.pages === 0) {
      throw new TensorError('TOO_LARGE', 'the Parquet file has too many pages. Write larger ones.');
    }
    budget.pages -= 1;
    if (position > chunk.end) throw bad('has a page that is longer than its column');
    const page = { head, bytes: file.subarray(reader.at, position), codec: chunk.codec };
    const type = count(head, 1, 'type of a page');
    if (type === DICTIONARY) {
      if (dictionary) throw bad(`has two dictionaries for column '${column.name}'`);
      dictionary = await readDictionary(page, column, chunk, budget);
    } else if (type === DATA || type === DATA_V2) {
      const header = structIn(head, type === DATA ? 5 : 8, 'head of a page');
      const size = count(header, 1, 'number of values');
      if (size === 0) throw bad('has a page without values');
      if (size > chunk.values - read) throw bad('has more values in a page than in its column');
      checkPageSize(count(head, 2, 'size of a page'), size, column);
      const { levels, values } = await (type === DATA
        ? pageV1(page, column, budget)
        : pageV2(page, header, column, budget));
      const place = { at: at + read, size, rowWidth: chunk.values / rows };
      const present = checkLevels(column, levels(size), place, read);
      const encoding = count(header, type === DATA ? 2 : 4, 'encoding');
      readValues(values, encoding, { column, dictionary, into, place, present, budget });
      read += size;
    }
    work += PAGE_WORK + read - before;
    if (work < TURN_WORK) continue;
    work = 0;
    await nextTurn();
  }
}

/** A dictionary of fewer values than its column. @throws TensorError for others, before they are unpacked */
async function readDictionary(
  { head, bytes, codec }: Page,
  { physical, name }: Column,
  { values }: Chunk,
  budget: PageBudget,
): Promise<Values> {
  const size = count(structIn(head, 7, 'dictionary'), 1, 'size of a dictionary');
  const packed = count(head, 2, 'size of a page');
  if (size > values) {
    throw bad(`has a dictionary of ${size} values for ${values} values of column '${name}'`);
  }
  const isText = physical === 'BYTE_ARRAY';
  if (isText ? packed < size * LENGTH_BYTES : packed !== size * SIZES[physical]) {
    throw bad('has a dictionary of another size than its values');
  }
  const dictionary = valuesOf(physical, size);
  dictionary.readPlain(await unpacked(bytes, codec, packed, budget), 0, size);
  return dictionary;
}

/** Of a text, before it. */
const LENGTH_BYTES = 4;
/** What levels, or indices of a dictionary, take beside a value: runs of one number each, which no writer writes. */
const MAX_BESIDE = 16;
const PAGE_EXTRA = 1024;

/** @throws TensorError for a page of numbers with more bytes than its values can take */
function checkPageSize(bytes: number, values: number, { physical }: Column): void {
  if (physical === 'BYTE_ARRAY') return;
  if (bytes > values * (SIZES[physical] + MAX_BESIDE) + PAGE_EXTRA) {
    throw bad('has a page with more bytes than its values take');
  }
}

interface Page {
  readonly head: Struct;
  readonly bytes: Uint8Array;
  readonly codec: number;
}

/** Levels of a page: where lists begin, and which values are there. */
interface Levels {
  readonly repetition: Uint8Array | undefined;
  readonly definition: Uint8Array | undefined;
}

interface DataPage {
  readonly levels: (size: number) => Levels;
  readonly values: Uint8Array;
}

/** Levels and values are packed together, each list of levels behind its length. */
async function pageV1(
  { head, bytes, codec }: Page,
  column: Column,
  budget: PageBudget,
): Promise<DataPage> {
  const plain = await unpacked(bytes, codec, count(head, 2, 'size of a page'), budget);
  let at = 0;
  const part = (): Uint8Array => {
    if (at + 4 > plain.length) throw bad('has a page that ends too early');
    const length = new DataView(plain.buffer, plain.byteOffset + at, 4).getUint32(0, true);
    if (length > plain.length - at - 4) throw bad('has a page that ends too early');
    at += 4 + length;
    return plain.subarray(at - length, at);
  };
  const repetition = column.repetition > 0 ? part() : undefined;
  const definition = column.definition > 0 ? part() : undefined;
  return {
    levels: (size) => levelsOf(column, repetition, definition, size),
    values: plain.subarray(at),
  };
}

/** Levels stand before the values and are not packed; the head has their lengths. */
async function pageV2(
  { head, bytes, codec }: Page,
  header: Struct,
  column: Column,
  budget: PageBudget,
): Promise<DataPage> {
  const repetitionLength = count(header, 6, 'length of levels', 0);
  const start = repetitionLength + count(header, 5, 'length of levels', 0);
  const size = count(head, 2, 'size of a page') - start;
  if (start > bytes.length || size < 0) throw bad('has a page that ends too early');
  const isPacked = header.get(7) !== false;
  return {
    levels: (values) =>
      levelsOf(
        column,
        bytes.subarray(0, repetitionLength),
        bytes.subarray(repetitionLength, start),
        values,
      ),
    values: await unpacked(bytes.subarray(start), isPacked ? codec : 0, size, budget),
  };
}

function levelsOf(
  column: Column,
  repetition: Uint8Array | undefined,
  definition: Uint8Array | undefined,
  size: number,
): Levels {
  const read = (max: number, bytes: Uint8Array | undefined) => {
    if (max === 0 || !bytes) return undefined;
    const levels = new Uint8Array(size);
    hybridReader(bytes, 32 - Math.clz32(max))(levels);
    return levels;
  };
  return {
    repetition: read(column.repetition, repetition),
    definition: read(column.definition, definition),
  };
}

/** Where the values of a page go. */
interface Place {
  readonly at: number;
  readonly size: number;
  /** Values of a row, if all lists are as long. */
  readonly rowWidth: number;
}

/**
 * Refuses lists of several lengths, empty and missing ones, and missing values but of floats.
 * @returns which values are there; undefined if all are
 */
function checkLevels(
  { name, definition: max, dtype, hasNulls }: Column,
  { repetition, definition }: Levels,
  { size, rowWidth }: Place,
  read: number,
): Uint8Array | undefined {
  for (let i = 0; repetition && i < size; i++) {
    const isFirst = (read + i) % rowWidth === 0;
    if ((repetition[i] === 0) === isFirst) continue;
    throw new TensorError('SHAPE_MISMATCH', `column '${name}' has lists of several lengths.`);
  }
  if (!definition?.some((level) => level !== max)) return undefined;
  // One level below is a null in its place; further below, a list is empty or missing.
  const lowest = hasNulls && dtype.startsWith('float') ? max - 1 : max;
  const missing = definition.findIndex((level) => level < lowest || level > max);
  if (missing >= 0) {
    const row = Math.floor((read + missing) / rowWidth);
    throw new TensorError(
      'VALUE_OUT_OF_RANGE',
      `column '${name}' has no value in row ${row} of its row group.`,
    );
  }
  return definition.map((level) => (level === max ? 1 : 0));
}

/** Indices of a dictionary that are in memory at once. */
const INDICES = 2 ** 16;

interface PageValues {
  readonly column: Column;
  readonly dictionary: Values | undefined;
  readonly into: Values;
  readonly place: Place;
  readonly present: Uint8Array | undefined;
  readonly budget: PageBudget;
}

function readValues(
  bytes: Uint8Array,
  encoding: number,
  { column, dictionary, into, place: { at, size }, present, budget }: PageValues,
): void {
  const there = present ? present.reduce((sum, one) => sum + one, 0) : size;
  if (encoding === PLAIN) into.readPlain(bytes, at, there);
  else if (encoding === RLE && column.physical === 'BOOLEAN') {
    const bits = new Uint8Array(there);
    // Behind its length.
    hybridReader(bytes.subarray(4), 1)(bits);
    into.fillBooleans(bits, at);
  } else if (encoding === PLAIN_DICTIONARY || encoding === RLE_DICTIONARY) {
    if (!dictionary) throw bad(`has no dictionary for column '${column.name}'`);
    const read = hybridReader(bytes.subarray(1), there > 0 ? (bytes[0] ?? 33) : 0);
    for (let done = 0; done < there; done += INDICES) {
      const indices = new Uint32Array(Math.min(INDICES, there - done));
      read(indices);
      charge(budget, into.fillFrom(dictionary, indices, at + done));
    }
  } else {
    throw bad(
      `has column '${column.name}' in an encoding that is not read here. Write it plain or with a dictionary, as pandas and pyarrow do by default`,
    );
  }
  if (present) into.spread(at, there, present);
}

/** @throws TensorError TOO_LARGE beyond the budget */
function charge(budget: PageBudget, bytes: number): void {
  if (bytes > budget.bytes) {
    throw new TensorError(
      'TOO_LARGE',
      'the Parquet file unpacks to more than is allowed for its size.',
    );
  }
  budget.bytes -= bytes;
}

/** A page's bytes, at most as many as it says. @throws TensorError TOO_LARGE beyond the budget, before memory is taken */
async function unpacked(
  bytes: Uint8Array,
  codec: number,
  size: number,
  budget: PageBudget,
): Promise<Uint8Array> {
  charge(budget, size);
  try {
    const plain = await unpack(codec, bytes, size);
    if (plain.length === size) return plain;
  } catch (error) {
    if (error instanceof TensorError) throw error;
    throw new TensorError('MALFORMED', 'the Parquet file has a page that cannot be unpacked.', {
      cause: error,
    });
  }
  throw bad('has a page of another size than it says');
}
