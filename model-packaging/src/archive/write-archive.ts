/** Writes a plan as `model.tar.gz`: complete under its name, or not at all. */
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import type { PlannedFile } from '../files/archive-files.ts';
import { makeParent, outputFailed } from '../files/output.ts';
import { gzipMembers } from './parallel-gzip.ts';
import { type CheckOptions, passed } from './passed.ts';
import { sealBytes } from './seal.ts';
import { CHUNK_SIZE, tarChunks } from './tar-chunks.ts';

/** What {@link writeArchive} needs. */
export interface WriteOptions extends CheckOptions {
  /** gzip level, 0-9. */
  readonly level: number;
  /** Digest of the inputs, for the seal. */
  readonly key: string;
  /** Bytes of tar that went through the compressor since the last call. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * Writes the archive under a temporary name beside `target`, an absolute path, then renames it.
 * @throws PackagingError OUTPUT_FAILED, FILE_CHANGED, ABORTED; nothing is left behind then
 */
export async function writeArchive(
  files: readonly PlannedFile[],
  target: string,
  options: WriteOptions,
): Promise<{ bytes: number; sha256: string }> {
  await makeParent(target);
  const temporary = `${target}.${randomBytes(4).toString('hex')}.partial`;
  try {
    const handle = await open(temporary, 'wx').catch(outputFailed(target));
    let written: { bytes: number; sha256: string };
    try {
      written = await writeMembers(files, handle, options, target);
    } finally {
      await handle.close();
    }
    await passed(options, temporary);
    await rename(temporary, target).catch(outputFailed(target));
    return written;
  } catch (error) {
    // The first failure counts.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function writeMembers(
  files: readonly PlannedFile[],
  handle: FileHandle,
  { level, key, onBytes, signal }: WriteOptions,
  target: string,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const write = async (piece: Buffer) => {
    hash.update(piece);
    bytes += piece.length;
    await handle.writeFile(piece).catch(outputFailed(target));
  };
  const spare: Buffer[] = [];
  for await (const member of gzipMembers(tarChunks(files, spare, signal), level, spare)) {
    await write(member);
    onBytes(CHUNK_SIZE);
  }
  await write(sealBytes({ key, body: hash.copy().digest('hex') }));
  await handle.sync().catch(outputFailed(target));
  return { bytes, sha256: hash.digest('hex') };
}
