/** Reads the first directory of a TIFF (TIFF 6.0 section 2): what must be known before its pixels are decoded. */
import { ServingError } from '../errors.ts';

/** What the first directory says. */
export interface TiffDirectory {
  readonly width: number;
  readonly height: number;
  /** Bits of a sample, of the first channel. Default of the format: 1. */
  readonly bits: number;
  /** 1 unsigned, 2 signed, 3 floating point, 4 unknown, 5 and 6 complex. Default of the format: 1. */
  readonly sampleFormat: number;
}

const TAGS = { width: 256, height: 257, bits: 258, sampleFormat: 339 };
const SHORT = 3;
const LONG = 4;
/** Bytes of a value of each type, 1 (BYTE) to 13 (IFD). */
const TYPE_BYTES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];
const ENTRY_BYTES = 12;

/**
 * The first directory of a classic TIFF.
 * @returns undefined if it lies beyond the end of the file or lacks a side: the decoder says what is wrong
 * @throws ServingError BAD_IMAGE where its values take more bytes than the file has: they are made to be read again
 *   and again
 */
export function readTiffDirectory(bytes: Uint8Array): TiffDirectory | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.byteLength < 8) return undefined;
  const little = view.getUint16(0) === 0x4949;
  const start = view.getUint32(4, little);
  if (start + 2 > view.byteLength) return undefined;
  const end = start + 2 + view.getUint16(start, little) * ENTRY_BYTES;
  if (end > view.byteLength) return undefined;
  const found = new Map<number, number>();
  let claimed = 0;
  for (let at = start + 2; at < end; at += ENTRY_BYTES) {
    const type = view.getUint16(at + 2, little);
    claimed += view.getUint32(at + 4, little) * (TYPE_BYTES[type] ?? 0);
    const tag = view.getUint16(at, little);
    // Decoders take the first of two entries of one tag.
    if (!found.has(tag)) found.set(tag, firstValue(view, at, type, little));
  }
  if (claimed > view.byteLength) throw tooManyValues(claimed, view.byteLength);
  const width = found.get(TAGS.width);
  const height = found.get(TAGS.height);
  if (width === undefined || height === undefined) return undefined;
  const bits = found.get(TAGS.bits) ?? 1;
  return { width, height, bits, sampleFormat: found.get(TAGS.sampleFormat) ?? 1 };
}

/** Of SHORT and LONG the first value, 0 of all others and of those that lie beyond the end. */
function firstValue(view: DataView, entry: number, type: number, little: boolean): number {
  if (type !== SHORT && type !== LONG) return 0;
  const size = TYPE_BYTES[type] as number;
  const isInEntry = view.getUint32(entry + 4, little) * size <= 4;
  const at = isInEntry ? entry + 8 : view.getUint32(entry + 8, little);
  if (at + size > view.byteLength) return 0;
  return type === SHORT ? view.getUint16(at, little) : view.getUint32(at, little);
}

function tooManyValues(claimed: number, size: number): ServingError {
  return new ServingError(
    'BAD_IMAGE',
    `the tags of the TIFF claim ${claimed} bytes; the file has ${size}. It is damaged: save it anew.`,
  );
}

/**
 * Samples that are no whole numbers of at most 16 bits have no range that could be made 0-255.
 * @throws ServingError BAD_IMAGE
 */
export function checkTiffSamples(bytes: Uint8Array): void {
  const directory = readTiffDirectory(bytes);
  if (!directory) return;
  const { bits, sampleFormat } = directory;
  const isWhole = sampleFormat === 1 || sampleFormat === 4;
  if (isWhole && bits <= 16) return;
  const kind = isWhole ? '' : ` ${SAMPLE_KINDS[sampleFormat] ?? 'unknown'}`;
  throw new ServingError(
    'BAD_IMAGE',
    `the TIFF has${kind} samples of ${bits} bits; unsigned ones of 8 or 16 bits are read. Convert it, or send the values as a tensor.`,
  );
}

const SAMPLE_KINDS: Readonly<Record<number, string>> = {
  2: 'signed',
  3: 'floating-point',
  5: 'complex',
  6: 'complex',
};
