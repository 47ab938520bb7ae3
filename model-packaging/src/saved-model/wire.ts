/** Protobuf files of a model, whose errors are this room's. */
import {
  DamagedFile,
  type WireFile,
  withWireFile as withFile,
} from '@sagemaker-tfs/libtensorflow/graph';
import { damaged, PackagingError, unreadable } from '../errors.ts';
import { requireRegularFile } from './regular-file.ts';

export { LENGTH_DELIMITED, type Span, type WireFile } from '@sagemaker-tfs/libtensorflow/graph';

/** Opens a file, passes it to `use`, closes it. @throws PackagingError MISSING_FILE, BAD_FILE_NAME, CORRUPT_FILE */
export function withWireFile<T>(path: string, use: (file: WireFile) => T): T {
  return inOwnErrors(path, () => {
    requireRegularFile(path);
    return withFile(path, use);
  });
}

/** @throws PackagingError in place of the errors of reading */
export function inOwnErrors<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof PackagingError) throw error;
    if (error instanceof DamagedFile) throw damaged(path, error.what, error);
    if (error instanceof Error && 'syscall' in error) throw unreadable(path, error, 'MISSING_FILE');
    throw error;
  }
}
