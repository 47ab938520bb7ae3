/** Which signatures clients send pictures to. */
import type { Signature } from '@sagemaker-tfs/tensors';
import { ManifestError } from './errors.ts';
import type { Preprocess } from './image-declaration.ts';
import { resolvePreprocess } from './preprocess.ts';
import type { ResolvedPreprocess } from './resolved-preprocess.ts';

/** Inputs that hold encoded pictures, by the names that people give them. */
const PICTURE_NAME = /image|picture|photo|img|jpe?g|png/i;

/** Undeclared, tensors of many ranks could hold a picture's pixels; those of rank 4 mostly do. */
const PICTURE_RANK = 4;

/** True for the name of an input that takes encoded pictures. */
export function isPictureInput(name: string): boolean {
  return PICTURE_NAME.test(name);
}

/**
 * How the runtime would feed a picture to the signature, if a picture is what a client would most likely send.
 * @returns undefined if it is not, or if the runtime refuses pictures
 */
export function likelyPicture(
  preprocess: Preprocess | undefined,
  signature: Signature,
): ResolvedPreprocess | undefined {
  try {
    const resolved = resolvePreprocess(preprocess, signature);
    if (resolved.bytes) return isPictureInput(resolved.input) ? resolved : undefined;
    const rank = signature.inputs[resolved.input]?.shape?.length;
    return preprocess || rank === PICTURE_RANK ? resolved : undefined;
  } catch (error) {
    if (error instanceof ManifestError) return undefined;
    throw error;
  }
}
