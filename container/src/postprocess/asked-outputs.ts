/** Outputs as callers name them: by the names that answers show, or by the signature's own. */
import type { Postprocess } from '@sagemaker-tfs/manifest';
import { own, type Signature } from '@sagemaker-tfs/tensors';

type Outputs = Pick<Signature, 'outputs'>;

/** Names of a signature's outputs that answers can show, and which `tfs-outputs` takes. */
export function answeredNames(signature: Outputs, postprocess: Postprocess | undefined): string[] {
  return [...shownNames(signature, postprocess).keys()];
}

/** The signature's own names of what is asked for. A name that answers show comes first; unknown ones stay as they are. */
export function ownNames(
  asked: readonly string[],
  signature: Outputs,
  postprocess: Postprocess | undefined,
): string[] {
  const shown = shownNames(signature, postprocess);
  return asked.map((name) => shown.get(name) ?? name);
}

/** Whether answers can show an output of this name of the signature. */
export function isAnswered(
  name: string,
  { outputs }: Outputs,
  postprocess: Postprocess | undefined,
): boolean {
  return Object.hasOwn(outputs, name) && postprocess?.outputs?.includes(name) !== false;
}

/** Own names by the names that answers show. */
function shownNames(
  signature: Outputs,
  postprocess: Postprocess | undefined,
): ReadonlyMap<string, string> {
  const names = postprocess?.outputs ?? Object.keys(signature.outputs);
  const answered = names.filter((name) => isAnswered(name, signature, postprocess));
  return new Map(answered.map((name) => [own(postprocess?.rename ?? {}, name) ?? name, name]));
}
