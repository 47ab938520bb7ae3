/** The body of a request as tensors. */
import type { Signature, TensorMap } from '@sagemaker-tfs/tensors';
import { decodeRequest } from '../codecs/registry.ts';
import type { ServingError } from '../errors.ts';
import type { Inference } from './inference.ts';

/** A body as tensors. */
export interface Decoded {
  readonly inputs: TensorMap;
  readonly form: 'row' | 'columnar';
  readonly signature: Signature;
}

/** How a body is decoded, where not as the request says. */
interface BodyDecoding {
  readonly contentType?: string | undefined;
  /** The signature to decode for, where it is not the signature itself. */
  readonly decodedFor?: (signature: Signature) => Signature;
  /** Of the records in the client's body, where this one has only some of them. */
  readonly places?: readonly number[];
}

/** A body as tensors, with the signature that it names or that the request asked for. */
export async function decodeBody(
  body: Uint8Array,
  inference: Inference,
  {
    contentType = inference.contentType,
    decodedFor = (signature) => signature,
    places,
  }: BodyDecoding = {},
): Promise<Decoded> {
  /** @param otherwise what is thrown in place of any error */
  const decode = async (signature: Signature, otherwise?: ServingError) => {
    try {
      return await decodeRequest(body, {
        signature: decodedFor(signature),
        contentType,
        limits: inference.decodeLimits,
        signal: inference.signal,
        preprocess: inference.preprocess,
        ...(places && { places }),
        ...(inference.postprocess?.boxes && { wantsFrames: true }),
      });
    } catch (error) {
      // Another version may be the newest by now, with another signature.
      inference.backend.doubt?.(inference.model);
      throw otherwise ?? error;
    }
  };
  const { signature, noSignature } = inference;
  const {
    inputs,
    form,
    frames,
    signatureName = signature.key,
  } = await decode(signature, noSignature);
  inference.frames = frames;
  if (signatureName === signature.key && noSignature) throw noSignature;
  if (signatureName === signature.key) return { inputs, form, signature };
  const named = await inference.signatureNamed(signatureName);
  return { ...(await decode(named)), signature: named };
}
