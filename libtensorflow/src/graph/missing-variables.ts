/**
 * A SavedModel that has lost its variables: TensorFlow takes one without `variables.index` for one that has none, loads it,
 * and fails at every run (`Could not find variable`).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pauseAfter, type Steps } from '@sagemaker-tfs/tensors/steps';
import { withSavedModel, withSavedModelInTurns } from './saved-model-file.ts';
import { nested, servedMetaGraph } from './served-meta-graph.ts';
import { LENGTH_DELIMITED, type WireFile } from './wire-file.ts';

/** Operations that are variables; TF2 models have them in the graph, too, for those who load them as TF1. */
const VARIABLE = /^(VarHandleOp|Variable|VariableV2)$/;

/** Nodes that are read in one go: some milliseconds. */
const NODES_A_TURN = 256;

/**
 * Path of the file that the model's variables are restored from, if it is missing. Models without variables need none.
 * @param directory the one with `saved_model.pb`
 * @throws DamagedFile, SpecialFile, or the file system's error
 */
export function missingVariables(directory: string): string | undefined {
  const index = indexMissingIn(directory);
  return index && withSavedModel(directory, restoresVariables) ? index : undefined;
}

/** As {@link missingVariables}, with the turns of others in between. */
export async function missingVariablesInTurns(directory: string): Promise<string | undefined> {
  const index = indexMissingIn(directory);
  return index && (await withSavedModelInTurns(directory, restoresVariables)) ? index : undefined;
}

function indexMissingIn(directory: string): string | undefined {
  const index = join(directory, 'variables', 'variables.index');
  return existsSync(index) ? undefined : index;
}

/** MetaGraphDef: graph_def = 2, saver_def = 3; SaverDef: restore_op_name = 3; GraphDef: node = 1; NodeDef: op = 2. */
function* restoresVariables(file: WireFile): Steps<boolean> {
  const served = servedMetaGraph(file);
  if (!served) return false;
  const restores = nested(file, served, 3).flatMap((saver) => nested(file, saver, 3));
  if (!restores.some(({ start, end }) => end > start)) return false;
  const isTime = pauseAfter(NODES_A_TURN);
  for (const graph of nested(file, served, 2)) {
    for (const node of file.fields(graph)) {
      if (isTime(1)) yield;
      if (node.number !== 1 || node.wireType !== LENGTH_DELIMITED) continue;
      if (nested(file, node, 2).some((op) => VARIABLE.test(file.text(op)))) return true;
    }
  }
  return false;
}
