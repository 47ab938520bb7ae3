/** Request bodies. */
import { invalidArgument } from '@sagemaker-tfs/libtensorflow/serving';
import { parseJson } from '@sagemaker-tfs/tensors';
import {
  FloatLiteral,
  formatError,
  isObject,
  type JsonObject,
  type JsonValue,
} from './json-values.ts';

/** The object that a body holds. @throws StatusError INVALID_ARGUMENT with the offset of what is wrong */
export function parseBody(body: Buffer): JsonObject {
  return objectOf(body, (text) => parseJson(text) as JsonValue);
}

/** The same with numbers told apart: those with a fraction or an exponent become {@link FloatLiteral}. */
export function parseBodyWithFloats(body: Buffer): JsonObject {
  return objectOf(body, (text) => {
    parseJson(text);
    return JSON.parse(text.replace(TOKEN, markNumber), unmarkNumber) as JsonValue;
  });
}

function objectOf(body: Buffer, parse: (text: string) => JsonValue): JsonObject {
  if (body.length === 0) throw invalidArgument('JSON Parse error: The document is empty');
  refuseDeep(body);
  const text = body.toString('utf8');
  const value = parseOrExplain(text, parse);
  if (!isObject(value)) throw formatError(value, 'Is not object');
  return value;
}

/** No tensor has more than 254 dimensions; what reads a body's values calls itself for each. */
const MAX_DEPTH = 512;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, QUOTE, BACKSLASH] = Buffer.from('[]{}"\\');

function refuseDeep(body: Buffer): void {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    if (depth > MAX_DEPTH) {
      throw invalidArgument(
        `JSON Parse error: nested more than ${MAX_DEPTH} deep at offset: ${at}`,
      );
    }
  }
}

function parseOrExplain(text: string, parse: (text: string) => JsonValue): JsonValue {
  try {
    return parse(text);
  } catch (error) {
    const { message } = error as Error;
    const [, line = '1', character = '1'] = /line (\d+), character (\d+)/.exec(message) ?? [];
    const before = text.split('\n', Number(line) - 1);
    const offset = before.reduce((sum, part) => sum + part.length + 1, Number(character) - 1);
    throw invalidArgument(`JSON Parse error: Invalid value. at offset: ${offset} (${message})`, {
      cause: error,
    });
  }
}

/** Strings, so that they are passed over, and numbers. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
/** No key that a client writes. */
const MARK = '\u0000number';

function markNumber(token: string): string {
  const isPlain = token.startsWith('"') || /^-?\d{1,15}$/.test(token);
  return isPlain ? token : JSON.stringify({ [MARK]: token });
}

function unmarkNumber(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(MARK in value)) return value;
  const text = String(value[MARK]);
  return /^-?\d+$/.test(text) ? BigInt(text) : new FloatLiteral(Number(text));
}

/** `signature_name`, empty where there is none. @throws StatusError INVALID_ARGUMENT */
export function signatureNameOf(body: JsonObject): string {
  const name = body.signature_name ?? '';
  if (typeof name === 'string') return name;
  throw formatError(body, "not formatted correctly. 'signature_name' key must be a string value.");
}
