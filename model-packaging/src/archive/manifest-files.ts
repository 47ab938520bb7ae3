/** Whether the files of a laid-out archive are those that its manifest names. */
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { MANIFEST_PATH } from '@sagemaker-tfs/manifest';
import { PackagingError } from '../errors.ts';
import { hashFile } from '../files/archive-files.ts';

/**
 * Reads every file of a laid-out archive, and compares it with the manifest.
 * @throws PackagingError CORRUPT_FILE for a file that is missing, has other bytes, or is not in the manifest
 */
export async function requireManifestFiles(
  directory: string,
  { files }: Pick<Manifest, 'files'>,
): Promise<void> {
  const there = await filesBelow(directory);
  for (const path of there) {
    if (path !== MANIFEST_PATH && !Object.hasOwn(files, path)) {
      throw changed(path, 'is not in its manifest');
    }
  }
  const found = new Set(there);
  for (const [path, { sha256 }] of Object.entries(files)) {
    if (!found.has(path)) throw changed(path, 'is missing');
    const { hash } = await hashFile(join(directory, path));
    if (hash.digest('hex') !== sha256) {
      throw changed(path, 'has other bytes than its manifest says');
    }
  }
}

/** Paths with `/`. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

function changed(path: string, what: string): PackagingError {
  return new PackagingError(
    'CORRUPT_FILE',
    `the archive was changed after it was packaged: ${path} ${what}. Package the model again.`,
  );
}
