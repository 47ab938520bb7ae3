/** Request bodies. */
import { isUtf8 } from 'node:buffer';
import { invalidArgument } from '@sagemaker-tfs/libtensorflow/serving';
import type { Signature } from '@sagemaker-tfs/tensors';
import { parseServingJson } from './json-parser.ts';
import { formatError, isObject, type JsonObject } from './json-values.ts';

/** The object that a body holds. @throws StatusError INVALID_ARGUMENT with the offset of what is wrong */
export function parseBody(body: Buffer): JsonObject {
  return objectOf(body, false);
}

/** As {@link parseBody}, but numbers with a fraction or an exponent become `FloatLiteral`. */
export function parseBodyWithFloats(body: Buffer): JsonObject {
  return objectOf(body, true);
}

/** The body as {@link parseBody} gave it, or parsed anew where it matters to the signature that `1.0` is no integer. */
export function parsedFor(signature: Signature, body: Buffer, parsed: JsonObject): JsonObject {
  const isExact = Object.values(signature.inputs).some(({ dtype }) => dtype && /int/.test(dtype));
  return isExact && /\d[.eE]/.test(body.toString('latin1')) ? parseBodyWithFloats(body) : parsed;
}

function objectOf(body: Buffer, literals: boolean): JsonObject {
  if (body.length === 0) throw invalidArgument('JSON Parse error: The document is empty');
  if (!isUtf8(body)) throw invalidArgument('JSON Parse error: the text is not UTF-8');
  refuseDeep(body);
  const value = parseServingJson(body.toString('utf8'), literals);
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

/** `signature_name`, empty if there is none. @throws StatusError INVALID_ARGUMENT */
export function signatureNameOf(body: JsonObject): string {
  const name = body.signature_name;
  if (name === undefined) return '';
  if (typeof name === 'string') return name;
  throw formatError(body, "not formatted correctly. 'signature_name' key must be a string value.");
}
