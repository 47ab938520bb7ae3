/** The media type of a file that the user names. */
import { statSync } from 'node:fs';
import { MEDIA_TYPE_ENDINGS, mediaTypeOf } from '@sagemaker-tfs/tensors';
import { usageError } from '../errors.ts';

/** What people name for a request, and what it is. */
const MODELS = /\.(keras|h5|hdf5|tar\.gz|tgz|pb|tflite)$/i;

/** The media type of a file by its ending. @throws CommandError USAGE if the ending is unknown */
export function requireMediaType(file: string): string {
  const type = mediaTypeOf(file);
  if (type !== undefined) return type;
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw usageError(
      `${file} is a folder. Name a file of it, or run all of them with batch local.`,
    );
  }
  if (MODELS.test(file)) {
    throw usageError(`${file} is a model, not a request. Name a file to send to it.`);
  }
  const what = file === '-' ? 'standard input has no ending' : `unknown ending: ${file}`;
  throw usageError(
    `${what}. Known are ${MEDIA_TYPE_ENDINGS.join(', ')}. Name the type of another file with --content-type, for example application/json.`,
  );
}
