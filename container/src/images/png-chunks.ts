/** Which chunks of a PNG go to the decoder (PNG specification, third edition, section 5). */

import type { ImageLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';

/** EXIF blocks are small, JPEG's even bound to this size; all that counts in them is the orientation. */
const MAX_EXIF_BYTES = 65_535;
/** The chunks of a few numbers: none takes more than 768 bytes. */
const MAX_NUMBERS_BYTES = 768;

const SIGNATURE_BYTES = 8;
/** Length and type before a chunk's content. */
const HEAD_BYTES = 8;
const CHECKSUM_BYTES = 4;

const typeOf = (name: string): number => Buffer.from(name, 'latin1').readUInt32BE(0);
const IEND = typeOf('IEND');
/** Bytes that each ancillary chunk may have. Unlisted chunks (text, profiles, animation) are left out. */
const ANCILLARY: ReadonlyMap<number, number> = new Map([
  // Colors that are transparent: as many as the palette has, or one.
  [typeOf('tRNS'), MAX_NUMBERS_BYTES],
  [typeOf('eXIf'), MAX_EXIF_BYTES],
  // No pixel depends on these. They stay, so that most files need no copy.
  ...['gAMA', 'cHRM', 'sRGB', 'sBIT', 'pHYs', 'bKGD', 'tIME'].map(
    (name) => [typeOf(name), MAX_NUMBERS_BYTES] as const,
  ),
]);
/** The fifth bit of a type's first letter. */
const ANCILLARY_BIT = 0x20_00_00_00;

/**
 * The PNG with no more than its pixels and its orientation need. Compressed text and color profiles, which the decoder
 * would unpack (a megabyte of them may become gigabytes), are left out. Takes time linear in the number of chunks.
 * @returns the same bytes where nothing is left out, else a copy. Damage is left for the decoder to find.
 * @throws ServingError BAD_IMAGE if it has more than `maxPngChunks` chunks
 */
export function pngForPixels(bytes: Uint8Array, { maxPngChunks }: ImageLimits): Uint8Array {
  const png = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pieces: [start: number, end: number][] = [[0, SIGNATURE_BYTES]];
  let at = SIGNATURE_BYTES;
  let isComplete = true;
  for (let count = 1; at + HEAD_BYTES <= png.length; count++) {
    if (count > maxPngChunks) throw tooManyChunks(maxPngChunks);
    const size = png.readUInt32BE(at);
    const type = png.readUInt32BE(at + 4);
    const end = Math.min(at + HEAD_BYTES + size + CHECKSUM_BYTES, png.length);
    if (isNeeded(type, size)) append(pieces, at, end);
    else isComplete = false;
    at = end;
    if (type === IEND) break;
  }
  return isComplete ? bytes : joined(png, pieces);
}

function isNeeded(type: number, size: number): boolean {
  if ((type & ANCILLARY_BIT) === 0) return true;
  return size <= (ANCILLARY.get(type) ?? -1);
}

function append(pieces: [start: number, end: number][], start: number, end: number): void {
  const last = pieces.at(-1);
  if (last?.[1] === start) last[1] = end;
  else pieces.push([start, end]);
}

function joined(png: Buffer, pieces: readonly (readonly [number, number])[]): Uint8Array {
  const size = pieces.reduce((sum, [start, end]) => sum + end - start, 0);
  const out = new Uint8Array(size);
  let at = 0;
  for (const [start, end] of pieces) {
    out.set(png.subarray(start, end), at);
    at += end - start;
  }
  return out;
}

function tooManyChunks(most: number): ServingError {
  return new ServingError(
    'BAD_IMAGE',
    `the PNG has more than ${most} chunks (SAGEMAKER_TFS_MAX_PNG_CHUNKS). Save it anew.`,
  );
}
