/** What packaging wrote down. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from '@sagemaker-tfs/libtensorflow/regular-file';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { MANIFEST_PATH } from '@sagemaker-tfs/manifest/manifest-path';
import { StartError } from '../errors.ts';

/**
 * The manifest of an unpacked archive; undefined if it was packed by hand. The schema's library takes its time to load, and such
 * archives do not need it.
 * @throws StartError ARCHIVE_INVALID
 */
export async function readManifest(directory: string): Promise<Manifest | undefined> {
  const path = join(directory, MANIFEST_PATH);
  if (!existsSync(path)) return undefined;
  const { checkManifestSize, parseManifest } = await import('@sagemaker-tfs/manifest');
  try {
    return parseManifest((await readRegularFile(path, checkManifestSize)).toString('utf8'));
  } catch (cause) {
    throw new StartError('ARCHIVE_INVALID', `${MANIFEST_PATH}: ${(cause as Error).message}`, {
      cause,
    });
  }
}
