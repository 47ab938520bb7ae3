/** Outputs as callers name them: by the names that answers show, or by the signature's own. */
import type { Postprocess } from '@sagemaker-tfs/manifest';
import { own } from '@sagemaker-tfs/tensors';

/** A signature, or a report of one. */
interface Outputs {
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** Names of a signature's outputs that answers can show, and which `tfs-outputs` takes. */
export function answeredNames(signature: Outputs, postprocess: Postprocess | undefined): string[] {
  return [...shownNames(signature, postprocess).keys()];
}

/** Own names of the outputs that are answered without `tfs-outputs`, by the names that `tfs-outputs` takes. */
export function usualOutputs(
  signature: Outputs,
  postprocess: Postprocess | undefined,
): ReadonlyMap<string, string> {
  const shown = shownNames(signature, postprocess);
  const read = boxesRead(postprocess);
  if (!read?.every((name) => Object.hasOwn(signature.outputs, name))) return shown;
  return new Map([...shown].filter(([, name]) => read.includes(name)));
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

/** The outputs that detections are made of; undefined if none are made. */
export function boxesRead(postprocess: Postprocess | undefined): readonly string[] | undefined {
  const { boxes, scores, classes } = postprocess?.boxes ?? {};
  return boxes && scores && classes ? [...new Set([boxes, scores, classes])] : undefined;
}

/** The first output of those asked for that detections, which these make, would replace. */
export function replacedByBoxes(
  asked: readonly string[],
  postprocess: Postprocess | undefined,
): string | undefined {
  const read = boxesRead(postprocess);
  if (!read?.every((name) => asked.includes(name))) return undefined;
  return asked.find((name) => !read.includes(name));
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
