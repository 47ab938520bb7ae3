/**
 * A JSON parser for what JSON.parse loses or refuses: integers of 2^53 and beyond become bigint, and bare
 * NaN, Infinity and -Infinity are numbers, as TensorFlow Serving has them.
 */
import { TensorError } from './errors.ts';

/** Deeper nesting is refused; tensors have at most 254 dimensions. */
const MAX_DEPTH = 512;
/** Longer integers fit no 64 bits and become (rounded) numbers. */
const MAX_BIGINT_CHARS = 21;

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const WHITESPACE = /[ \t\n\r]*/y;
const LITERALS: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
];

interface Cursor {
  readonly text: string;
  at: number;
}

/**
 * All JSON documents of the text, separated by whitespace or nothing.
 * @throws TensorError MALFORMED, naming line and character
 */
export function parseExactDocuments(text: string): unknown[] {
  const cursor: Cursor = { text, at: 0 };
  const documents: unknown[] = [];
  skipWhitespace(cursor);
  while (cursor.at < text.length) {
    documents.push(parseValue(cursor, 0));
    skipWhitespace(cursor);
  }
  return documents;
}

/** The text's only document. @throws TensorError MALFORMED, naming line and character */
export function parseExact(text: string): unknown {
  const cursor: Cursor = { text, at: 0 };
  const value = parseValue(cursor, 0);
  skipWhitespace(cursor);
  if (cursor.at < text.length) throw unexpected(cursor);
  return value;
}

function parseValue(cursor: Cursor, depth: number): unknown {
  skipWhitespace(cursor);
  const char = cursor.text[cursor.at];
  if (depth > MAX_DEPTH) throw invalid(cursor, `nested more than ${MAX_DEPTH} deep`);
  if (char === '[') return parseArray(cursor, depth);
  if (char === '{') return parseObject(cursor, depth);
  if (char === '"') return parseString(cursor);
  return parseNumber(cursor) ?? parseLiteral(cursor);
}

function parseArray(cursor: Cursor, depth: number): unknown[] {
  const elements: unknown[] = [];
  cursor.at++;
  if (takes(cursor, ']')) return elements;
  do {
    elements.push(parseValue(cursor, depth + 1));
  } while (takes(cursor, ','));
  if (!takes(cursor, ']')) throw unexpected(cursor);
  return elements;
}

function parseObject(cursor: Cursor, depth: number): object {
  const members: [string, unknown][] = [];
  cursor.at++;
  if (takes(cursor, '}')) return {};
  do {
    skipWhitespace(cursor);
    if (cursor.text[cursor.at] !== '"') throw unexpected(cursor);
    const name = parseString(cursor);
    if (!takes(cursor, ':')) throw unexpected(cursor);
    members.push([name, parseValue(cursor, depth + 1)]);
  } while (takes(cursor, ','));
  if (!takes(cursor, '}')) throw unexpected(cursor);
  return Object.fromEntries(members);
}

/** JSON.parse reads the escapes; here only the end is found. */
function parseString(cursor: Cursor): string {
  const { text, at: start } = cursor;
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  if (end < 0) throw invalid(cursor, 'a string without an end');
  try {
    const value = JSON.parse(text.slice(start, end + 1)) as string;
    cursor.at = end + 1;
    return value;
  } catch (cause) {
    throw invalid(cursor, 'a string with a bad escape or a control character', cause);
  }
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text[quote - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

function parseNumber(cursor: Cursor): number | bigint | undefined {
  NUMBER.lastIndex = cursor.at;
  const match = NUMBER.exec(cursor.text);
  if (!match) return undefined;
  const [literal, fraction, exponent] = match;
  const value = Number(literal);
  if (!Number.isFinite(value)) {
    const shown = literal.length > 40 ? `${literal.slice(0, 37)}...` : literal;
    throw invalid(cursor, `${shown} is beyond the range of float64`);
  }
  cursor.at += literal.length;
  const isInteger = fraction === undefined && exponent === undefined;
  if (!isInteger || Number.isSafeInteger(value) || literal.length > MAX_BIGINT_CHARS) return value;
  return BigInt(literal);
}

function parseLiteral(cursor: Cursor): unknown {
  for (const [literal, value] of LITERALS) {
    if (cursor.text.startsWith(literal, cursor.at)) {
      cursor.at += literal.length;
      return value;
    }
  }
  throw unexpected(cursor);
}

function takes(cursor: Cursor, char: string): boolean {
  skipWhitespace(cursor);
  if (cursor.text[cursor.at] !== char) return false;
  cursor.at++;
  return true;
}

function skipWhitespace(cursor: Cursor): void {
  if (cursor.text.charCodeAt(cursor.at) > 0x20) return;
  WHITESPACE.lastIndex = cursor.at;
  WHITESPACE.test(cursor.text);
  cursor.at = WHITESPACE.lastIndex;
}

function unexpected(cursor: Cursor): TensorError {
  const char = cursor.text[cursor.at];
  return invalid(
    cursor,
    char === undefined ? 'it ends too early' : `unexpected ${JSON.stringify(char)}`,
  );
}

function invalid(cursor: Cursor, what: string, cause?: unknown): TensorError {
  const before = cursor.text.slice(0, cursor.at);
  const line = before.split('\n').length;
  const column = cursor.at - before.lastIndexOf('\n');
  const message = `not valid JSON at line ${line}, character ${column}: ${what}`;
  return new TensorError('MALFORMED', message, cause === undefined ? undefined : { cause });
}
