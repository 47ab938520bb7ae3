/**
 * Pictures as the model would see them with another declaration than the package's: the page switches it for a request.
 * Only `serve` offers that. The runtime, and so the image, takes declarations from the archive alone.
 */

import type { DecodeLimits } from '@sagemaker-tfs/container/images';
import {
  type Manifest,
  ManifestError,
  type Preprocess,
  parsePreprocess,
  preprocessSchema,
  resolvePreprocess,
} from '@sagemaker-tfs/manifest';
import {
  callableSignatures,
  inspectModel,
  readManifest,
  servedGraph,
  signatureOf,
} from '@sagemaker-tfs/model-packaging';
import { encodeNpz } from '@sagemaker-tfs/tensors';
import type { RuntimeErrorCode } from '@sagemaker-tfs/tensors/runtime-errors';
import type * as z from 'zod';

/** Bytes of a picture, at most. */
export const MAX_PICTURE_BYTES = 64 * 1024 * 1024;
/** Bytes of the tensor that it becomes, at most. */
const MAX_TENSOR_BYTES = 512 * 1024 * 1024;

/** The fields that the page switches. */
const switchedSchema = preprocessSchema
  .pick({ layout: true, channels: true, scale: true, offset: true })
  .extend({ resize: preprocessSchema.shape.resize.unwrap().optional() });

/** A picture with the declaration to use. */
export interface SwitchedPicture {
  /** Name of the model; empty for the first. */
  readonly model: string;
  readonly signature: string;
  /** JSON of the switched fields. */
  readonly switched: string;
  readonly picture: Uint8Array;
}

/** Why there are no tensors, as the runtime says it. */
export interface Refusal {
  readonly code: RuntimeErrorCode;
  readonly message: string;
}

/**
 * The tensors as npz, or the refusal of a declaration that does not fit or of a picture that cannot be decoded.
 * @param directory where the model is laid out
 * @param given the runtime's own limits
 */
export async function switchedTensors(
  directory: string,
  { model, signature: key, switched, picture }: SwitchedPicture,
  given: DecodeLimits,
): Promise<Buffer | Refusal> {
  const { preprocess } = (await readManifest(directory)) ?? {};
  const signature = await findSignature(directory, model, key);
  if (!signature) {
    return { code: 'UNKNOWN_SIGNATURE', message: `there is no signature '${key}'.` };
  }
  // Loaded only now: native codecs.
  const { imagesToTensors } = await import('@sagemaker-tfs/container/images');
  const limits = { ...given, maxDecodedBytes: Math.min(given.maxDecodedBytes, MAX_TENSOR_BYTES) };
  try {
    const declared = withSwitched(preprocess, switched);
    resolvePreprocess(declared, signature);
    const context = { signature, preprocess: declared, limits };
    const tensors = await imagesToTensors([picture], context, () => 'the picture');
    return Buffer.concat(encodeNpz(tensors));
  } catch (error) {
    if (error instanceof ManifestError) return { code: 'BAD_INPUT', message: error.message };
    // The runtime's own refusals, known by name: their module is loaded with the codecs.
    if (!(error instanceof Error) || error.name !== 'ServingError') throw error;
    return error as Error & Refusal;
  }
}

async function findSignature(directory: string, model: string, key: string) {
  const { models } = await inspectModel(directory);
  const found = models.find(({ name }) => name === model) ?? models[0];
  const signatures = callableSignatures(servedGraph(found?.versions.at(-1)));
  const report = new Map(signatures).get(key);
  return report && signatureOf(key, report);
}

/** The package's declaration with other values. A switched scale takes the place of a mean. @throws ManifestError */
function withSwitched(declared: Manifest['preprocess'], text: string): Preprocess {
  const switched = switchedFields(text);
  const { mean, std, ...rest } = declared ?? {};
  const isScaled = switched.scale !== undefined || switched.offset !== undefined;
  const scaling = isScaled ? {} : { ...(mean && { mean }), ...(std && { std }) };
  return parsePreprocess({ ...rest, ...scaling, ...switched });
}

function switchedFields(text: string): z.output<typeof switchedSchema> {
  try {
    return switchedSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new ManifestError(
      'DECLARATION_INVALID',
      'preprocess',
      'the switched fields cannot be read. Reload the page.',
      { cause },
    );
  }
}
