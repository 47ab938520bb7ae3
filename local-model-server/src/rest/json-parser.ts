/**
 * JSON as TensorFlow Serving reads it: RapidJSON with `kParseNanAndInfFlag` and `kParseStopWhenDoneFlag`. What it
 * takes beyond JSON: `NaN`, `Inf` and `Infinity` with or without a minus, and anything after the document. What it
 * refuses of what JSON.parse takes: half of a surrogate pair, numbers beyond float64. Of equal keys the first counts.
 * The grammar, the texts of errors and their byte offsets are RapidJSON's, so the runtime's parser in `tensors` cannot
 * stand in for it.
 */
import { invalidArgument, type StatusError } from '@sagemaker-tfs/libtensorflow/serving';
import { FloatLiteral } from '@sagemaker-tfs/tensors';
import type { JsonValue } from './json-values.ts';

/** Deeper nesting is refused; tensors have at most 254 dimensions. */
const MAX_DEPTH = 512;
/** With more strings than these, looking for equal keys costs more than it saves. */
const FEW_STRINGS = 1_000;

const NUMBER = /-?(?:(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d*)?|Inf(?:inity|(?!i))|NaN)/y;
const SPACE = /[ \t\n\r]*/y;

interface Cursor {
  readonly text: string;
  at: number;
  /** Whether numbers with a fraction or an exponent become {@link FloatLiteral}. */
  readonly literals: boolean;
}

/**
 * The document at the beginning of the text.
 * @param literals whether numbers written with a fraction or an exponent are marked, as {@link FloatLiteral}
 * @throws StatusError INVALID_ARGUMENT with the offset of what is wrong
 */
export function parseServingJson(text: string, literals: boolean): JsonValue {
  const plain = literals ? undefined : parsePlain(text);
  if (plain !== undefined) return plain;
  const cursor = { text, at: text.startsWith('\ufeff') ? 1 : 0, literals };
  skipSpace(cursor);
  if (cursor.at === text.length) throw failed(cursor, 'The document is empty.');
  return parseValue(cursor, 0);
}

/** What JSON.parse reads alike: many times faster for large bodies. Undefined if it may not. */
function parsePlain(text: string): JsonValue | undefined {
  if (text.includes('\\') || /\d{16}|[eE][+-]?\d{3}|-0[\s,\]}]/.test(text)) return undefined;
  const strings = text.match(/"[^"]*"\s*:?/g) ?? [];
  const keys = strings.length <= FEW_STRINGS ? strings.filter((part) => part.endsWith(':')) : [''];
  const names = new Set(keys.map((key) => key.slice(0, key.lastIndexOf('"'))));
  if (names.size !== keys.length || names.has('"__proto__')) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function parseValue(cursor: Cursor, depth: number): JsonValue {
  if (depth > MAX_DEPTH) throw failed(cursor, `Nested more than ${MAX_DEPTH} deep.`);
  const { text, at } = cursor;
  switch (text[at]) {
    case '[':
      return parseArray(cursor, depth);
    case '{':
      return parseObject(cursor, depth);
    case '"':
      return parseString(cursor);
    default:
      return parseWordOrNumber(cursor);
  }
}

function parseArray(cursor: Cursor, depth: number): JsonValue[] {
  const elements: JsonValue[] = [];
  cursor.at += 1;
  if (takes(cursor, ']')) return elements;
  do {
    skipSpace(cursor);
    elements.push(parseValue(cursor, depth + 1));
  } while (takes(cursor, ','));
  if (takes(cursor, ']')) return elements;
  throw failed(cursor, 'Missing a comma or ] after an array element.');
}

function parseObject(cursor: Cursor, depth: number): JsonValue {
  const members = new Map<string, JsonValue>();
  cursor.at += 1;
  if (takes(cursor, '}')) return {};
  do {
    skipSpace(cursor);
    if (cursor.text[cursor.at] !== '"') throw failed(cursor, 'Missing a name for object member.');
    const name = parseString(cursor);
    if (!takes(cursor, ':')) {
      throw failed(cursor, 'Missing a colon after a name of object member.');
    }
    skipSpace(cursor);
    const value = parseValue(cursor, depth + 1);
    if (!members.has(name)) members.set(name, value);
  } while (takes(cursor, ','));
  if (takes(cursor, '}')) return Object.fromEntries(members);
  throw failed(cursor, 'Missing a comma or } after an object member.');
}

function parseString(cursor: Cursor): string {
  const end = closingQuote(cursor);
  if (end < 0) throw failed(cursor, 'Missing a closing quotation mark in string.');
  const literal = cursor.text.slice(cursor.at, end + 1);
  const value = unescaped(literal);
  if (value === undefined) throw failed(cursor, 'Invalid escape character in string.');
  if (literal.includes('\\') && HALF_PAIR.test(value)) {
    throw failed(cursor, 'The surrogate pair in string is invalid.');
  }
  cursor.at += literal.length;
  return value;
}

/** Where the string ends that begins here. A pattern would have no room for millions of escapes. */
function closingQuote({ text, at }: Cursor): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === '\\') before -= 1;
    // Behind an odd number of backslashes it is part of the string.
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
}

/** One half of a surrogate pair alone. */
const HALF_PAIR = /\p{Surrogate}/u;

function unescaped(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}

const WORDS: readonly (readonly [string, boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

function parseWordOrNumber(cursor: Cursor): JsonValue {
  const found = WORDS.find(([word]) => cursor.text.startsWith(word, cursor.at));
  if (!found) return parseNumber(cursor);
  cursor.at += found[0].length;
  return found[1];
}

function parseNumber(cursor: Cursor): JsonValue {
  NUMBER.lastIndex = cursor.at;
  const match = NUMBER.exec(cursor.text);
  if (!match) throw failed(cursor, 'Invalid value.');
  const [literal, digits, fraction, exponent] = match;
  if (fraction === '.') throw failed(cursor, 'Miss fraction part in number.');
  if (exponent && !/\d/.test(exponent)) throw failed(cursor, 'Miss exponent in number.');
  const value = digits === undefined ? constant(literal) : Number(literal);
  if (digits !== undefined && isTooBig(digits, fraction, exponent)) {
    throw failed(cursor, 'Number too big to be stored in double.');
  }
  cursor.at += literal.length;
  const isInteger = digits !== undefined && fraction === undefined && exponent === undefined;
  if (isInteger && Number.isSafeInteger(value)) return value + 0;
  if (isInteger && fitsIn64Bits(BigInt(literal))) return BigInt(literal);
  return cursor.literals ? new FloatLiteral(value) : value;
}

/** By its digits and exponent, whatever the value: `0e400` is too big, `10e308` is infinite. */
function isTooBig(digits: string, fraction = '', exponent = ''): boolean {
  const places = Math.max(0, fraction.length - 1);
  return Number(exponent.slice(1)) > 308 + places || !Number.isFinite(Number(digits));
}

function constant(literal: string): number {
  if (literal.endsWith('NaN')) return Number.NaN;
  return literal.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

function fitsIn64Bits(value: bigint): boolean {
  return value >= -(2n ** 63n) && value < 2n ** 64n;
}

function takes(cursor: Cursor, char: string): boolean {
  skipSpace(cursor);
  if (cursor.text[cursor.at] !== char) return false;
  cursor.at += 1;
  return true;
}

function skipSpace(cursor: Cursor): void {
  SPACE.lastIndex = cursor.at;
  SPACE.test(cursor.text);
  cursor.at = SPACE.lastIndex;
}

function failed({ text, at }: Cursor, what: string): StatusError {
  const offset = Buffer.byteLength(text.slice(0, at));
  return invalidArgument(`JSON Parse error: ${what} at offset: ${offset}`);
}
