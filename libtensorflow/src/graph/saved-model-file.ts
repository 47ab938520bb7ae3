/** A `saved_model.pb` open for reading, its parts counted. */
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { allSteps, type Steps, stepsInTurns } from '@sagemaker-tfs/tensors/steps';
import { checkParts } from './check-parts.ts';
import { WireFile } from './wire-file.ts';

/** What is done with the file, in steps. */
type Use<T> = (file: WireFile) => Steps<T>;

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

/** The same by the file's directory, for what is done in steps. */
export function withSavedModel<T>(directory: string, use: Use<T>): T {
  return withSavedModelFile(pathIn(directory), (file) => allSteps(use(file)));
}

/** As {@link withSavedModel}, with the turns of others in between. */
export async function withSavedModelInTurns<T>(directory: string, use: Use<T>): Promise<T> {
  const file = new WireFile(pathIn(directory));
  try {
    return await stepsInTurns(counted(file, use), () => nextTurn());
  } finally {
    file.close();
  }
}

function* counted<T>(file: WireFile, use: Use<T>): Steps<T> {
  yield* checkParts(file);
  return yield* use(file);
}

const pathIn = (directory: string) => join(directory, 'saved_model.pb');
