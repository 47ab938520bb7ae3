/** A request body made up from a signature. */
import type { PixelsInput } from '@sagemaker-tfs/manifest';
import { ManifestError, type Preprocess, resolvePreprocess } from '@sagemaker-tfs/manifest';
import { encodeNpz, type Signature, type TensorMap } from '@sagemaker-tfs/tensors';
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
