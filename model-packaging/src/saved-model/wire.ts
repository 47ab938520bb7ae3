/** Protobuf files of a model, whose errors are this room's. */
import { type WireFile, withSavedModelFile as withFile } from '@sagemaker-tfs/libtensorflow/graph';
import { inOwnErrors } from '../files/own-errors.ts';

export { LENGTH_DELIMITED, type Span, type WireFile } from '@sagemaker-tfs/libtensorflow/graph';

/** Opens a file, passes it to `use`, closes it. @throws PackagingError MISSING_FILE, BAD_FILE_NAME, CORRUPT_FILE */
export function withSavedModelFile<T>(path: string, use: (file: WireFile) => T): T {
  return inOwnErrors(path, () => withFile(path, use));
}
