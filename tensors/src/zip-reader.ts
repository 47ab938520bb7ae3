/**
 * Zip archives read in place: uncompressed entries are views, and nothing is decompressed beyond the
 * caller's limit. Format: APPNOTE.TXT 6.3.
 */
import { inflateSync } from 'fflate';
import { crc32 } from './crc32.ts';
import { TensorError } from './errors.ts';
import { dataViewOf, utf8Decode } from './text.ts';
import { type DirectoryEntry, malformed, readDirectory } from './zip-directory.ts';

const LOCAL_HEADER = { signature: 0x04034b50, bytes: 30 } as const;
const STORED = 0;
const DEFLATED = 8;
/** Deflate's own: 258 bytes of two bits. */
const MAX_DEFLATE_RATIO = 1032;
/** Longer names are no names of tensors, and would fill messages. */
const MAX_NAME_BYTES = 1024;

/** How much an archive may hold. */
export interface ZipLimits {
  /** Bytes that all files together may have, decompressed. */
  readonly maxBytes: number;
  /** Bytes of a file's name. Default: 1024. */
  readonly maxNameBytes?: number | undefined;
}

/** A file of an archive, not yet decompressed. */
export interface ZipFile {
  readonly name: string;
  /** Bytes, decompressed. */
  readonly size: number;
  /** The bytes as they lie in the archive. */
  readonly raw: Uint8Array;
  readonly isDeflated: boolean;
  readonly crc: number;
}

/**
 * The archive's files in the order of its directory. Nothing is decompressed, and no byte belongs to two files.
 * @throws TensorError MALFORMED, TOO_LARGE
 */
export function openZip(bytes: Uint8Array, limits: ZipLimits): ZipFile[] {
  const { maxBytes, maxNameBytes = MAX_NAME_BYTES } = limits;
  const directory = readDirectory(bytes, maxNameBytes);
  const total = directory.reduce((sum, entry) => sum + entry.size, 0);
  if (total > maxBytes) {
    throw new TensorError(
      'TOO_LARGE',
      `zip archive holds ${total} bytes decompressed, the limit is ${maxBytes}`,
    );
  }
  const placed = directory.map((entry) => ({ entry, ...placeOf(bytes, entry) }));
  checkApart(placed);
  return placed.map(({ entry, start, end }) => ({
    name: entry.name,
    size: entry.size,
    raw: bytes.subarray(start, end),
    isDeflated: entry.method === DEFLATED,
    crc: entry.crc,
  }));
}

/** The file's content. @throws TensorError MALFORMED, also where a CRC does not fit */
export function contentOf(file: ZipFile): Uint8Array {
  const content = file.isDeflated ? inflate(file) : file.raw;
  return checked(file, content, crc32(content));
}

/** Work that a server does not do all at once. */
export interface InTurns {
  /** Decompresses raw deflate to at most `size` bytes, in another thread. */
  inflate(raw: Uint8Array, size: number): Promise<Uint8Array>;
  nextTurn(): Promise<unknown>;
}

/** Summed up in less than a millisecond. */
const CRC_TURN_BYTES = 2 ** 21;

/** {@link contentOf} for servers. @throws TensorError MALFORMED */
export async function contentInTurns(
  file: ZipFile,
  { inflate: inflateLater, nextTurn }: InTurns,
): Promise<Uint8Array> {
  const content = file.isDeflated
    ? await inflateLater(file.raw, file.size).catch((cause) => {
        throw doesNotDecompress(file, cause);
      })
    : file.raw;
  let crc = 0;
  for (let at = 0; at < content.byteLength; at += CRC_TURN_BYTES) {
    if (at > 0) await nextTurn();
    crc = crc32(content.subarray(at, at + CRC_TURN_BYTES), crc);
  }
  return checked(file, content, crc);
}

function checked(file: ZipFile, content: Uint8Array, crc: number): Uint8Array {
  if (content.byteLength !== file.size) {
    throw malformed(`${file.name} has ${content.byteLength} bytes, not the ${file.size} stated.`);
  }
  if (crc !== file.crc) throw malformed(`${file.name} does not fit its CRC.`);
  return content;
}

interface Placed {
  readonly entry: DirectoryEntry;
  readonly start: number;
  readonly end: number;
}

/** Entries that share bytes would be decompressed once each. @throws TensorError MALFORMED */
function checkApart(placed: readonly Placed[]): void {
  let end = 0;
  for (const next of placed.toSorted((a, b) => a.entry.offset - b.entry.offset)) {
    if (next.entry.offset < end) throw malformed(`${next.entry.name} lies within another file.`);
    end = next.end;
  }
}

function placeOf(bytes: Uint8Array, entry: DirectoryEntry): { start: number; end: number } {
  if (entry.encrypted) throw malformed(`${entry.name} is encrypted.`);
  const view = dataViewOf(bytes);
  const { offset, method } = entry;
  const fits = offset + LOCAL_HEADER.bytes <= bytes.byteLength;
  if (!fits || view.getUint32(offset, true) !== LOCAL_HEADER.signature) {
    throw malformed(`no file header at byte ${offset} for ${entry.name}`);
  }
  const nameAt = offset + LOCAL_HEADER.bytes;
  const nameEnd = nameAt + view.getUint16(offset + 26, true);
  if (utf8Decode(bytes.subarray(nameAt, nameEnd)) !== entry.name) {
    throw malformed(`${entry.name} has another name in its own header.`);
  }
  const start = nameEnd + view.getUint16(offset + 28, true);
  const end = start + entry.compressedSize;
  if (end > bytes.byteLength) throw malformed(`${entry.name} runs past the end.`);
  if (method !== STORED && method !== DEFLATED) {
    throw malformed(`${entry.name} has compression method ${method}. Stored and deflate are read.`);
  }
  // Deflate makes at most 1032 bytes of one; a larger claim must not take memory.
  if (entry.size > entry.compressedSize * (method === STORED ? 1 : MAX_DEFLATE_RATIO)) {
    throw malformed(`${entry.name} cannot hold ${entry.size} bytes.`);
  }
  return { start, end };
}

/** Into a buffer of the stated size, which fflate does not grow: a lie about it ends in an error. */
function inflate(file: ZipFile): Uint8Array {
  try {
    return inflateSync(file.raw, { out: new Uint8Array(file.size) });
  } catch (cause) {
    throw doesNotDecompress(file, cause);
  }
}

function doesNotDecompress({ name }: ZipFile, cause: unknown): TensorError {
  return new TensorError('MALFORMED', `zip archive: ${name} does not decompress.`, { cause });
}
