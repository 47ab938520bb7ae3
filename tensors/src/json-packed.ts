/**
 * A JSON parser for documents that are mostly numbers, hundreds of thousands to a list: it makes neither a
 * string of the document nor arrays of the numbers. It knows valid JSON of the usual kind, and leaves the rest to another parser.
 */
import { readNumbers } from './read-numbers.ts';
import { utf8DecodeStrict } from './text.ts';

/** Shorter documents are parsed faster by JSON.parse. */
const MIN_BYTES = 256;
/** So are those whose values, lists of numbers being one, are shorter than this on the average. */
const MIN_VALUE_BYTES = 64;
/** Before that is looked at. */
const MIN_VALUES = 64;
const MAX_DEPTH = 64;
/** How far ahead of a list its first number is looked for: every list around it looks as well. */
const MAX_LOOK_AHEAD = 1024;
/** Digits of an integer that might need to become a bigint. */
const LONG_DIGITS = 16;

interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
  values: number;
}

/** Thrown to give up. */
const ZERO = 0x30;
const NINE = 0x39;
const GIVEN_UP = Symbol('given up');

/**
 * The documents of a body, one after the other, the nested lists of numbers in them as PackedNumbers.
 * @returns undefined if another parser is to be asked: for errors, and documents that are not of this kind
 */
export function parsePackedDocuments(bytes: Uint8Array): unknown[] | undefined {
  if (bytes.byteLength < MIN_BYTES) return undefined;
  const cursor: Cursor = { bytes, at: 0, values: 0 };
  const documents: unknown[] = [];
  try {
    for (skipSpace(cursor); cursor.at < bytes.byteLength; skipSpace(cursor)) {
      if (bytes[cursor.at] !== OPEN_OBJECT && bytes[cursor.at] !== OPEN_LIST) return undefined;
      documents.push(parseValue(cursor, 0));
    }
  } catch (error) {
    if (error === GIVEN_UP) return undefined;
    throw error;
  }
  return documents;
}

const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST, COMMA, COLON, QUOTE, BACKSLASH, MINUS] = [
  ...new TextEncoder().encode('{}[],:"\\-'),
] as [number, number, number, number, number, number, number, number, number];

function parseValue(cursor: Cursor, depth: number): unknown {
  cursor.values += 1;
  const isTooSmall = cursor.values * MIN_VALUE_BYTES > cursor.at + MIN_VALUES * MIN_VALUE_BYTES;
  if (isTooSmall || depth > MAX_DEPTH) throw GIVEN_UP;
  const first = skipSpace(cursor);
  if (first === OPEN_LIST) return parseList(cursor, depth);
  if (first === OPEN_OBJECT) return parseObject(cursor, depth);
  if (first === QUOTE) return parseString(cursor);
  return parseWord(cursor);
}

function parseList(cursor: Cursor, depth: number): unknown {
  const { bytes } = cursor;
  let first = cursor.at + 1;
  const farthest = first + MAX_LOOK_AHEAD;
  while (first < farthest && (bytes[first] === OPEN_LIST || isSpace(bytes[first]))) first += 1;
  if (isNumberStart(bytes[first])) {
    const read = readNumbers(bytes, cursor.at);
    if (!read) throw GIVEN_UP;
    cursor.at = read.end;
    return read.numbers;
  }
  const elements: unknown[] = [];
  cursor.at += 1;
  if (takes(cursor, CLOSE_LIST)) return elements;
  do {
    elements.push(parseValue(cursor, depth + 1));
  } while (takes(cursor, COMMA));
  if (!takes(cursor, CLOSE_LIST)) throw GIVEN_UP;
  return elements;
}

function parseObject(cursor: Cursor, depth: number): object {
  const members: [string, unknown][] = [];
  cursor.at += 1;
  if (takes(cursor, CLOSE_OBJECT)) return {};
  do {
    if (skipSpace(cursor) !== QUOTE) throw GIVEN_UP;
    const name = parseString(cursor);
    if (!takes(cursor, COLON)) throw GIVEN_UP;
    members.push([name, parseValue(cursor, depth + 1)]);
  } while (takes(cursor, COMMA));
  if (!takes(cursor, CLOSE_OBJECT)) throw GIVEN_UP;
  return Object.fromEntries(members);
}

function parseString(cursor: Cursor): string {
  const { bytes, at: start } = cursor;
  let end = bytes.indexOf(QUOTE, start + 1);
  while (end >= 0 && isEscaped(bytes, end)) end = bytes.indexOf(QUOTE, end + 1);
  if (end < 0) throw GIVEN_UP;
  cursor.at = end + 1;
  return parsed(utf8DecodeStrict(bytes.subarray(start, end + 1))) as string;
}

function isEscaped(bytes: Uint8Array, quote: number): boolean {
  let backslashes = 0;
  while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

/** A number that is exact, true, false or null. */
function parseWord(cursor: Cursor): unknown {
  const { bytes, at: start } = cursor;
  while (!isEnd(bytes[cursor.at])) cursor.at += 1;
  const text = utf8DecodeStrict(bytes.subarray(start, cursor.at)) ?? '';
  if (isLongInteger(text)) throw GIVEN_UP;
  return parsed(text);
}

/** Not a regular expression: it runs out of stack on a number of megabytes. */
function isLongInteger(text: string): boolean {
  const from = text.startsWith('-') ? 1 : 0;
  if (text.length - from < LONG_DIGITS) return false;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < ZERO || code > NINE) return false;
  }
  return true;
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    throw GIVEN_UP;
  }
}

function takes(cursor: Cursor, byte: number): boolean {
  if (skipSpace(cursor) !== byte) return false;
  cursor.at += 1;
  return true;
}

/** Returns the byte after the whitespace. */
function skipSpace(cursor: Cursor): number | undefined {
  while (isSpace(cursor.bytes[cursor.at])) cursor.at += 1;
  return cursor.bytes[cursor.at];
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isEnd(byte: number | undefined): boolean {
  const isStructure = byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT;
  return byte === undefined || isStructure || isSpace(byte);
}

/** Of a number, NaN or Infinity. */
function isNumberStart(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return byte === MINUS || (byte >= 0x30 && byte <= 0x39) || byte === 0x4e || byte === 0x49;
}
