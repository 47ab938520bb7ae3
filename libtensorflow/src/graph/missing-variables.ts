/**
 * A SavedModel that has lost its variables: TensorFlow takes one without `variables.index` for one that has none, loads it,
 * and fails at every run (`Could not find variable`).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { nested, servedMetaGraph } from './served-meta-graph.ts';
import { type WireFile, withWireFile } from './wire-file.ts';

/** Operations that are variables; TF2 models have them in the graph, too, for those who load them as TF1. */
const VARIABLE = /^(VarHandleOp|Variable|VariableV2)$/;

/**
 * Path of the file that the model's variables are restored from, if it is missing. Models without variables need none.
 * @param directory the one with `saved_model.pb`
 * @throws DamagedFile, or the file system's error
 */
export function missingVariables(directory: string): string | undefined {
  const index = join(directory, 'variables', 'variables.index');
  if (existsSync(index)) return undefined;
  return withWireFile(join(directory, 'saved_model.pb'), restoresVariables) ? index : undefined;
}

/** MetaGraphDef: graph_def = 2, saver_def = 3; SaverDef: restore_op_name = 3; GraphDef: node = 1; NodeDef: op = 2. */
function restoresVariables(file: WireFile): boolean {
  const served = servedMetaGraph(file);
  if (!served) return false;
  const restores = nested(file, served, 3).flatMap((saver) => nested(file, saver, 3));
  if (!restores.some(({ start, end }) => end > start)) return false;
  return nested(file, served, 2)
    .flatMap((graph) => nested(file, graph, 1))
    .some((node) => nested(file, node, 2).some((op) => VARIABLE.test(file.text(op))));
}
