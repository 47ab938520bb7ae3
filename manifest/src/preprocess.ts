/** Completes a `preprocess` declaration from the signature that it is for. */
import type { Signature, TensorSpec } from '@sagemaker-tfs/tensors';
import { type Problem, throwProblems } from './errors.ts';
import type { Preprocess } from './image-declaration.ts';
import { resolveGeometry } from './picture-geometry.ts';
import { checkRange, resolveScaling } from './pixel-scaling.ts';
import { PREPROCESS_DEFAULTS } from './preprocess-defaults.ts';
import type { ResolvedPreprocess } from './resolved-preprocess.ts';

/**
 * Decides input, size, layout, channels and scaling from the declaration and the signature.
 * @throws ManifestError naming the field that does not fit
 */
export function resolvePreprocess(
  preprocess: Preprocess | undefined,
  signature: Signature,
): ResolvedPreprocess {
  const problems: Problem[] = [];
  const resolved = resolve(preprocess ?? PREPROCESS_DEFAULTS, signature, problems);
  throwProblems(problems);
  return resolved as ResolvedPreprocess;
}

/** Everything about a declaration that does not fit the signature; empty if it fits. */
export function checkPreprocess(preprocess: Preprocess, signature: Signature): Problem[] {
  const problems: Problem[] = [];
  resolve(preprocess, signature, problems);
  return problems;
}

function resolve(
  declared: Preprocess,
  signature: Signature,
  problems: Problem[],
): ResolvedPreprocess | undefined {
  const input = chooseInput(declared, signature, problems);
  if (input === undefined) return undefined;
  const spec = Object.hasOwn(signature.inputs, input) ? signature.inputs[input] : undefined;
  if (!spec) return undefined;
  if (spec.dtype === 'string') {
    checkBytesInput(declared, input, problems);
    return { bytes: true, input };
  }
  if (spec.dtype === undefined || spec.dtype === 'bool') {
    const message = `input '${input}' has a dtype that pictures cannot fill. Write a handler.`;
    problems.push({ field: 'preprocess.input', message });
    return undefined;
  }
  const geometry = resolveGeometry(declared, input, spec, problems);
  if (!geometry) return undefined;
  const count = geometry.channels === 'gray' ? 1 : 3;
  const scaling = resolveScaling(declared, count, problems);
  checkRange(input, spec.dtype, scaling, problems);
  const { resize, padding, interpolation, antialias, shrink } = declared;
  return {
    bytes: false,
    input,
    dtype: spec.dtype,
    ...geometry,
    resize,
    padding,
    interpolation,
    antialias,
    shrink,
    ...scaling,
  };
}

function chooseInput(
  { input }: Preprocess,
  { key, inputs }: Signature,
  problems: Problem[],
): string | undefined {
  const names = Object.keys(inputs);
  const field = 'preprocess.input';
  if (input !== undefined) {
    if (names.includes(input)) return input;
    const message = `signature '${key}' has no input '${input}'. It has ${names.join(', ')}.`;
    problems.push({ field, message });
    return undefined;
  }
  if (names.length === 1) return names[0];
  const advice = Object.values(inputs).some(mayBePicture)
    ? 'Name the one that takes the picture.'
    : 'None of them takes a picture.';
  const message = `the signature has ${names.length} inputs (${names.join(', ')}). ${advice}`;
  problems.push({ field, message });
  return undefined;
}

/** Encoded pictures are strings, pixels have three dimensions or, in a batch, four. */
function mayBePicture({ dtype, shape }: TensorSpec): boolean {
  return dtype === 'string' || shape === undefined || shape.length === 3 || shape.length === 4;
}

/** An input for encoded pictures decodes them itself: declaring how would have no effect. */
function checkBytesInput(declared: Preprocess, input: string, problems: Problem[]): void {
  const idle = ['size', 'channels', 'layout', 'scale', 'offset', 'mean', 'std'] as const;
  for (const name of idle) {
    if (declared[name] === undefined) continue;
    const message = `input '${input}' takes the encoded picture (string); the model decodes it. Remove ${name}.`;
    problems.push({ field: `preprocess.${name}`, message });
  }
}
