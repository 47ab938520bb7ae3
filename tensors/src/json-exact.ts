/**
 * A JSON parser for what JSON.parse loses or refuses: integers of 2^53 and beyond become bigint, and bare
 * NaN, Infinity and -Infinity are numbers, as TensorFlow Serving has them.
 */
import { TensorError } from './errors.ts';

/** Deeper nesting is refused; tensors have at most 254 dimensions. */
const MAX_DEPTH = 512;
/** Longer integers fit no 64 bits and become (rounded) numbers. */
const MAX_BIGINT_CHARS = 21;

const LITERALS: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
];

/** A number written with a fraction or an exponent: `1.0` is not the integer 1. A class, because no JSON makes an instance of it. */
export class FloatLiteral {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  toJSON(): number {
    return this.value;
  }
}

interface Cursor {
  readonly text: string;
  at: number;
  /** Whether numbers written with a fraction or an exponent become {@link FloatLiteral}. */
  readonly literals: boolean;
}

/**
 * All JSON documents of the text, separated by whitespace or nothing.
 * @param literals whether numbers written with a fraction or an exponent become {@link FloatLiteral}
 * @throws TensorError MALFORMED, naming line and character
 */
export function parseExactDocuments(text: string, literals = false): unknown[] {
  const cursor: Cursor = { text, at: 0, literals };
  const documents: unknown[] = [];
  skipWhitespace(cursor);
  while (cursor.at < text.length) {
    documents.push(parseValue(cursor, 0));
    skipWhitespace(cursor);
  }
  return documents;
}

/**
 * The text's only document.
 * @throws TensorError MALFORMED, naming line and character
 */
export function parseExact(text: string): unknown {
  const cursor: Cursor = { text, at: 0, literals: false };
  const value = parseValue(cursor, 0);
  skipWhitespace(cursor);
  if (cursor.at < text.length) throw unexpected(cursor);
  return value;
}

/** Shorter texts are parsed in no time, however deep. */
const SHORT = 65_536;
const CODE = { quote: 0x22, backslash: 0x5c, bracket: 0x5b, brace: 0x7b, closing: 2 } as const;

/** Whether a text nests deeper than is allowed: JSON.parse would make all of it, at a microsecond a level. */
export function isTooDeep(text: string): boolean {
  if (text.length < SHORT) return false;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isString && code === CODE.backslash) at += 1;
    else if (code === CODE.quote) isString = !isString;
    else if (!isString && (code === CODE.bracket || code === CODE.brace)) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (
      !isString &&
      (code === CODE.bracket + CODE.closing || code === CODE.brace + CODE.closing)
    ) {
      depth -= 1;
    }
  }
  return false;
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

function parseNumber(cursor: Cursor): number | bigint | FloatLiteral | undefined {
  const found = numberAt(cursor.text, cursor.at);
  if (!found) return undefined;
  const literal = cursor.text.slice(cursor.at, found.end);
  const value = Number(literal);
  if (!Number.isFinite(value)) {
    const shown = literal.length > 40 ? `${literal.slice(0, 37)}...` : literal;
    throw invalid(cursor, `${shown} is beyond the range of float64`);
  }
  cursor.at += literal.length;
  if (cursor.literals && !found.isInteger) return new FloatLiteral(value);
  if (!found.isInteger || Number.isSafeInteger(value) || literal.length > MAX_BIGINT_CHARS)
    return value;
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
  const { text } = cursor;
  while (isWhitespace(text.charCodeAt(cursor.at))) cursor.at += 1;
}

function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/**
 * The end of the number at a place, by JSON's grammar. Loops, because a regular expression runs out of stack on a
 * number of megabytes.
 */
function numberAt(text: string, start: number): { end: number; isInteger: boolean } | undefined {
  const first = text[start] === '-' ? start + 1 : start;
  // A number that begins with 0 is over, or continues behind the point.
  const whole = text[first] === '0' ? first + 1 : digitsEnd(text, first);
  if (whole === first) return undefined;
  const fraction = text[whole] === '.' ? digitsEnd(text, whole + 1) : whole;
  const end = fraction > whole + 1 ? fraction : whole;
  if (text[end] !== 'e' && text[end] !== 'E') return { end, isInteger: end === whole };
  const sign = text[end + 1] === '+' || text[end + 1] === '-' ? end + 2 : end + 1;
  const exponent = digitsEnd(text, sign);
  return exponent > sign ? { end: exponent, isInteger: false } : { end, isInteger: end === whole };
}

function digitsEnd(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code >= 0x30 && code <= 0x39; code = text.charCodeAt(at)) {
    at += 1;
  }
  return at;
}

function unexpected(cursor: Cursor): TensorError {
  const char = cursor.text[cursor.at];
  return invalid(
    cursor,
    char === undefined ? 'it ends too early' : `unexpected ${JSON.stringify(char)}`,
  );
}

function invalid(cursor: Cursor, what: string, cause?: unknown): TensorError {
  const { text, at } = cursor;
  let line = 1;
  let lineEnd = -1;
  for (let next = text.indexOf('\n'); next >= 0 && next < at; next = text.indexOf('\n', next + 1)) {
    line += 1;
    lineEnd = next;
  }
  const column = at - lineEnd;
  const message = `not valid JSON at line ${line}, character ${column}: ${what}`;
  return new TensorError('MALFORMED', message, cause === undefined ? undefined : { cause });
}
