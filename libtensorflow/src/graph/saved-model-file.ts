/** A `saved_model.pb` open for reading, its parts counted. */
import { allSteps } from '@sagemaker-tfs/tensors/steps';
import { checkParts } from './check-parts.ts';
import { WireFile } from './wire-file.ts';

/**
 * Opens the file, counts its parts, passes it to `use`, closes it.
 * @throws the file system's error where it cannot be read, SpecialFile, DamagedFile
 */
export function withSavedModelFile<T>(path: string, use: (file: WireFile) => T): T {
  const file = new WireFile(path);
  try {
    allSteps(checkParts(file));
    return use(file);
  } finally {
    file.close();
  }
}
