/** Text in TensorFlow Serving's answers over REST. */
import { isUtf8 } from 'node:buffer';
import type { Signature } from '@sagemaker-tfs/tensors';

const [QUOTE, BACKSLASH] = Buffer.from('"\\') as unknown as [number, number];

/**
 * TensorFlow Serving writes the bytes of strings into its JSON as they are: one that is not UTF-8, and the answer is no
 * JSON. Such strings become `{"b64": "..."}` here, as in the answers of the other backends.
 * @returns the answer itself if it is UTF-8
 */
export function utf8Reply(body: Uint8Array, { outputs }: Signature): Uint8Array {
  const hasText = Object.values(outputs).some(({ dtype }) => dtype === 'string');
  return hasText ? utf8Json(body) : body;
}

/** {@link utf8Reply} of an answer that has text. */
export function utf8Json(body: Uint8Array): Uint8Array {
  return isUtf8(body) ? body : withBase64(body);
}

function withBase64(body: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [];
  let copied = 0;
  let start = -1;
  let isAscii = true;
  for (let at = 0; at < body.byteLength; at++) {
    const byte = body[at] as number;
    if (start < 0) {
      if (byte !== QUOTE) continue;
      start = at;
      isAscii = true;
    } else if (byte === BACKSLASH) at += 1;
    else if (byte >= 0x80) isAscii = false;
    else if (byte === QUOTE) {
      const literal = body.subarray(start, at + 1);
      if (!isAscii && !isUtf8(literal)) {
        pieces.push(body.subarray(copied, start), base64Of(literal));
        copied = at + 1;
      }
      start = -1;
    }
  }
  pieces.push(body.subarray(copied));
  return Buffer.concat(pieces);
}

/**
 * Escapes stand for control characters, quotes and backslashes alone: a character of Latin-1 for each byte.
 * @returns the literal itself if it is no string of JSON: who reads the whole answer says so
 */
function base64Of(literal: Uint8Array): Uint8Array {
  const text = stringOf(Buffer.from(literal).toString('latin1'));
  if (text === undefined) return literal;
  return Buffer.from(`{"b64":"${Buffer.from(text, 'latin1').toString('base64')}"}`);
}

function stringOf(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}
