/** JSON that is none of TensorFlow Serving's forms. */
import { PackedNumbers, type Signature } from '@sagemaker-tfs/tensors';
import { isNamed } from './json-instances.ts';

/**
 * A list of lists (or of objects by input) is the instances, anything else is one instance. Where the only
 * input's rank shows that this cannot be meant, the other reading is taken: a list of scalars for an input
 * of shape [N], one instance of nested lists for an input of higher rank.
 */
export function genericInstances(
  document: unknown,
  { inputs }: Signature,
): { readonly instances: readonly unknown[] | PackedNumbers; readonly name: string } {
  const single = { instances: [document], name: 'instance' };
  const isPacked = document instanceof PackedNumbers;
  if (!isPacked && !Array.isArray(document)) return single;
  const list = { instances: document, name: 'body' };
  if (!isPacked && isNamed(document[0])) return list;
  const [spec, ...others] = Object.values(inputs);
  const rank = others.length === 0 ? spec?.shape?.length : undefined;
  const depth = depthOf(document);
  if (rank === depth) return list;
  return rank === depth + 1 || depth < 2 ? single : list;
}

function depthOf(value: unknown): number {
  let depth = 0;
  let at = value;
  for (; Array.isArray(at); at = at[0]) depth += 1;
  return at instanceof PackedNumbers ? depth + at.shape.length : depth;
}
