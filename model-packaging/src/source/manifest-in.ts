/** The manifest of an archive that is packaged or verified again. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  checkManifestSize,
  MANIFEST_PATH,
  type Manifest,
  ManifestError,
  parseManifest,
} from '@sagemaker-tfs/manifest';
import { PackagingError } from '../errors.ts';

/** Undefined if the directory has none. @throws PackagingError CORRUPT_FILE */
export function manifestIn(directory: string): Manifest | undefined {
  const path = join(directory, MANIFEST_PATH);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return undefined;
  try {
    checkManifestSize(found.size);
    return parseManifest(readFileSync(path, 'utf8'));
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw new PackagingError('CORRUPT_FILE', `${path}: ${error.message}`, { cause: error });
  }
}
