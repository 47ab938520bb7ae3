/** Signatures whose requests are not joined; asked at packaging and at the start. */

/** What is looked at of a signature; no shape where the rank is unknown. */
export interface Batched {
  readonly inputs: Readonly<Record<string, Shaped>>;
  readonly outputs: Readonly<Record<string, Shaped>>;
}

interface Shaped {
  readonly shape?: readonly number[] | null | undefined;
}

/**
 * Signatures whose requests run one by one with batching on too, each with the reason and what to do. Inputs are joined
 * along the first dimension and outputs parted there, so that each of them must have one, and of any size.
 */
export function unbatchable(signatures: Readonly<Record<string, Batched>>): string[] {
  return Object.entries(signatures).flatMap(([key, signature]) => {
    const text = unbatchableText(signature);
    return text === undefined ? [] : [`signature "${key}" ${text}`];
  });
}

/** That a signature cannot be batched, why, and what to do; undefined if it can. */
export function unbatchableText(signature: Batched): string | undefined {
  const misfit = misfitOf(signature);
  return (
    misfit &&
    `cannot be batched: ${misfit}. Its requests run one by one, whatever SAGEMAKER_TFS_ENABLE_BATCHING says. Export the model with an open first dimension (None) in all inputs and outputs to have them joined`
  );
}

/** The first tensor of a signature that keeps its requests from being joined, and why. */
export function misfitOf({ inputs, outputs }: Batched): string | undefined {
  return find('input', inputs) ?? find('output', outputs);
}

function find(kind: string, tensors: Readonly<Record<string, Shaped>>): string | undefined {
  for (const [name, { shape }] of Object.entries(tensors)) {
    if (shape?.[0] === -1) continue;
    if (!shape) return `the shape of ${kind} "${name}" is unknown`;
    if (shape.length === 0) return `${kind} "${name}" is a scalar`;
    return `${kind} "${name}" [${shape.join(', ')}] has ${shape[0]} ${shape[0] === 1 ? 'row' : 'rows'}, whatever the number of requests`;
  }
  return undefined;
}
