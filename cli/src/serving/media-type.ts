/** The media type of a file that the user names. */
import { mediaTypeOf } from '@sagemaker-tfs/tensors';
import { usageError } from '../errors.ts';

/** The media type of a file by its ending. @throws CommandError USAGE if the ending is unknown */
export function requireMediaType(file: string): string {
  const type = mediaTypeOf(file);
  if (type !== undefined) return type;
  const what = file === '-' ? 'standard input has no ending' : `unknown ending: ${file}`;
  throw usageError(`${what}. Name its type with --content-type, for example application/json.`);
}
