/** A request body made up from a signature. */
import type { PixelsInput, Preprocess } from '@sagemaker-tfs/manifest';
import { isPictureInput, likelyPicture } from '@sagemaker-tfs/manifest';
import {
  elementCount,
  encodeNpy,
  encodeNpz,
  encodeTfRecord,
  isNumeric,
  type Signature,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { examplePng } from './png.ts';
import type { SampleRequest } from './sample-file.ts';
import { PICTURE_SIDE, takesExamples } from './synthetic.ts';

/** Made-up requests by the ending of a file that holds them, the one that clients most likely send first. */
export type SyntheticForms = ReadonlyMap<string, () => SampleRequest>;

/**
 * The forms in which a client could send the inputs: `.png` where the model takes pictures, `.tfrecord` where it takes
 * a tf.Example, `.npz` and `.json`, and `.npy` where there is one input.
 */
export function syntheticForms(
  signature: Signature,
  inputs: TensorMap,
  preprocess: Preprocess | undefined,
): SyntheticForms {
  const request = { name: 'synthetic', signature: signature.key };
  const forms = new Map<string, () => SampleRequest>();
  const add = (ending: string, contentType: string, body: () => Uint8Array) =>
    forms.set(ending, () => ({ ...request, contentType, body: body() }));
  const picture = pictureFor(signature, preprocess);
  if (picture) add('png', 'application/x-image', picture);
  const example = takesExamples(signature) ? onlyString(inputs) : undefined;
  if (example) {
    add('tfrecord', 'application/x-tfrecord', () => Buffer.concat(encodeTfRecord(example)));
  }
  add('npz', 'application/x-npz', () => Buffer.concat(encodeNpz(inputs)));
  const [json] = jsonBodies(signature, inputs);
  if (json) add('json', 'application/json', json);
  const [only, ...others] = Object.values(inputs);
  if (only && others.length === 0) {
    add('npy', 'application/x-npy', () => Buffer.concat(encodeNpy(only)));
  }
  return forms;
}

/** What a client of the signature would most likely send: the first of its {@link syntheticForms}. */
export function syntheticRequest(
  signature: Signature,
  inputs: TensorMap,
  preprocess: Preprocess | undefined,
): SampleRequest {
  const [first] = syntheticForms(signature, inputs, preprocess).values();
  return (first as () => SampleRequest)();
}

/** The value where there is one input, of strings, and one string in it. */
function onlyString(inputs: TensorMap): Uint8Array | undefined {
  const [only, ...others] = Object.values(inputs);
  if (!only || others.length > 0 || isNumeric(only) || only.values.length !== 1) return undefined;
  return only.values[0];
}

/** Elements up to which made-up JSON is written out. */
const MAX_ELEMENTS = 1_000_000;

/**
 * The inputs as JSON, for handlers that read nothing else: by rows where there is one input, then by columns.
 * @returns none for inputs that are too large to write out, or that JSON has no numbers for
 */
export function syntheticJson(signature: Signature, inputs: TensorMap): SampleRequest[] {
  return jsonBodies(signature, inputs).map((body) => ({
    name: 'synthetic',
    signature: signature.key,
    contentType: 'application/json',
    body: body(),
  }));
}

function jsonBodies(signature: Signature, inputs: TensorMap): (() => Buffer)[] {
  const tensors = Object.entries(inputs);
  const elements = tensors.reduce((sum, [, { shape }]) => sum + elementCount(shape), 0);
  const isComplex = tensors.some(([, { dtype }]) => dtype.startsWith('complex'));
  if (elements > MAX_ELEMENTS || isComplex) return [];
  const isExample = takesExamples(signature);
  const valuesOf = ([name, tensor]: readonly [string, Tensor]) =>
    nested(tensor.shape, elementOf(tensor, isExample || isPictureInput(name)));
  const [only, ...others] = tensors;
  const isRows = only && others.length === 0 && (signature.inputs[only[0]]?.shape?.length ?? 0) > 0;
  const text = (body: object) => Buffer.from(JSON.stringify(body));
  const columns = () =>
    text({ inputs: Object.fromEntries(tensors.map((one) => [one[0], valuesOf(one)])) });
  return [...(isRows ? [() => text({ instances: valuesOf(only) })] : []), columns];
}

/** @param isBytes whether strings are bytes and not text */
function elementOf(tensor: Tensor, isBytes: boolean): unknown {
  if (isNumeric(tensor)) return tensor.dtype === 'bool' ? false : 0;
  const [bytes = new Uint8Array(0)] = tensor.values;
  return isBytes ? { b64: Buffer.from(bytes).toString('base64') } : '0';
}

function nested([size, ...rest]: readonly number[], element: unknown): unknown {
  if (size === undefined) return element;
  return Array.from({ length: size }, () => nested(rest, element));
}

function pictureFor(
  signature: Signature,
  preprocess: Preprocess | undefined,
): (() => Buffer) | undefined {
  const picture = likelyPicture(preprocess, signature);
  if (picture?.bytes) return () => examplePng(PICTURE_SIDE, PICTURE_SIDE);
  return picture && (() => pixels(picture));
}

function pixels({ height, width }: PixelsInput): Buffer {
  return examplePng(width ?? PICTURE_SIDE, height ?? PICTURE_SIDE);
}
