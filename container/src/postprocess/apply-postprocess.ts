/** Turns output tensors into what the package declares that clients get. */
import type { Postprocess } from '@sagemaker-tfs/manifest';
import { own, type Tensor, type TensorMap } from '@sagemaker-tfs/tensors';
import type { FrameInPicture } from '@sagemaker-tfs/tensors/placement';
import { boxesRead } from './asked-outputs.ts';
import { type Detection, detections, detectionTensors } from './boxes.ts';
import type { Labels } from './labels.ts';
import { softmax } from './softmax.ts';
import { topK } from './top-k.ts';

/** What it takes besides the declaration. */
interface PostprocessContext {
  readonly labels?: Labels | undefined;
  /** How the model saw each picture; boxes are then given in the pictures' own coordinates. */
  readonly frames?: readonly FrameInPicture[] | undefined;
}

/** What is encoded in place of the model's outputs. */
interface Postprocessed {
  readonly outputs: TensorMap;
  /** Set for boxes: a list for each image, which JSON shows instead of `outputs`. */
  readonly instances?: readonly (readonly Detection[])[];
}

/**
 * Applies, in this order: softmax; boxes, which replace all outputs (JSON shows a list of
 * `{"box", "score", "class", "label"}` for each image, other types the tensors of `detectionTensors`), or top K, which
 * replaces its output, and others of these names, by `classes` and `scores`; selection and order by `outputs`; `rename`. A step whose
 * outputs the client did not ask for (`tfs-outputs`) is left out.
 * @throws ServingError MODEL_FAILED if the answer is not what the signature announced
 */
export async function applyPostprocess(
  outputs: TensorMap,
  postprocess: Postprocess,
  { labels = {}, frames }: PostprocessContext = {},
): Promise<Postprocessed> {
  const scored = await withSoftmax(outputs, postprocess);
  const { boxes } = postprocess;
  if (boxes && boxesRead(postprocess)?.every((name) => scored.has(name))) {
    const instances = await detections(Object.fromEntries(scored), boxes, {
      labels: labels.boxes,
      frames,
    });
    const tensors = await detectionTensors(instances, labels.boxes !== undefined);
    return { outputs: tensors, instances };
  }
  const kept = (postprocess.outputs ?? [...scored.keys()]).filter((name) => scored.has(name));
  const best = postprocess.topK && (postprocess.topK.output ?? (kept.length === 1 && kept[0]));
  const scores = best ? scored.get(best) : undefined;
  const top = scores ? await topK(scores, postprocess.topK?.k ?? 1, labels.topK) : {};
  const entries = kept.flatMap((name): [string, Tensor][] => {
    if (name === best) return Object.entries(top);
    const shown = own(postprocess.rename ?? {}, name) ?? name;
    // TensorFlow Serving sends outputs in any order: the last of two of one name would be a matter of chance.
    return Object.hasOwn(top, shown) ? [] : [[shown, scored.get(name) as Tensor]];
  });
  return { outputs: Object.fromEntries(entries) };
}

async function withSoftmax(
  outputs: TensorMap,
  { softmax: name }: Postprocess,
): Promise<Map<string, Tensor>> {
  const all = new Map(Object.entries(outputs));
  const logits = name === undefined ? undefined : all.get(name);
  if (name !== undefined && logits) all.set(name, await softmax(logits));
  return all;
}
