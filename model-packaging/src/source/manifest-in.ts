/** The manifest of an archive that is packaged or verified again. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFileSync } from '@sagemaker-tfs/libtensorflow/regular-file';
import {
  checkManifestSize,
  MANIFEST_PATH,
  type Manifest,
  ManifestError,
  parseManifest,
} from '@sagemaker-tfs/manifest';
import { PackagingError } from '../errors.ts';
import { inOwnErrors } from '../files/own-errors.ts';

/** Undefined if the directory has none. @throws PackagingError CORRUPT_FILE, BAD_FILE_NAME */
export function manifestIn(directory: string): Manifest | undefined {
  const path = join(directory, MANIFEST_PATH);
  if (!existsSync(path)) return undefined;
  try {
    return parseManifest(
      inOwnErrors(path, () => readRegularFileSync(path, checkManifestSize)).toString('utf8'),
    );
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw new PackagingError('CORRUPT_FILE', `${path}: ${error.message}`, { cause: error });
  }
}
