/** Which chunks of a WebP go to the decoder (RFC 9649, section 2). */

const typeOf = (name: string): number => Buffer.from(name, 'latin1').readUInt32BE(0);
const FRAME = typeOf('ANMF');
const EXIF = typeOf('EXIF');
/** What the pixels need, whichever way they are coded. All else (profiles, XMP, unknown chunks) is left out. */
const NEEDED = new Set(['VP8X', 'ANIM', 'ALPH', 'VP8 ', 'VP8L'].map(typeOf));
/** Chunks that count once: the first picture is decoded, with its orientation. */
const ONCE = new Set([FRAME, EXIF]);

/** `RIFF`, the size of what follows, `WEBP`. */
const HEAD_BYTES = 12;
/** Type and length before a chunk's content. */
const CHUNK_HEAD_BYTES = 8;

/**
 * The WebP with no more than its first picture and its orientation need. The decoder goes through all frames anew for each
 * of them: a file of 25 MB may have 400,000. Takes time linear in the number of chunks.
 * @returns the same bytes where nothing is left out, and where it is cut short, which the decoder finds; else a copy
 */
export function webpForPixels(bytes: Uint8Array): Uint8Array {
  const webp = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (webp.length < HEAD_BYTES) return bytes;
  const end = CHUNK_HEAD_BYTES + webp.readUInt32LE(4);
  if (end > webp.length) return bytes;
  const pieces: Buffer[] = [webp.subarray(0, HEAD_BYTES)];
  const seen = new Set<number>();
  let isComplete = true;
  for (let at = HEAD_BYTES; at < end; ) {
    if (at + CHUNK_HEAD_BYTES > end) return bytes;
    const type = webp.readUInt32BE(at);
    const size = webp.readUInt32LE(at + 4);
    const next = at + CHUNK_HEAD_BYTES + size + (size % 2);
    if (next > end) return bytes;
    if (NEEDED.has(type) || (ONCE.has(type) && !seen.has(type))) {
      pieces.push(webp.subarray(at, next));
      seen.add(type);
    } else isComplete = false;
    at = next;
  }
  if (isComplete) return bytes;
  const copy = Buffer.concat(pieces);
  copy.writeUInt32LE(copy.length - CHUNK_HEAD_BYTES, 4);
  return copy;
}
