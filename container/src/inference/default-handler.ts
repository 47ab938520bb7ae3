/** What answers where the archive has no handler: the codecs, straight to the model and back. */
import type { Postprocess } from '@sagemaker-tfs/manifest';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { DTYPES, isNumeric, type Signature, type TensorMap } from '@sagemaker-tfs/tensors';
import { parseMediaType } from '@sagemaker-tfs/tensors/media-type';
import type { EncodedResponse } from '../codecs/codec.ts';
import { encodeResponse, prefersJson } from '../codecs/registry.ts';
import { ServingError } from '../errors.ts';
import { giveBytes } from '../memory/byte-pool.ts';
import { ownNames } from '../postprocess/asked-outputs.ts';
import {
  type BadRecords,
  type GoodRecords,
  isOfARecord,
  withoutBadRecords,
} from './bad-records.ts';
import { checkFor } from './check-call.ts';
import { classifyOrRegress } from './classify-or-regress.ts';
import { type Decoded, decodeBody } from './decode-body.ts';
import { withRowsHint } from './differing-rows.ts';
import type { Inference } from './inference.ts';

/** Decodes the body by its media type, predicts, and encodes for the Accept header. */
export async function defaultHandler(
  body: Uint8Array,
  inference: Inference,
): Promise<EncodedResponse> {
  if (inference.method !== 'predict') {
    const { inputs, signature } = await decodeExamples(body, inference);
    return classifyOrRegress(inputs, takingExamples(signature), inference);
  }
  if (!inference.answersBadRecords) return predictBody(body, inference);
  try {
    return await predictBody(body, inference);
  } catch (error) {
    if (!isOfARecord(error)) throw error;
    const found = await withoutBadRecords(body, inference);
    if (!found) throw error;
    try {
      return await answerBeside(found, inference);
    } catch (unanswered) {
      // Nothing that the client accepts has room for an error in a row.
      const isRefused = unanswered instanceof ServingError && unanswered.code === 'NOT_ACCEPTABLE';
      throw isRefused ? error : unanswered;
    }
  }
}

async function predictBody(body: Uint8Array, inference: Inference): Promise<EncodedResponse> {
  const decoded = await decodeBody(body, inference);
  const relayed = await relay(decoded, inference);
  return relayed ?? predictDecoded(decoded, inference);
}

async function predictDecoded(
  { inputs, form, signature }: Decoded,
  inference: Inference,
  badRecords?: BadRecords,
): Promise<EncodedResponse> {
  const outputs = await inference.predict(inputs, { signature: signature.key });
  if (badRecords) checkRows(inputs, outputs);
  // The outputs of a model in this process may be views on its inputs.
  inference.hold(() => giveInputs(inputs));
  return encodeOutputs(outputs, inference, { form, signature, badRecords });
}

/** @throws ServingError NOT_ACCEPTABLE if the outputs do not have the rows of the inputs */
function checkRows(inputs: TensorMap, outputs: TensorMap): void {
  const rows = Object.values(inputs)[0]?.shape[0];
  if (Object.values(outputs).every(({ shape }) => shape[0] === rows)) return;
  throw new ServingError('NOT_ACCEPTABLE', 'the outputs do not have a row for each record.');
}

/** Answers to the good records, with errors in the places of the others. */
async function answerBeside(
  { bad, good }: GoodRecords,
  inference: Inference,
): Promise<EncodedResponse> {
  const { signature, log, requestId } = inference;
  const answer = good
    ? await predictDecoded(good, inference, bad)
    : await encodeOutputs({}, inference, { form: 'row', signature, badRecords: bad });
  const [first] = bad;
  log.warn({ requestId, badRecords: bad.size, first: first?.[0] }, 'bad records were answered');
  const customAttributes = { ...answer.customAttributes, 'tfs-bad-records': String(bad.size) };
  return { ...answer, customAttributes };
}

/** Memory of the inputs that comes from the pool goes back to it. */
function giveInputs(inputs: TensorMap): void {
  for (const tensor of Object.values(inputs)) if (isNumeric(tensor)) giveBytes(tensor.bytes);
}

/**
 * What TensorFlow Serving answers over REST as the client wants it needs no tensors on the way back. The request is
 * written anew from the tensors that were checked: two readers of the same JSON need not see the same in it.
 * @returns undefined if this way is not open
 */
async function relay(
  { inputs, form, signature }: Decoded,
  inference: Inference,
): Promise<EncodedResponse | undefined> {
  const { backend, model, signal, timed, callLimits } = inference;
  if (!backend.relay || !isJsonToJson(inference)) return undefined;
  if (checkFor(backend, { model, inputs }, signature, callLimits).isFlat) return undefined;
  const call = await backend.relay({ model, signature, inputs, form, signal });
  if (!call) return undefined;
  const reply = await timed(() => withRowsHint(call(), signature, inputs));
  return reply && { contentType: 'application/json', body: [reply.body] };
}

/** Whether the answer can go to the client as the model server writes it. */
function isJsonToJson({ contentType, accept, postprocess, askedOutputs }: Inference): boolean {
  if (postprocess || askedOutputs) return false;
  return parseMediaType(contentType).type === 'application/json' && prefersJson(accept);
}

/** A body for classify or regress. @throws ServingError that says what they take */
export async function decodeExamples(body: Uint8Array, inference: Inference): Promise<Decoded> {
  try {
    return await decodeBody(body, inference, { decodedFor: takingExamples });
  } catch (error) {
    if (!(error instanceof ServingError) || error.code !== 'BAD_INPUT') throw error;
    const message = `tfs-method=${inference.method} takes tf.Examples: {"examples": [{"feature": value, ...}, ...]}, TFRecord or RecordIO. ${sentence(error.message)}`;
    throw new ServingError(error.code, message, { cause: error });
  }
}

/**
 * TensorFlow Serving feeds serialized tf.Examples to the only input whatever its declared dtype and shape: exporters
 * of TensorFlow 1 wrote those of the parsed feature there.
 */
export function takingExamples(signature: Signature): Signature {
  const [input, ...others] = Object.entries(signature.inputs);
  if (!input || others.length > 0) return signature;
  const [name, spec] = input;
  const text = { dtype: 'string', dtypeEnum: DTYPES.string.enumValue, shape: [-1] } as const;
  return { ...signature, inputs: { [name]: { ...spec, ...text } } };
}

/** Outputs for the Accept header. */
export function encodeOutputs(
  outputs: TensorMap,
  inference: Inference,
  {
    form,
    signature,
    badRecords,
  }: {
    readonly form: 'row' | 'columnar';
    readonly signature: Signature;
    readonly badRecords?: BadRecords | undefined;
  },
): Promise<EncodedResponse> {
  const { labels, frames, askedOutputs } = inference;
  const asked = askedOutputs && ownNames(askedOutputs, signature, inference.postprocess);
  const declared = Object.keys(outputs).length > 0 ? inference.postprocess : undefined;
  const postprocess = declared && asked ? inOrder(declared, asked) : declared;
  return encodeResponse(outputs, inference.accept, {
    signature,
    form,
    outputOrder: asked ?? Object.keys(signature.outputs),
    postprocess,
    labels,
    frames,
    badRecords,
    maxEmptyRows: inference.decodeLimits.maxStrings,
    parquet: inference.decodeLimits.parquet,
  });
}

/** The outputs that a declaration keeps, those that are asked for first and in their order. */
function inOrder(postprocess: Postprocess, asked: readonly string[]): Postprocess {
  const { outputs } = postprocess;
  if (!outputs) return postprocess;
  const first = asked.filter((name) => outputs.includes(name));
  return { ...postprocess, outputs: [...new Set([...first, ...outputs])] };
}
