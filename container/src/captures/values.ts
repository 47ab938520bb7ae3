/** The values of a body, by name: what distributions are made of. */
import {
  decodeNpy,
  decodeNpz,
  FloatLiteral,
  isNumeric,
  parseJsonLiteralDocuments,
  type Tensor,
  TensorError,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { parse } from 'csv-parse/sync';
import type { CapturedBody } from './capture.ts';

/** A number or a category; NaN for a value that is missing. */
export type Value = number | string;

/** A bigint is a whole number of an integer's dtype, or written without a fraction: a class, an id or a count. */
export type ExactValue = Value | bigint;

/** Values of one body by name, such as `x[2]`. */
export type Values<V = Value> = ReadonlyMap<string, V[]>;

/** Rows of a body that are looked at. */
const MAX_ROWS = 256;
/** Numbers of a row up to which each has a distribution of its own; more are pooled. */
const MAX_COLUMNS = 64;
/** Pooled numbers that a row has. */
const MAX_POOLED = 64;
/** Names of a body. */
const MAX_NAMES = 1024;
/** Characters of a name. */
const MAX_NAME = 256;
/** Bytes that an archive may unpack to. */
const MAX_BYTES = 256 * 1024 ** 2;
/** Strings of a body's arrays: an object is made for each. */
const MAX_STRINGS = 1_000_000;
/** Characters of a category. */
const MAX_CHARACTERS = 64;

/** Names that frame a whole body. */
const FRAMES = ['instances', 'inputs', 'examples', 'predictions', 'outputs', 'result', 'results'];

/** Media types whose values are read; of others only the size is. */
const READERS: Readonly<Record<string, (bytes: Uint8Array, collect: Collect) => void>> = {
  'application/json': readJson,
  'application/jsonlines': readJson,
  'application/jsons': readJson,
  'application/x-npy': (bytes, collect) =>
    readTensor('', decodeNpy(bytes, { maxStrings: MAX_STRINGS }), collect),
  'application/x-npz': readNpz,
  'text/csv': readCsv,
};

type Collect = (name: string, value: ExactValue) => void;

/**
 * Reads a body: JSON, npy, npz and CSV row by row. Of every row a column of at most 64 has a name of its own; larger
 * ones are pooled. A list of several numbers also sets the index of its greatest, `name.argmax`. Of other media types
 * only `bytes` is known. Names of more than 256 characters are cut.
 * @param leaveOut is called for each value of a body with too many names
 * @throws TensorError for a body that its media type does not describe
 */
export function valuesOf(body: CapturedBody, leaveOut?: () => void): Values {
  const exact = [...exactValuesOf(body, leaveOut)];
  return new Map(exact.map(([name, values]) => [name, values.map(rounded)]));
}

function rounded(value: ExactValue): Value {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** As {@link valuesOf}, but whole numbers stay apart from others, and keep their digits. */
export function exactValuesOf(
  { contentType, bytes }: CapturedBody,
  leaveOut?: () => void,
): Values<ExactValue> {
  const values = new Map<string, ExactValue[]>();
  const collect: Collect = (long, value) => {
    const name = long.slice(0, MAX_NAME);
    const known = values.get(name);
    if (known) known.push(value);
    else if (values.size < MAX_NAMES) values.set(within(name, MAX_NAME), [value]);
    else leaveOut?.();
  };
  const read = READERS[contentType];
  if (read) read(bytes, collect);
  else collect('bytes', bytes.byteLength);
  return values;
}

/** Whether the values of a media type are read. */
export function isRead(contentType: string): boolean {
  return Object.hasOwn(READERS, contentType);
}

function readJson(bytes: Uint8Array, collect: Collect): void {
  for (const document of parseJsonLiteralDocuments(bytes).slice(0, MAX_ROWS)) {
    for (const row of rowsOf(document)) readPart(row.name, row.value, collect);
  }
}

/** The rows of a document: of a list each of its items, of columns each of their items, anything else is one. */
function rowsOf(document: unknown, name = ''): { name: string; value: unknown }[] {
  if (Array.isArray(document)) {
    return document.slice(0, MAX_ROWS).map((value) => ({ name, value }));
  }
  if (typeof document !== 'object' || document === null) return [{ name, value: document }];
  const frame = FRAMES.find((key) => Object.hasOwn(document, key));
  if (frame === undefined) return [{ name, value: document }];
  const inner: unknown = Reflect.get(document, frame);
  if (Array.isArray(inner)) return rowsOf(inner, name);
  if (typeof inner !== 'object' || inner === null) return [{ name, value: inner }];
  return Object.entries(inner).flatMap(([key, value]) => rowsOf(value, key.slice(0, MAX_NAME)));
}

function readPart(name: string, value: unknown, collect: Collect): void {
  if (Array.isArray(value)) readList(name, value, collect);
  else if (typeof value === 'object' && value !== null && !(value instanceof FloatLiteral)) {
    for (const [key, inner] of Object.entries(value)) {
      readPart(below(name, key), inner, collect);
    }
  } else collect(nameOr(name), scalar(value));
}

/** Cut here as well as at the end: each of many parts has a name of its own. */
function below(name: string, key: string): string {
  const short = key.slice(0, MAX_NAME);
  return name === '' ? short : within(`${name}.${short}`, MAX_NAME);
}

/** The beginning of a text, copied: a slice would keep the whole body for as long as itself. */
function within(text: string, characters: number): string {
  return Buffer.from(text.slice(0, characters), 'utf16le').toString('utf16le');
}

function readList(name: string, list: readonly unknown[], collect: Collect): void {
  const numbers = list.map(scalarIfNumber).filter((item) => item !== undefined);
  if (numbers.length === list.length) readNumbers(name, numbers, collect);
  else if (list.length === 1) readPart(name, list[0], collect);
  else for (const item of strided(list, MAX_POOLED)) readPart(`${name}[]`, item, collect);
}

/** Numbers of one row. @param exact of those alone that are collected: a row may have millions */
function readNumbers(
  name: string,
  row: ArrayLike<number | bigint>,
  collect: Collect,
  exact: (value: number | bigint) => ExactValue = (value) => value,
): void {
  const at = (i: number) => exact(row[i] as number | bigint);
  if (row.length === 1) collect(nameOr(name), at(0));
  if (row.length < 2) return;
  if (row.length > MAX_COLUMNS) {
    for (const value of strided(row, MAX_POOLED)) collect(`${name}[]`, exact(value));
  } else {
    for (let i = 0; i < row.length; i++) collect(`${name}[${i}]`, at(i));
  }
  collect(`${nameOr(name)}.argmax`, `${argmax(row)}`);
}

function argmax(row: ArrayLike<number | bigint>): number {
  let best = 0;
  for (let i = 1; i < row.length; i++) if (Number(row[i]) > Number(row[best])) best = i;
  return best;
}

/** At most `count` items, evenly spread. */
function strided<T>(items: ArrayLike<T>, count: number): T[] {
  const step = Math.max(1, items.length / count);
  return Array.from({ length: Math.min(count, items.length) }, (_, i) => {
    return items[Math.floor(i * step)] as T;
  });
}

const nameOr = (name: string) => (name === '' ? 'value' : name);

function scalarIfNumber(value: unknown): number | bigint | undefined {
  if (value instanceof FloatLiteral) return value.value;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  return typeof value === 'bigint' ? value : undefined;
}

function scalar(value: unknown): ExactValue {
  const number = scalarIfNumber(value);
  if (number !== undefined) return number;
  if (value === null || value === undefined) return Number.NaN;
  return within(String(value), MAX_CHARACTERS);
}

function readNpz(bytes: Uint8Array, collect: Collect): void {
  const wanted = (_name: string, arrays: number) => ({
    maxStrings: Math.ceil(MAX_STRINGS / arrays),
  });
  const arrays = decodeNpz(bytes, { maxBytes: MAX_BYTES, wanted });
  for (const [name, tensor] of Object.entries(arrays)) {
    readTensor(name.slice(0, MAX_NAME), tensor, collect);
  }
}

/** The first dimension counts rows. */
function readTensor(name: string, tensor: Tensor, collect: Collect): void {
  const [rows = 1, ...rest] = tensor.shape;
  const width = rest.reduce((product, size) => product * size, 1);
  const count = Math.min(rows, MAX_ROWS);
  if (!isNumeric(tensor)) {
    for (const value of strided(tensor.values, MAX_ROWS)) {
      collect(nameOr(name), scalar(Buffer.from(value).toString('utf8')));
    }
    return;
  }
  const numbers = toNumbers(tensor);
  const exact = tensor.dtype.includes('float') ? undefined : BigInt;
  for (let row = 0; row < count; row++) {
    readNumbers(name, numbers.subarray(row * width, (row + 1) * width), collect, exact);
  }
}

function readCsv(bytes: Uint8Array, collect: Collect): void {
  for (const cells of csvRows(bytes)) {
    cells.forEach((cell, i) => {
      collect(cells.length === 1 ? 'value' : `[${i}]`, cellValue(cell));
    });
  }
}

/** As NumPy and pandas write numbers, too: `nan`, `-inf`, nothing. */
function cellValue(cell: string): ExactValue {
  if (/^\s*(?:nan)?\s*$/i.test(cell)) return Number.NaN;
  if (/^\s*[+-]?\d{1,20}\s*$/.test(cell)) return BigInt(cell.trim().replace('+', ''));
  const number = Number(cell.replace(/^\s*([+-]?)inf(?:inity)?\s*$/i, '$1Infinity'));
  return Number.isNaN(number) ? scalar(cell) : number;
}

function csvRows(bytes: Uint8Array): string[][] {
  try {
    return parse(Buffer.from(bytes), { relax_column_count: true, to: MAX_ROWS });
  } catch (cause) {
    throw new TensorError('MALFORMED', 'the body is no CSV.', { cause });
  }
}
