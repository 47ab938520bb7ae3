/** A request body made up from a signature. */
import type { PixelsInput } from '@sagemaker-tfs/manifest';
import { ManifestError, type Preprocess, resolvePreprocess } from '@sagemaker-tfs/manifest';
import {
  elementCount,
  encodeNpz,
  encodeTfRecord,
  isNumeric,
  type Signature,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { examplePng } from './png.ts';
import type { SampleRequest } from './sample-file.ts';
import { isPictureInput, PICTURE_SIDE, takesExamples } from './synthetic.ts';

/**
 * What a client of the signature would most likely send: a picture where the model takes pictures, a TFRecord of the
 * tf.Example where it takes those, else the inputs as `.npz`.
 */
export function syntheticRequest(
  signature: Signature,
  inputs: TensorMap,
  preprocess: Preprocess | undefined,
): SampleRequest {
  const request = { name: 'synthetic', signature: signature.key };
  const picture = pictureFor(signature, preprocess);
  if (picture) return { ...request, contentType: 'application/x-image', body: picture };
  const example = takesExamples(signature) ? onlyString(inputs) : undefined;
  if (example) {
    const body = Buffer.concat(encodeTfRecord(example));
    return { ...request, contentType: 'application/x-tfrecord', body };
  }
  return { ...request, contentType: 'application/x-npz', body: Buffer.concat(encodeNpz(inputs)) };
}

/** The value where there is one input, of strings, and one string in it. */
function onlyString(inputs: TensorMap): Uint8Array | undefined {
  const [only, ...others] = Object.values(inputs);
  if (!only || others.length > 0 || isNumeric(only) || only.values.length !== 1) return undefined;
  return only.values[0];
}

/** Elements up to which made-up JSON is written out. */
const MOST_ELEMENTS = 1_000_000;

/**
 * The inputs as JSON, for handlers that read nothing else: by rows where there is one input, then by columns.
 * @returns none for inputs that are too large to write out
 */
export function syntheticJson(signature: Signature, inputs: TensorMap): SampleRequest[] {
  const { key, inputs: specs } = signature;
  const isExample = takesExamples(signature);
  const tensors = Object.entries(inputs);
  const elements = tensors.reduce((sum, [, { shape }]) => sum + elementCount(shape), 0);
  if (elements > MOST_ELEMENTS) return [];
  const values = Object.fromEntries(
    tensors.map(([name, tensor]) => [name, nested(tensor.shape, elementOf(tensor, isExample))]),
  );
  const [only, ...others] = tensors;
  const rows = only && others.length === 0 && (specs[only[0]]?.shape?.length ?? 0) > 0;
  const bodies = [...(rows ? [{ instances: values[only[0]] }] : []), { inputs: values }];
  return bodies.map((body) => ({
    name: 'synthetic',
    signature: key,
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(body)),
  }));
}

function elementOf(tensor: Tensor, isExample: boolean): unknown {
  if (isNumeric(tensor)) return tensor.dtype === 'bool' ? false : 0;
  const [bytes = new Uint8Array(0)] = tensor.values;
  return isExample ? { b64: Buffer.from(bytes).toString('base64') } : '0';
}

function nested([size, ...rest]: readonly number[], element: unknown): unknown {
  if (size === undefined) return element;
  return Array.from({ length: size }, () => nested(rest, element));
}

/** Undeclared, tensors of many ranks could hold a picture's pixels; those of rank 4 mostly do. */
const PICTURE_RANK = 4;

function pictureFor(signature: Signature, preprocess: Preprocess | undefined): Buffer | undefined {
  try {
    const resolved = resolvePreprocess(preprocess, signature);
    if (!resolved.bytes) {
      const rank = signature.inputs[resolved.input]?.shape?.length;
      return preprocess || rank === PICTURE_RANK ? pixels(resolved) : undefined;
    }
    return isPictureInput(resolved.input) ? examplePng(PICTURE_SIDE, PICTURE_SIDE) : undefined;
  } catch (error) {
    if (error instanceof ManifestError) return undefined;
    throw error;
  }
}

function pixels({ height, width }: PixelsInput): Buffer {
  return examplePng(width ?? PICTURE_SIDE, height ?? PICTURE_SIDE);
}
