/** Refuses models that TensorFlow Serving would load without their variables, and that would fail at every request. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '../errors.ts';
import type { ServedModel } from './served-model.ts';
import { versionDirectories } from './version-directories.ts';

/** @throws StartError MODELS_INVALID, naming the file */
export async function checkVariables(
  models: readonly Pick<ServedModel, 'basePath' | 'versions'>[],
): Promise<void> {
  const directories = (await Promise.all(models.map(versionDirectories))).flat();
  await Promise.all(directories.map(({ path }) => checkVersion(path)));
}

async function checkVersion(directory: string): Promise<void> {
  // Most have it: nothing else is read.
  if (await exists(join(directory, 'variables', 'variables.index'))) return;
  const { missingVariablesInTurns } = await import('@sagemaker-tfs/libtensorflow/graph');
  let missing: string | undefined;
  try {
    missing = await missingVariablesInTurns(directory);
  } catch {
    // TensorFlow says what is wrong with the file.
    return;
  }
  if (missing === undefined) return;
  throw new StartError(
    'MODELS_INVALID',
    `${missing} is missing, which the model's variables are restored from. Package the model with all of variables/.`,
  );
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
