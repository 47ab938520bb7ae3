/** The files of an archive: where each goes, where it comes from, and its digest. */
import { createHash, type Hash } from 'node:crypto';
import { openRegularFile } from '@sagemaker-tfs/libtensorflow/regular-file';
import { fileChanged, throwIfAborted, unreadable } from '../errors.ts';

/** Where a file's bytes come from: a file on disk, or memory. */
type FileContent = { readonly file: string } | { readonly bytes: Uint8Array };

/** A file that will be in the archive. */
export interface SourceFile {
  /** Path inside the archive, with `/` between names. */
  readonly path: string;
  readonly content: FileContent;
  /** Bytes. */
  readonly size: number;
}

/** A file whose content is known. */
export interface PlannedFile extends SourceFile {
  /** Hex. */
  readonly sha256: string;
}

/** Called with the bytes done since the last call. */
export type OnBytes = (bytes: number) => void;

const READ_SIZE = 1024 * 1024;

/** A file held in memory. */
export function memoryFile(path: string, bytes: Uint8Array): PlannedFile {
  return {
    path,
    content: { bytes },
    size: bytes.byteLength,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}

/**
 * Reads every file once and notes its digest; in the order given.
 * @throws PackagingError FILE_CHANGED or SOURCE_NOT_FOUND, naming the path
 */
export async function digestFiles(
  files: readonly SourceFile[],
  onBytes: OnBytes,
  signal?: AbortSignal,
): Promise<PlannedFile[]> {
  const planned: PlannedFile[] = [];
  const buffer = Buffer.allocUnsafeSlow(READ_SIZE);
  for (const file of files) {
    if ('bytes' in file.content) {
      planned.push(memoryFile(file.path, file.content.bytes));
      continue;
    }
    const { hash, bytes } = await hashFile(file.content.file, { buffer, onBytes, signal });
    if (bytes !== file.size) throw fileChanged(file.content.file);
    planned.push({ ...file, sha256: hash.digest('hex') });
  }
  return planned;
}

/** How {@link hashFile} reads. */
interface HashOptions {
  /** Reused between files. */
  readonly buffer?: Uint8Array;
  readonly onBytes?: OnBytes;
  readonly signal?: AbortSignal | undefined;
  /** Number of bytes to read, from the start. Default: all. */
  readonly length?: number;
}

/** The SHA-256 of a file, not yet finished, and its size; read in pieces. @throws PackagingError SOURCE_NOT_FOUND */
export async function hashFile(
  path: string,
  options: HashOptions = {},
): Promise<{ hash: Hash; bytes: number }> {
  const buffer = options.buffer ?? Buffer.allocUnsafeSlow(READ_SIZE);
  const hash = createHash('sha256');
  let bytes = 0;
  const handle = await openRegularFile(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    for (;;) {
      throwIfAborted(options.signal);
      const wanted = Math.min(buffer.byteLength, (options.length ?? Infinity) - bytes);
      const { bytesRead } = await handle.read(buffer, 0, wanted, null);
      if (bytesRead === 0) return { hash, bytes };
      hash.update(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
      options.onBytes?.(bytesRead);
    }
  } finally {
    await handle.close();
  }
}
