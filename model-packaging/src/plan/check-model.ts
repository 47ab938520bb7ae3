/** Checks that a SavedModel is whole before it is packed. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { PackagingError } from '../errors.ts';
import { readSavedModel, servingGraph } from '../saved-model/saved-model.ts';
import { checkNoVariables, checkShards, readCheckpoint } from '../saved-model/variables.ts';

/**
 * Checks the graph, the checkpoint's files and the assets of a version directory.
 * @throws PackagingError NOT_A_SAVED_MODEL, CORRUPT_FILE or MISSING_FILE, naming the path
 */
export function checkModel(directory: string): void {
  const model = readSavedModel(directory);
  const { signatures, assets } = servingGraph(model);
  if (Object.keys(signatures).length === 0) {
    throw new PackagingError(
      'NOT_A_SAVED_MODEL',
      `${model.path} has no signatures, so it cannot be called. Export it with signatures: tf.saved_model.save(model, directory, signatures=model.serve), or model.export(directory).`,
    );
  }
  const checkpoint = readCheckpoint(directory);
  if (checkpoint) checkShards(directory, checkpoint);
  else checkNoVariables(directory);
  for (const { filename } of assets) {
    const path = join(directory, 'assets', filename);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) continue;
    throw new PackagingError(
      'MISSING_FILE',
      `${path} is missing, which the model reads. Export or copy the model again, with all of assets/.`,
    );
  }
}
