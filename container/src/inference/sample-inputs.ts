/** Bodies that hold tensors, read and checked as requests are: for packaging, which has no backend. */
import type { Preprocess } from '@sagemaker-tfs/manifest';
import type { Signature, TensorMap } from '@sagemaker-tfs/tensors';
import { jsonRequest } from '../codecs/json-request.ts';
import { npyRequest } from '../codecs/npy.ts';
import { npzRequest } from '../codecs/npz.ts';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { imagesToTensors } from '../images/image-to-tensor.ts';
import { checkCall } from './check-call.ts';

/** All arrays of a sample together, or the pixels of a picture. */
const MAX_SAMPLE_BYTES = 2 ** 32;
/** Width times height of a picture: more than any camera's. */
const MAX_PIXELS = 2 ** 28;

const LIMITS = {
  ...DEFAULT_DECODE_LIMITS,
  maxDecodedBytes: MAX_SAMPLE_BYTES,
  maxImagePixels: MAX_PIXELS,
};

const CODECS = {
  'application/json': jsonRequest,
  'application/x-npy': npyRequest,
  'application/x-npz': npzRequest,
} as const;

/** A form of bodies that become tensors without a handler; `application/x-image` is a picture of any kind. */
export type SampleForm = keyof typeof CODECS | 'application/x-image';

/**
 * The inputs that a request with this body has.
 * @param preprocess how pictures become the input, where it is declared
 * @throws ServingError (4xx) as a request gets it: what does not fit the signature may end TensorFlow's process
 */
export async function sampleInputs(
  body: Uint8Array,
  form: SampleForm,
  signature: Signature,
  preprocess?: Preprocess,
): Promise<TensorMap> {
  const inputs =
    form === 'application/x-image'
      ? await pictureInputs(body, signature, preprocess)
      : (await CODECS[form].decode(body, { signature, contentType: form, limits: LIMITS })).inputs;
  return checkedInputs(signature, inputs);
}

function pictureInputs(body: Uint8Array, signature: Signature, preprocess?: Preprocess) {
  const context = { signature, ...(preprocess && { preprocess }), limits: LIMITS };
  return imagesToTensors([body], context, () => '');
}

/** The inputs as the signature has them. @throws ServingError BAD_INPUT or UNKNOWN_INPUT as {@link checkCall} */
export function checkedInputs(signature: Signature, inputs: TensorMap): TensorMap {
  return checkCall(signature, inputs).inputs;
}
