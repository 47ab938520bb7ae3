/** What an archive's handler declares of its bodies, as packaging wrote it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFileSync } from '@sagemaker-tfs/libtensorflow/regular-file';
import { checkManifestSize } from '@sagemaker-tfs/manifest';
import { PackagingError } from '../errors.ts';
import { inOwnErrors } from '../files/own-errors.ts';
import {
  DECLARED_BODIES_PATH,
  type DeclaredBodies,
  declaredBodiesSchema,
} from './declared-bodies.ts';

/**
 * Undefined if it declares nothing.
 * @param directory where the archive is laid out
 * @throws PackagingError CORRUPT_FILE
 */
export function readDeclaredBodies(directory: string): DeclaredBodies | undefined {
  const path = join(directory, DECLARED_BODIES_PATH);
  if (!existsSync(path)) return undefined;
  const bytes = inOwnErrors(path, () => readRegularFileSync(path, checkManifestSize));
  try {
    return declaredBodiesSchema.parse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    throw new PackagingError(
      'CORRUPT_FILE',
      `${path} is not what packaging writes. Package the model again.`,
      { cause },
    );
  }
}
