/** Tensors to TensorFlow Serving's columnar JSON and back. */
import {
  byteLength,
  elementCount,
  own,
  parsePackedJson,
  reshape,
  type Signature,
  type Tensor,
  type TensorMap,
  type TensorSpec,
  tensorFromJson,
  writeTensorJson,
} from '@sagemaker-tfs/tensors';
import { unknownOutput } from '../../codecs/input-error.ts';
import { ServingError } from '../../errors.ts';
import { nextTurn } from '../../waiting/next-turn.ts';
import { checkStrings } from '../too-many-strings.ts';
import { utf8Reply } from './utf8-reply.ts';

/** Written in a millisecond or so. */
const JSON_TURN_BYTES = 2 ** 16;

/**
 * `{"signature_name", "inputs": {...}}`, in pieces, with a turn of the event loop between two large ones.
 * @param inputs with shapes that lists tell: see {@link fitsJson}
 */
export async function predictRequestBody(
  signature: string,
  inputs: TensorMap,
): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [
    Buffer.from(`{"signature_name":${JSON.stringify(signature)},"inputs":{`),
  ];
  for (const [index, [name, tensor]] of Object.entries(inputs).entries()) {
    pieces.push(Buffer.from(`${index > 0 ? ',' : ''}${JSON.stringify(name)}:`));
    await addJson(pieces, tensor);
  }
  pieces.push(Buffer.from('}}'));
  return pieces;
}

/** `{"signature_name", "instances": [...]}` for the only input, likewise. */
export async function rowsRequestBody(signature: string, rows: Tensor): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [
    Buffer.from(`{"signature_name":${JSON.stringify(signature)},"instances":`),
  ];
  await addJson(pieces, rows);
  pieces.push(Buffer.from('}'));
  return pieces;
}

/**
 * Elements and bytes of inputs that go as JSON. Text of a picture's bytes is four times as large, and the model server
 * makes some ten times that of it while it reads: a few pictures of 100 MB would hold gigabytes for a minute.
 */
const MAX_JSON_ELEMENTS = 4_000_000;
const MAX_JSON_BYTES = 32_000_000;

/**
 * Whether JSON is a form for the inputs: they are not too large, and lists tell their shapes. Lists end at the first
 * empty one: `[1, 0, 3]` is `[[]]`, which TensorFlow Serving takes for [1, 0].
 */
export function fitsJson(inputs: TensorMap): boolean {
  const tensors = Object.values(inputs);
  const sum = (of: (tensor: Tensor) => number) =>
    tensors.reduce((total, tensor) => total + of(tensor), 0);
  const count = sum(({ shape }) => elementCount(shape));
  if (count > MAX_JSON_ELEMENTS || sum(byteLength) > MAX_JSON_BYTES) return false;
  return tensors.every(({ shape }) => {
    const zero = shape.indexOf(0);
    return zero < 0 || zero === shape.length - 1;
  });
}

async function addJson(pieces: Uint8Array[], tensor: Tensor): Promise<void> {
  for (const piece of writeTensorJson(tensor)) {
    pieces.push(piece);
    if (piece.byteLength >= JSON_TURN_BYTES) await nextTurn();
  }
}

/** What is read of an answer. */
export interface ReplyRead {
  readonly signature: Signature;
  /** Names of outputs; undefined for all. */
  readonly outputs: readonly string[] | undefined;
  /** Of all outputs together. */
  readonly maxStrings: number;
}

/**
 * Reads `{"outputs": ...}`: an object of columns, or the only column itself.
 * @returns undefined if its lists do not tell the shape of an output
 * @throws ServingError UNKNOWN_OUTPUT, MODEL_FAILED for an answer that does not fit the signature, or
 *   RESPONSE_TOO_LARGE
 */
export function readPredictReply(
  body: Uint8Array,
  { signature, outputs: wanted, maxStrings }: ReplyRead,
): TensorMap | undefined {
  const outputs = outputsIn(utf8Reply(body, signature));
  const names = Object.keys(signature.outputs);
  const columns = names.length === 1 ? { [names[0] as string]: outputs } : columnsIn(outputs);
  const tensors: [string, Tensor][] = [];
  for (const name of wanted ?? names) {
    const tensor = readColumn(name, own(columns, name), signature);
    if (!tensor) return undefined;
    tensors.push([name, tensor]);
  }
  checkStrings(
    tensors.map(([, tensor]) => tensor),
    maxStrings,
  );
  return Object.fromEntries(tensors);
}

/** @throws ServingError MODEL_FAILED */
function outputsIn(body: Uint8Array): unknown {
  let reply: unknown;
  try {
    reply = parsePackedJson(body);
  } catch (cause) {
    throw unreadable(cause);
  }
  if (typeof reply === 'object' && reply !== null && Object.hasOwn(reply, 'outputs')) {
    return (reply as { readonly outputs: unknown }).outputs;
  }
  throw unreadable('it has no "outputs".');
}

function columnsIn(outputs: unknown): Readonly<Record<string, unknown>> {
  if (typeof outputs === 'object' && outputs !== null) return outputs as Record<string, unknown>;
  throw unreadable('its "outputs" are no object.');
}

function unreadable(cause: unknown): ServingError {
  return new ServingError('MODEL_FAILED', `the model's answer cannot be read: ${cause}`, { cause });
}

/** @returns undefined if its lists do not tell its shape */
function readColumn(name: string, value: unknown, signature: Signature): Tensor | undefined {
  const spec = own(signature.outputs, name);
  if (!spec) throw unknownOutput(name, signature);
  if (!spec.dtype) {
    throw new ServingError('MODEL_FAILED', `output "${name}" has a dtype that is not supported.`);
  }
  let tensor: Tensor;
  try {
    tensor = tensorFromJson(spec.dtype, value, name);
  } catch (cause) {
    throw unreadable(cause);
  }
  return tensor.shape.includes(0) ? withFullRank(tensor, spec) : tensor;
}

/** Nested arrays end at the first empty one; the signature may know the sizes behind it. */
function withFullRank(tensor: Tensor, { shape }: TensorSpec): Tensor | undefined {
  const rest = shape?.slice(tensor.shape.length);
  if (!rest?.every((size) => size >= 0)) return undefined;
  return reshape(tensor, [...tensor.shape, ...rest]);
}
