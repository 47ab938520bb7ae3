/** The body of a request as tensors. */
import type { Signature, TensorMap } from '@sagemaker-tfs/tensors';
import { decodeRequest } from '../codecs/registry.ts';
import type { Inference } from './inference.ts';

/** A body as tensors. */
export interface Decoded {
  readonly inputs: TensorMap;
  readonly form: 'row' | 'columnar';
  readonly signature: Signature;
}

/**
 * A body as tensors, with the signature that it names or that the request asked for.
 * @param decodedFor the signature to decode for, where it is not the signature itself
 */
export async function decodeBody(
  body: Uint8Array,
  inference: Inference,
  contentType: string = inference.contentType,
  decodedFor: (signature: Signature) => Signature = (signature) => signature,
): Promise<Decoded> {
  const decode = async (signature: Signature) => {
    try {
      return await decodeRequest(body, {
        signature: decodedFor(signature),
        contentType,
        limits: inference.decodeLimits,
        signal: inference.signal,
        preprocess: inference.preprocess,
        ...(inference.postprocess?.boxes && { wantsFrames: true }),
      });
    } catch (error) {
      // Another version may be the newest by now, with another signature.
      inference.backend.doubt?.(inference.model);
      throw inference.noSignature ?? error;
    }
  };
  const { signature, noSignature } = inference;
  const { inputs, form, frames, signatureName = signature.key } = await decode(signature);
  inference.frames = frames;
  if (signatureName === signature.key && noSignature) throw noSignature;
  if (signatureName === signature.key) return { inputs, form, signature };
  const named = await inference.signatureNamed(signatureName);
  return { ...(await decode(named)), signature: named };
}
