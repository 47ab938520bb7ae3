/** Recognizes bodies that TensorFlow Serving's REST API takes as they are. */
import { isUtf8 } from 'node:buffer';
import { prefersJson } from '../codecs/registry.ts';
import type { Inference } from './inference.ts';

const FIRST_KEY = /^\s*\{\s*"(?:instances|inputs|examples|signature_name|context)"\s*:/;
/** Enough of a body to see its first key. */
const HEAD_BYTES = 256;
const BRACE = 0x7d;
/** After the brace at the end of a document that another one follows; inside one only in a string. */
const BETWEEN_DOCUMENTS: ReadonlySet<number> = new Set(
  [...'{\n\r '].map((text) => text.charCodeAt(0)),
);

/** Whether the body can go to the model server, and its answer to the client, without being read here. */
export function isServingJson(body: Uint8Array, inference: Inference): boolean {
  const { contentType, accept, postprocess, askedOutputs } = inference;
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json' || postprocess || askedOutputs) return false;
  if (inference.signatureAsked) return false;
  if (!prefersJson(accept)) return false;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (!FIRST_KEY.test(bytes.toString('latin1', 0, HEAD_BYTES))) return false;
  // TensorFlow Serving takes any bytes for text.
  if (!isUtf8(bytes)) return false;
  return !hasSeveralDocuments(bytes);
}

/** True also for some bodies of one document, which then take the longer way. */
function hasSeveralDocuments(body: Buffer): boolean {
  const end = body.lastIndexOf('}');
  for (let at = body.indexOf(BRACE); at >= 0 && at < end; at = body.indexOf(BRACE, at + 1)) {
    if (BETWEEN_DOCUMENTS.has(body[at + 1] as number)) return true;
  }
  return false;
}
