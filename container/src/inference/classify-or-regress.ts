/** `tfs-method=classify` and `regress`: tf.Examples in, TensorFlow Serving's `results` out. */
import { isUtf8 } from 'node:buffer';
import {
  type AbortSignalLike,
  type NumericTensor,
  numericTensor,
  type Signature,
  type TensorMap,
  writeTensorJson,
} from '@sagemaker-tfs/tensors';
import { acceptableTypes } from '@sagemaker-tfs/tensors/media-type';
import type { ExamplesReply, LabeledScore } from '../backends/backend.ts';
import { checkExample } from '../codecs/check-example.ts';
import type { EncodedResponse } from '../codecs/codec.ts';
import { checkLargeExample } from '../codecs/example-thread.ts';
import { reading } from '../codecs/input-error.ts';
import type { DecodeLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import { imageFormat } from '../images/image-format.ts';
import { eachInTurns } from '../waiting/in-turns.ts';
import { nextTurn } from '../waiting/next-turn.ts';
import type { RequestSignal } from '../waiting/request-signal.ts';
import { checkFor } from './check-call.ts';
import type { Inference } from './inference.ts';

/**
 * Calls Classify or Regress with the examples that a codec decoded.
 * @throws ServingError BAD_INPUT if the body holds no examples, NOT_ACCEPTABLE for anything but JSON
 */
export async function classifyOrRegress(
  inputs: TensorMap,
  signature: Signature,
  inference: Inference,
): Promise<EncodedResponse> {
  const accepted = acceptableTypes(inference.accept, ['application/json', 'application/jsonlines']);
  const [contentType] = accepted;
  if (!contentType) {
    throw new ServingError('NOT_ACCEPTABLE', `${inference.method} answers application/json only.`);
  }
  const reply = await callWithExamples(inputs, signature, inference);
  const end = contentType === 'application/json' ? ']}' : ']}\n';
  return { contentType, body: await resultsJson(reply, end, inference.signal) };
}

/**
 * The results as tensors, by the names that TensorFlow's classify and regress signatures give their outputs.
 * @returns `classes` string and `scores` float32, both [examples, classes]; or `outputs` float32 [examples]
 * @throws ServingError BAD_INPUT if the body holds no examples
 */
export async function classifyOrRegressTensors(
  inputs: TensorMap,
  signature: Signature,
  inference: Inference,
): Promise<TensorMap> {
  const reply = await callWithExamples(inputs, signature, inference);
  const { classifications, regressions = [] } = reply;
  if (!classifications) return { outputs: float32Tensor([regressions.length], regressions) };
  const shape = [classifications.length, classifications[0]?.length ?? 0];
  const values: Uint8Array[] = [];
  const scores: number[] = [];
  const add = ({ label, score }: LabeledScore) => {
    values.push(label);
    scores.push(score);
  };
  await eachInTurns(each(classifications), add, { signal: inference.signal });
  return { classes: { dtype: 'string', shape, values }, scores: float32Tensor(shape, scores) };
}

function* each<T>(lists: readonly (readonly T[])[]): Iterable<T> {
  for (const list of lists) yield* list;
}

function float32Tensor(shape: readonly number[], numbers: readonly number[]): NumericTensor {
  return numericTensor('float32', shape, Float32Array.from(numbers));
}

async function callWithExamples(
  inputs: TensorMap,
  signature: Signature,
  { backend, model, method, signal, timed, decodeLimits, callLimits }: Inference,
): Promise<ExamplesReply> {
  if (method === 'predict' || !backend.examples) {
    throw new ServingError(
      'BAD_REQUEST',
      `tfs-method=${method} is not known to ${backend.transport}`,
    );
  }
  checkFor(backend, { model, inputs }, signature, callLimits);
  const examples = examplesOf(inputs, method);
  await checkExamples(examples, method, decodeLimits, signal);
  const call = backend.examples.bind(backend, {
    model,
    method,
    signature: signature.key,
    examples,
    signal,
  });
  return timed(call);
}

/**
 * Small ones are checked in turns of the event loop, large ones in a thread.
 * @throws ServingError BAD_INPUT or REQUEST_TOO_LARGE naming the one that is none
 */
async function checkExamples(
  examples: readonly Uint8Array[],
  method: string,
  limits: DecodeLimits,
  signal: RequestSignal,
): Promise<void> {
  let bytes = 0;
  for (const [index, body] of examples.entries()) {
    if (imageFormat(body) !== undefined) throw isPicture(index, method);
    const where = `example ${index} is not a tf.Example that can be read`;
    if (body.byteLength > CHECK_TURN_BYTES) {
      await checkLargeExample({ body, limits, where }, signal);
      continue;
    }
    bytes += body.byteLength + FEW_BYTES;
    if (bytes > CHECK_TURN_BYTES) {
      bytes = 0;
      await nextTurn();
      signal.throwIfAborted();
    }
    reading(() => checkExample(body, limits), where);
  }
}

/** Bytes of examples that are checked in one turn; an empty one costs as much as a few bytes. */
const CHECK_TURN_BYTES = 2 ** 17;
const FEW_BYTES = 32;

/** The serialized tf.Examples of the signature's only input. */
function examplesOf(inputs: TensorMap, method: string): readonly Uint8Array[] {
  const [tensor, ...others] = Object.values(inputs);
  if (tensor?.dtype === 'string' && others.length === 0) return tensor.values;
  throw new ServingError(
    'BAD_INPUT',
    `tfs-method=${method} needs a signature whose only input takes tf.Examples, and a body of them: {"examples": [...]}, TFRecord or RecordIO.`,
  );
}

function isPicture(index: number, method: string): ServingError {
  return new ServingError(
    'BAD_INPUT',
    `tfs-method=${method} takes tf.Examples, but instance ${index} is a picture. Send it without tfs-method, or as a feature of a tf.Example.`,
  );
}

/**
 * `{"results": [[["label", score], ...], ...]}` for classes, `{"results": [value, ...]}` for values; in turns.
 * @param end what closes the text
 * @throws the signal's reason
 */
export async function resultsJson(
  { classifications, regressions = [] }: ExamplesReply,
  end: string,
  signal: AbortSignalLike,
): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  let pending = '{"results":[';
  const add = (text: string) => {
    pending += text;
    if (pending.length < CHUNK_CHARACTERS) return;
    chunks.push(Buffer.from(pending));
    pending = '';
  };
  const texts = classifications ? classTexts(classifications) : valueTexts(regressions);
  await eachInTurns(texts, add, { signal, bytesOf: (text) => text.length * TEXT_COST });
  chunks.push(Buffer.from(pending + end));
  return chunks;
}

/** Of a buffer of the answer, at least. */
const CHUNK_CHARACTERS = 2 ** 16;
/** Writing a character of a number costs as much as copying this number of bytes. */
const TEXT_COST = 16;
/** Numbers of a piece. */
const BLOCK = 256;

function* valueTexts(values: readonly number[]): Iterable<string> {
  for (let from = 0; from < values.length; from += BLOCK) {
    yield `${from > 0 ? ',' : ''}${float32Texts(values.slice(from, from + BLOCK)).join(',')}`;
  }
}

function* classTexts(rows: readonly (readonly LabeledScore[])[]): Iterable<string> {
  for (const [index, row] of rows.entries()) {
    yield index > 0 ? ',[' : '[';
    for (let from = 0; from < row.length; from += BLOCK) {
      const block = row.slice(from, from + BLOCK);
      const scores = float32Texts(block.map(({ score }) => score));
      const pairs = block.map(({ label }, at) => `[${labelJson(label)},${scores[at]}]`);
      yield `${from > 0 ? ',' : ''}${pairs.join(',')}`;
    }
    yield ']';
  }
}

/** Text, or base64 where it is no UTF-8. */
function labelJson(label: Uint8Array): string {
  const { buffer, byteOffset, byteLength } = label;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  return JSON.stringify(isUtf8(bytes) ? bytes.toString() : { b64: bytes.toString('base64') });
}

/** Each number with the shortest digits of a float32. */
function float32Texts(numbers: readonly number[]): string[] {
  if (numbers.length === 0) return [];
  const tensor = float32Tensor([numbers.length], numbers);
  return Buffer.concat([...writeTensorJson(tensor)])
    .toString('latin1')
    .slice(1, -1)
    .split(',');
}
