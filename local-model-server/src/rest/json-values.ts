/** Parsed JSON of request bodies, and how TensorFlow Serving names its values in errors. */
import { invalidArgument, type StatusError } from '@sagemaker-tfs/libtensorflow/serving';
import { FloatLiteral } from '@sagemaker-tfs/tensors';

/** What a request body's JSON holds; bigint where an integer is beyond 2^53. */
export type JsonValue =
  | null
  | FloatLiteral
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Characters of a value that an error repeats: beyond them nothing more is begun. */
const MAX_SHOWN = 256;

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof FloatLiteral)
  );
}

export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** True for `{"b64": "..."}`, which stands for bytes. */
export function isBase64(value: JsonValue | undefined): value is { readonly b64: string } {
  return isObject(value) && typeof value.b64 === 'string' && Object.keys(value).length === 1;
}

/**
 * As absl::Base64Unescape: white space is passed over, padding may be missing but not be wrong.
 * @throws StatusError INVALID_ARGUMENT if the text is not base64
 */
export function decodeBase64({ b64 }: { readonly b64: string }): Buffer {
  const text = b64.replace(/\s+/g, '');
  const padding = /[=.]{0,2}$/.exec(text)?.[0].length ?? 0;
  const digits = text.slice(0, text.length - padding);
  const isWhole = padding === 0 ? digits.length % 4 !== 1 : text.length % 4 === 0;
  if (isWhole && /^[A-Za-z0-9+/]*$/.test(digits)) return Buffer.from(digits, 'base64');
  throw invalidArgument('Unable to base64 decode');
}

/** The value as text, an object's members and no list in lines of their own, as JsonValueToDebugString writes it. */
export function shown(value: JsonValue): string {
  let text = '';
  const write = (part: JsonValue, indent: string): void => {
    if (text.length > MAX_SHOWN) return;
    if (isArray(part)) {
      text += '[';
      for (const [index, element] of part.entries()) {
        if (text.length > MAX_SHOWN) return;
        if (index > 0) text += ', ';
        write(element, indent);
      }
      text += ']';
    } else if (isObject(part)) {
      const inner = `${indent}    `;
      text += '{';
      for (const [index, [name, member]] of Object.entries(part).entries()) {
        if (text.length > MAX_SHOWN) return;
        text += `${index > 0 ? ',' : ''}\n${inner}${JSON.stringify(name)}: `;
        write(member, inner);
      }
      text += Object.keys(part).length > 0 ? `\n${indent}}` : '}';
    } else text += scalarText(part);
  };
  write(value, '');
  return text;
}

function scalarText(value: JsonValue): string {
  if (value instanceof FloatLiteral) {
    const digits = String(value.value);
    return /^-?\d+$/.test(digits) ? `${digits}.0` : digits;
  }
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

/** The kind of value, as TensorFlow Serving names it. */
export function typeName(value: JsonValue): string {
  if (value === null) return 'Null';
  if (Array.isArray(value)) return 'Array';
  if (value instanceof FloatLiteral) return 'Number';
  switch (typeof value) {
    case 'boolean':
      return value ? 'True' : 'False';
    case 'string':
      return 'String';
    case 'object':
      return 'Object';
    default:
      return 'Number';
  }
}

/** An error about a value as a whole. */
export function formatError(value: JsonValue, problem: string): StatusError {
  return invalidArgument(`JSON Value: ${shown(value)} ${problem}`);
}
