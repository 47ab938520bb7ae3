/** JSON requests: text to values without losing digits, values to tensors. */
import type { DType } from './dtype.ts';
import { TensorError } from './errors.ts';
import { FloatLiteral, isTooDeep, parseExact, parseExactDocuments } from './json-exact.ts';
import { parsePackedDocuments } from './json-packed.ts';
import { indexed, type PlaceName, tensorFromTree } from './nested.ts';
import type { Tensor } from './tensor.ts';
import { base64Decode, utf8DecodeStrict } from './text.ts';

/** An integer of 16 digits or more, or an exponent of 3 or more, which a number might not hold; or text like it. */
const LONG_NUMBER = /(?:^|[[,:\s])-?\d{16,}(?:[,\]}\s]|$)|[eE](?<=\d[eE])\+?\d{3,}(?:[,\]}\s]|$)/;
/** With fewer digits, a number without an exponent of 3 is in the range of float64. */
const LONG_RUN = 200;

/** True if a number of the text might not be kept by JSON.parse. */
function hasLongNumber(text: string): boolean {
  // In this order: a regular expression runs out of stack on megabytes of digits.
  return hasLongRun(text) || LONG_NUMBER.test(text);
}

/** A run of digits that long covers one of these places; a regular expression would look at all. */
function hasLongRun(text: string): boolean {
  for (let at = LONG_RUN - 1; at < text.length; at += LONG_RUN) {
    if (!isDigit(text, at)) continue;
    let start = at;
    let end = at + 1;
    while (isDigit(text, start - 1)) start -= 1;
    while (isDigit(text, end)) end += 1;
    if (end - start >= LONG_RUN) return true;
  }
  return false;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

/**
 * Parses JSON as JSON.parse does, except that integers of 2^53 and beyond become bigint, bare NaN, Infinity and
 * -Infinity are numbers, and numbers beyond the range of float64 are refused, as TensorFlow Serving has it. A
 * byte order mark is passed over.
 * @param body text, or its UTF-8 bytes
 * @throws TensorError MALFORMED, naming line and character
 */
export function parseJson(body: string | Uint8Array): unknown {
  const text = textOf(body);
  if (!isTooDeep(text) && !hasLongNumber(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // Either NaN or an infinity, or an error that the exact parser can place.
    }
  }
  return parseExact(text);
}

export { FloatLiteral };

/**
 * As {@link parseJson} for a body of any number of documents, a line each or one after the other.
 * @throws TensorError MALFORMED, naming line and character
 */
export function parseJsonDocuments(body: string | Uint8Array): unknown[] {
  const text = textOf(body);
  if (!isTooDeep(text) && !hasLongNumber(text)) {
    try {
      return [JSON.parse(text)];
    } catch {
      // More than one document, or as above.
    }
    try {
      const lines = text.split('\n').filter((line) => line.trim() !== '');
      return lines.map((line) => JSON.parse(line));
    } catch {
      // Documents over several lines, or as above.
    }
  }
  return parseExactDocuments(text);
}

/**
 * As {@link parseJsonDocuments}, but a number written with a fraction or an exponent is a {@link FloatLiteral}: `1.0` is
 * not `1`.
 * @throws TensorError MALFORMED, naming line and character
 */
export function parseJsonLiteralDocuments(body: string | Uint8Array): unknown[] {
  return parseExactDocuments(textOf(body), true);
}

/**
 * As {@link parseJsonDocuments}, but nested lists of numbers may come as PackedNumbers, which
 * {@link tensorFromJson} takes as it takes arrays: many times faster for large tensors.
 * @throws TensorError MALFORMED, naming line and character
 */
export function parsePackedJsonDocuments(body: Uint8Array): unknown[] {
  return parsePackedDocuments(body) ?? parseJsonDocuments(body);
}

/**
 * As {@link parseJson}, with PackedNumbers as {@link parsePackedJsonDocuments} has them.
 * @throws TensorError MALFORMED, naming line and character
 */
export function parsePackedJson(body: Uint8Array): unknown {
  const documents = parsePackedDocuments(body);
  return documents?.length === 1 ? documents[0] : parseJson(body);
}

function textOf(body: string | Uint8Array): string {
  const text = typeof body === 'string' ? body : utf8DecodeStrict(body);
  if (text === undefined) throw new TensorError('MALFORMED', 'not valid JSON: it is not UTF-8.');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** UTF-8 has no form for it; encoders write U+FFFD instead, another text. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * A tensor from parsed JSON: nested arrays (or PackedNumbers) of numbers, booleans or strings as the dtype asks; a string may
 * be `{"b64": "..."}`, the base64 of its bytes. Text is UTF-8.
 * @param path what messages call the value (`instances`), or a function from indices to that, where the
 *   value was put together from several places
 * @param maxStrings strings at most; default: any number
 * @throws TensorError TOO_LARGE, SHAPE_MISMATCH for ragged arrays, VALUE_OUT_OF_RANGE, both naming the place:
 *   `instances[3].image[0][2]: "abc" is not a number for float32`
 */
export function tensorFromJson(
  dtype: DType,
  value: unknown,
  path: string | PlaceName = 'value',
  maxStrings?: number,
): Tensor {
  const placeName = typeof path === 'string' ? indexed(path) : path;
  if (dtype !== 'string') return tensorFromTree(dtype, value, { placeName });
  return tensorFromTree(dtype, value, {
    placeName,
    maxStrings,
    convertRun: (run, indices) =>
      Array.from(run, (element, i) => {
        const text = typeof element === 'string' ? element : undefined;
        if (text !== undefined && !LONE_SURROGATE.test(text)) return text;
        const base64 = base64Of(element);
        if (text === undefined && base64 === undefined) return element;
        const bytes = base64 === undefined ? undefined : decodeBase64(base64);
        if (bytes) return bytes;
        const where = Array.isArray(value) ? [...indices, i] : indices;
        const what =
          text === undefined ? '"b64" is not base64' : 'half a surrogate pair is no text';
        throw new TensorError('VALUE_OUT_OF_RANGE', `${placeName(where)}: ${what}`);
      }),
  });
}

/** True for `{"b64": "..."}`, which is a value and not an object of named inputs. */
export function isBase64Object(value: unknown): value is { readonly b64: string } {
  return base64Of(value) !== undefined;
}

function base64Of(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('b64' in value)) return undefined;
  // A list of the keys would be another object for each of a million values.
  for (const key in value) if (key !== 'b64') return undefined;
  return typeof value.b64 === 'string' ? value.b64 : undefined;
}

/**
 * As TensorFlow Serving reads it: `+` and `/`, white space passed over, padding whole or left out. Undefined if a
 * character is not of the alphabet: decoders pass over it, and too few bytes come out.
 */
function decodeBase64(text: string): Uint8Array | undefined {
  const whole = /\s/.test(text) ? text.replace(/\s/g, '') : text;
  const digits = withoutPadding(whole);
  const padding = whole.length - digits.length;
  if (digits.length % 4 === 1 || padding > 2) return undefined;
  if (padding > 0 && whole.length % 4 !== 0) return undefined;
  // Decoders take these two for + and /.
  if (digits.includes('-') || digits.includes('_')) return undefined;
  const bytes = base64Decode(digits);
  return bytes.byteLength === Math.floor((digits.length * 3) / 4) ? bytes : undefined;
}

/** A regular expression would look at every run of `=` from each of its characters. */
function withoutPadding(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '=') end -= 1;
  return end === text.length ? text : text.slice(0, end);
}
