/** Signatures that TensorFlow Serving's batching refuses; asked at packaging and at the start. */

/** What is looked at of a signature; no shape where the rank is unknown. */
interface Batched {
  readonly inputs: Readonly<Record<string, Shaped>>;
  readonly outputs: Readonly<Record<string, Shaped>>;
}

interface Shaped {
  readonly shape?: readonly number[] | null | undefined;
}

/**
 * Signatures whose requests TensorFlow Serving refuses when it joins them, each with the reason and what to do. It
 * joins inputs along the first dimension and parts outputs there, so that each of them must have one, and of any size
 * (batching_session.cc).
 */
export function unbatchable(signatures: Readonly<Record<string, Batched>>): string[] {
  return Object.entries(signatures).flatMap(([key, { inputs, outputs }]) => {
    const misfit = find('input', inputs) ?? find('output', outputs);
    if (!misfit) return [];
    return [
      `signature "${key}" cannot be batched: ${misfit}. TensorFlow Serving joins requests while SAGEMAKER_TFS_ENABLE_BATCHING is true, and refuses these together. Leave it out, export the model with an open first dimension (None) in all inputs and outputs, or use SAGEMAKER_TFS_BACKEND=in-process, where such requests run alone`,
    ];
  });
}

function find(kind: string, tensors: Readonly<Record<string, Shaped>>): string | undefined {
  for (const [name, { shape }] of Object.entries(tensors)) {
    if (!shape || shape[0] === -1) continue;
    if (shape.length === 0) return `${kind} "${name}" is a scalar`;
    return `${kind} "${name}" [${shape.join(', ')}] has ${shape[0]} rows, whatever the number of requests`;
  }
  return undefined;
}
