/** Checks a `postprocess` declaration against the signature that it is for. */
import type { Signature } from '@sagemaker-tfs/tensors';
import type { Problem } from './errors.ts';
import type { Postprocess } from './image-declaration.ts';

/** A message has at most as many names, and problems of a list. */
const MAX_NAMED = 10;

/** Everything about a declaration that does not fit the signature; empty if it fits. */
export function checkPostprocess(postprocess: Postprocess, signature: Signature): Problem[] {
  return [
    ...checkOutputs(postprocess, signature),
    ...checkRename(postprocess, signature),
    ...checkSoftmax(postprocess, signature),
    ...checkTopK(postprocess, signature),
    ...checkBoxes(postprocess, signature),
  ];
}

/** The output that `topK` reads: the named one, else the only one kept, else undefined. */
export function topKOutput(postprocess: Postprocess, signature: Signature): string | undefined {
  if (postprocess.topK?.output !== undefined) return postprocess.topK.output;
  const kept = keptOutputs(postprocess, signature);
  return kept.length === 1 ? kept[0] : undefined;
}

function keptOutputs({ outputs }: Postprocess, signature: Signature): readonly string[] {
  return outputs ?? Object.keys(signature.outputs);
}

function checkOutputs(postprocess: Postprocess, signature: Signature): Problem[] {
  const problems: Problem[] = [];
  if (postprocess.boxes && postprocess.outputs) {
    const message =
      'boxes replace all outputs, so none is kept beside them. Remove it: tfs-outputs asks for others.';
    return [{ field: 'postprocess.outputs', message }];
  }
  const seen = new Set<string>();
  for (const [i, name] of (postprocess.outputs ?? []).entries()) {
    const field = `postprocess.outputs.${i}`;
    if (seen.has(name)) problems.push({ field, message: `'${name}' is named twice.` });
    else problems.push(...unknownOutput(field, name, signature));
    if (problems.length >= MAX_NAMED) break;
    seen.add(name);
  }
  return problems;
}

function checkRename(postprocess: Postprocess, signature: Signature): Problem[] {
  const { rename } = postprocess;
  if (!rename) return [];
  const kept = new Set(keptOutputs(postprocess, signature));
  const problems: Problem[] = [];
  for (const name of Object.keys(rename)) {
    const field = `postprocess.rename.${name}`;
    const unknown = unknownOutput(field, name, signature);
    if (unknown.length > 0) problems.push(...unknown);
    else if (!kept.has(name)) {
      problems.push({ field, message: `'${name}' is not among the outputs kept.` });
    }
    if (problems.length >= MAX_NAMED) break;
  }
  const twin = firstTwin(
    [...kept].map((name) => (Object.hasOwn(rename, name) ? String(rename[name]) : name)),
  );
  if (twin === undefined) return problems;
  return [...problems, { field: 'postprocess.rename', message: `two outputs would be '${twin}'.` }];
}

function firstTwin(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

function checkSoftmax(postprocess: Postprocess, signature: Signature): Problem[] {
  if (postprocess.softmax === undefined) return [];
  return checkScores('postprocess.softmax', postprocess.softmax, signature, 'a softmax', 1);
}

function checkTopK(postprocess: Postprocess, signature: Signature): Problem[] {
  if (!postprocess.topK) return [];
  const field = 'postprocess.topK.output';
  const name = topKOutput(postprocess, signature);
  if (name === undefined) {
    const names = keptOutputs(postprocess, signature).join(', ');
    return [
      { field, message: `there are several outputs (${names}). Name the one with the scores.` },
    ];
  }
  return checkScores(field, name, signature, 'the best classes', 2);
}

function checkBoxes(postprocess: Postprocess, signature: Signature): Problem[] {
  const { boxes } = postprocess;
  if (!boxes) return [];
  const parts = ['boxes', 'scores', 'classes'] as const;
  const problems = parts.flatMap((part) =>
    unknownOutput(`postprocess.boxes.${part}`, boxes[part], signature),
  );
  const shape = signature.outputs[boxes.boxes]?.shape;
  if (shape && (shape.length !== 3 || ![-1, 4].includes(shape[2] as number))) {
    const message = `output '${boxes.boxes}' has shape [${shape.join(', ')}]; boxes are [N, boxes, 4].`;
    problems.push({ field: 'postprocess.boxes.boxes', message });
  }
  return problems;
}

const REAL = /^(b?float|u?int)\d+$/;

function checkScores(
  field: string,
  name: string,
  signature: Signature,
  purpose: string,
  minRank: number,
): Problem[] {
  const spec = Object.hasOwn(signature.outputs, name) ? signature.outputs[name] : undefined;
  if (!spec) return unknownOutput(field, name, signature);
  if (!spec.dtype || !REAL.test(spec.dtype)) {
    return [
      { field, message: `output '${name}' is not a tensor of numbers; ${purpose} needs one.` },
    ];
  }
  if (!spec.shape || spec.shape.length >= minRank) return [];
  const shape = `[${spec.shape.join(', ')}]`;
  return [
    { field, message: `output '${name}' has shape ${shape}; ${purpose} needs [N, classes].` },
  ];
}

function unknownOutput(field: string, name: string, { key, outputs }: Signature): Problem[] {
  if (Object.hasOwn(outputs, name)) return [];
  const names = Object.keys(outputs);
  const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : '';
  const known = names.slice(0, MAX_NAMED).join(', ') + more;
  return [{ field, message: `signature '${key}' has no output '${name}'. It has ${known}.` }];
}
