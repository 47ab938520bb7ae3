/** Files of models are read by `libtensorflow`; the errors are this room's. */
import { DamagedFile } from '@sagemaker-tfs/libtensorflow/graph';
import { SpecialFile } from '@sagemaker-tfs/libtensorflow/regular-file';
import { damaged, PackagingError, unreadable } from '../errors.ts';

/** @throws PackagingError MISSING_FILE, BAD_FILE_NAME, CORRUPT_FILE in place of the errors of reading */
export function inOwnErrors<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw ownError(path, error);
  }
}

/** An error of reading as this room's; another one as it is. */
function ownError(path: string, error: unknown): unknown {
  if (error instanceof SpecialFile) {
    return new PackagingError('BAD_FILE_NAME', error.message, { cause: error });
  }
  if (error instanceof DamagedFile) return damaged(path, error.what, error);
  if (!(error instanceof PackagingError) && error instanceof Error && 'syscall' in error) {
    return unreadable(path, error, 'MISSING_FILE');
  }
  return error;
}
