/** UTF-8 and byte helpers that use Node's Buffer where there is one, so that browsers can bundle the rest. */

const hasBuffer = typeof Buffer !== 'undefined';
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text's UTF-8 bytes. */
export function utf8Encode(text: string): Uint8Array {
  return hasBuffer ? Buffer.from(text, 'utf8') : encoder.encode(text);
}

/** The text of UTF-8 bytes, with U+FFFD for invalid ones. */
export function utf8Decode(bytes: Uint8Array): string {
  if (!hasBuffer) return decoder.decode(bytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** The text of UTF-8 bytes, or undefined if they are not UTF-8. */
export function utf8DecodeStrict(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** One array of all the chunks' bytes, in order. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1) return chunks[0] as Uint8Array;
  const out = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    out.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return out;
}

/** The same bytes as a Buffer; in browsers, which have none, themselves. */
export function asBuffer(bytes: Uint8Array): Buffer {
  if (!hasBuffer) return bytes as Buffer;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A copy of the bytes, in memory of its own that is not filled with zeros first where Node can do without. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  if (!hasBuffer) return bytes.slice();
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength);
  copy.set(bytes);
  return copy;
}

/** A DataView of exactly these bytes. */
export function dataViewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The bytes of base64 text; characters outside the alphabet are passed over. */
export function base64Decode(text: string): Uint8Array {
  if (hasBuffer) return Buffer.from(text, 'base64');
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** Base64 text of the bytes. */
export function base64Encode(bytes: Uint8Array): string {
  if (hasBuffer) {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  }
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
