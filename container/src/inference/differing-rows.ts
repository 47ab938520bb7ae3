/** The hint that inputs differ in rows, where a model refused them: TensorFlow's own text names nodes of its graph. */
import type { Signature, TensorMap } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';

/**
 * The answer of a model. It may take inputs with different numbers of rows, so this is said only once it has refused them.
 * @throws ServingError the model's own, with the rows of each input that may have any, if they differ; other errors as they are
 */
export async function withRowsHint<T>(
  answer: Promise<T>,
  signature: Signature,
  inputs: TensorMap,
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const isRefusal = error instanceof ServingError && error.code === 'MODEL_FAILED';
    const hint = isRefusal && error.status === 400 && differingRows(signature, inputs);
    if (!hint) throw error;
    throw new ServingError(error.code, `${error.message}\n${hint}`, { status: 400, cause: error });
  }
}

function differingRows(signature: Signature, inputs: TensorMap): string | undefined {
  const rows = Object.entries(inputs).flatMap(([name, { shape }]) => {
    const isOpen = signature.inputs[name]?.shape?.[0] === -1;
    return isOpen && shape[0] !== undefined ? [{ name, count: shape[0] }] : [];
  });
  if (new Set(rows.map(({ count }) => count)).size < 2) return undefined;
  const each = rows.map(({ name, count }) => `'${name}' has ${count}`).join(', ');
  return `The inputs differ in rows: ${each}. Most models take the same number of each.`;
}
