/** What answers where the archive has no handler: the codecs, straight to the model and back. */

import { DTYPES, isNumeric, type Signature, type TensorMap } from '@sagemaker-tfs/tensors';
import { RestBackend } from '../backends/rest.ts';
import { giveBytes } from '../byte-pool.ts';
import type { EncodedResponse } from '../codecs/codec.ts';
import { decodeRequest, encodeResponse } from '../codecs/registry.ts';
import { ServingError } from '../errors.ts';
import { classifyOrRegress } from './classify-or-regress.ts';
import { checkFor, type Inference } from './inference.ts';
import { isServingJson } from './serving-json.ts';

/** Decodes the body by its media type, predicts, and encodes for the Accept header. */
export async function defaultHandler(
  body: Uint8Array,
  inference: Inference,
): Promise<EncodedResponse> {
  if (inference.method !== 'predict') {
    const { inputs, signature } = await decodeExamples(body, inference);
    return classifyOrRegress(inputs, takingExamples(signature), inference);
  }
  const { inputs, form, signature } = await decodeBody(body, inference);
  const relayed = await relay(body, { inputs, form, signature }, inference);
  if (relayed) return relayed;
  const outputs = await inference.predict(inputs, { signature: signature.key });
  // The outputs of a model in this process may be views on its inputs.
  inference.hold(() => giveInputs(inputs));
  return encodeOutputs(outputs, inference, { form, signature });
}

/** Memory of the inputs that comes from the pool goes back to it. */
function giveInputs(inputs: TensorMap): void {
  for (const tensor of Object.values(inputs)) if (isNumeric(tensor)) giveBytes(tensor.bytes);
}

/** A body as tensors. */
interface Decoded {
  readonly inputs: TensorMap;
  readonly form: 'row' | 'columnar';
  readonly signature: Signature;
}

/**
 * What TensorFlow Serving answers over REST as the client wants it needs no tensors on the way back. The request is
 * written anew from the tensors that were checked: two readers of the same JSON need not see the same in it.
 * @returns undefined where this way is not open
 */
async function relay(
  body: Uint8Array,
  { inputs, form, signature }: Decoded,
  inference: Inference,
): Promise<EncodedResponse | undefined> {
  const { backend, model, method, signal, timed } = inference;
  if (!(backend instanceof RestBackend) || !isServingJson(body, inference)) return undefined;
  if (checkFor(backend, { model, inputs }, signature).isFlat) return undefined;
  const request = await backend.relayedBody(signature, inputs, form);
  if (!request) return undefined;
  try {
    const { bytes } = await timed(async () => {
      const [version, reply] = await Promise.all([
        backend.version(model),
        backend.relay({ model, method, body: request, signal }),
      ]);
      return { bytes: reply, version };
    });
    return { contentType: 'application/json', body: [bytes] };
  } catch (error) {
    if (isMoreThanServing(error)) return undefined;
    throw error;
  }
}

/**
 * TensorFlow Serving refuses over REST what is answered here over gRPC: the row format where the outputs have no
 * common first dimension, which get columns (see `jsonResponse`). Over REST it is answered as well, read here.
 */
function isMoreThanServing(error: unknown): boolean {
  if (!(error instanceof ServingError) || error.status !== 400) return false;
  return MORE_THAN_SERVING.test(error.message);
}

const MORE_THAN_SERVING = /has inconsistent batch size|has no shape information/;

/** A body for classify or regress. @throws ServingError that says what they take */
async function decodeExamples(body: Uint8Array, inference: Inference) {
  try {
    return await decodeBody(body, inference, inference.contentType, takingExamples);
  } catch (error) {
    if (!(error instanceof ServingError) || error.code !== 'BAD_INPUT') throw error;
    const message = `tfs-method=${inference.method} takes tf.Examples: {"examples": [{"feature": value, ...}, ...]}, TFRecord or RecordIO; ${error.message}`;
    throw new ServingError(error.code, message, { cause: error });
  }
}

/**
 * TensorFlow Serving feeds serialized tf.Examples to the only input whatever its declared dtype and shape: exporters
 * of TensorFlow 1 wrote those of the parsed feature there.
 */
function takingExamples(signature: Signature): Signature {
  const [input, ...others] = Object.entries(signature.inputs);
  if (!input || others.length > 0) return signature;
  const [name, spec] = input;
  const text = { dtype: 'string', dtypeEnum: DTYPES.string.enumValue, shape: [-1] } as const;
  return { ...signature, inputs: { [name]: { ...spec, ...text } } };
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

/** Outputs for the Accept header. */
export function encodeOutputs(
  outputs: TensorMap,
  inference: Inference,
  { form, signature }: { form: 'row' | 'columnar'; signature: Signature },
): Promise<EncodedResponse> {
  const { postprocess, labels, frames } = inference;
  return encodeResponse(outputs, inference.accept, {
    signature,
    form,
    outputOrder: inference.askedOutputs ?? Object.keys(signature.outputs),
    postprocess,
    labels,
    frames,
  });
}
