/** A request body made up from a signature. */
import type { PixelsInput } from '@sagemaker-tfs/manifest';
import { ManifestError, type Preprocess, resolvePreprocess } from '@sagemaker-tfs/manifest';
import {
  type DType,
  elementCount,
  encodeNpz,
  type Signature,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { examplePng } from './png.ts';
import type { SampleRequest } from './sample-file.ts';
import { isPictureInput, PICTURE_SIDE } from './synthetic.ts';

/**
 * What a client of the signature would most likely send: a picture where the model takes pictures, else
 * the inputs as `.npz`.
 */
export function syntheticRequest(
  signature: Signature,
  inputs: TensorMap,
  preprocess: Preprocess | undefined,
): SampleRequest {
  const request = { name: 'synthetic', signature: signature.key };
  const picture = pictureFor(signature, preprocess);
  if (picture) return { ...request, contentType: 'application/x-image', body: picture };
  return { ...request, contentType: 'application/x-npz', body: Buffer.concat(encodeNpz(inputs)) };
}

/** Elements up to which made-up JSON is written out. */
const MOST_ELEMENTS = 1_000_000;

/**
 * The inputs as JSON, for handlers that read nothing else: by rows where there is one input, then by columns.
 * @returns none for inputs that are too large to write out
 */
export function syntheticJson(
  { key, inputs: specs }: Signature,
  inputs: TensorMap,
): SampleRequest[] {
  const tensors = Object.entries(inputs);
  const elements = tensors.reduce((sum, [, { shape }]) => sum + elementCount(shape), 0);
  if (elements > MOST_ELEMENTS) return [];
  const values = Object.fromEntries(
    tensors.map(([name, { dtype, shape }]) => [name, nested(shape, elementOf(dtype))]),
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

function elementOf(dtype: DType): unknown {
  if (dtype === 'string') return '0';
  return dtype === 'bool' ? false : 0;
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
