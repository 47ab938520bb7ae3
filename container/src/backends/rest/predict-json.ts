/** Tensors to TensorFlow Serving's columnar JSON and back. */
import {
  parsePackedJson,
  reshape,
  type Signature,
  shapeText,
  type Tensor,
  type TensorMap,
  type TensorSpec,
  tensorFromJson,
  writeTensorJson,
} from '@sagemaker-tfs/tensors';
import { unknownOutput } from '../../codecs/input-error.ts';
import { ServingError } from '../../errors.ts';
import { nextTurn } from '../../waiting/next-turn.ts';

/** Written in a millisecond or so. */
const JSON_TURN_BYTES = 2 ** 16;

/** `{"signature_name", "inputs": {...}}`, in pieces, with a turn of the event loop between two large ones. */
export async function predictRequestBody(
  signature: string,
  inputs: TensorMap,
): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [
    Buffer.from(`{"signature_name":${JSON.stringify(signature)},"inputs":{`),
  ];
  for (const [index, [name, tensor]] of Object.entries(inputs).entries()) {
    checkListed(name, tensor);
    pieces.push(Buffer.from(`${index > 0 ? ',' : ''}${JSON.stringify(name)}:`));
    await addJson(pieces, tensor);
  }
  pieces.push(Buffer.from('}}'));
  return pieces;
}

/** `{"signature_name", "instances": [...]}` for the only input, likewise. */
export async function rowsRequestBody(
  signature: string,
  [name, rows]: readonly [string, Tensor],
): Promise<Uint8Array[]> {
  checkListed(name, rows);
  const pieces: Uint8Array[] = [
    Buffer.from(`{"signature_name":${JSON.stringify(signature)},"instances":`),
  ];
  await addJson(pieces, rows);
  pieces.push(Buffer.from('}'));
  return pieces;
}

/**
 * Lists end at the first empty one: `[1, 0, 3]` is `[[]]`, which TensorFlow Serving takes for [1, 0].
 * @throws ServingError BAD_INPUT for a tensor whose shape the lists would not tell
 */
function checkListed(name: string, { shape }: Tensor): void {
  const zero = shape.indexOf(0);
  if (zero < 0 || zero === shape.length - 1) return;
  throw new ServingError(
    'BAD_INPUT',
    `input '${name}' of shape ${shapeText(shape)} is empty, and TensorFlow Serving's REST API has no form for the sizes behind the 0. Send it with tfs-transport=grpc.`,
  );
}

async function addJson(pieces: Uint8Array[], tensor: Tensor): Promise<void> {
  for (const piece of writeTensorJson(tensor)) {
    pieces.push(piece);
    if (piece.byteLength >= JSON_TURN_BYTES) await nextTurn();
  }
}

/**
 * Reads `{"outputs": ...}`: an object of columns, or the only column itself.
 * @throws ServingError UNKNOWN_OUTPUT, or MODEL_FAILED for an answer that does not fit the signature
 */
export function readPredictReply(
  body: Uint8Array,
  signature: Signature,
  wanted: readonly string[] | undefined,
): TensorMap {
  const outputs = outputsIn(body);
  const names = Object.keys(signature.outputs);
  const columns = names.length === 1 ? { [names[0] as string]: outputs } : columnsIn(outputs);
  return Object.fromEntries(
    (wanted ?? names).map((name) => [name, readColumn(name, columns[name], signature)]),
  );
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
  throw unreadable('it has no "outputs"');
}

function columnsIn(outputs: unknown): Readonly<Record<string, unknown>> {
  if (typeof outputs === 'object' && outputs !== null) return outputs as Record<string, unknown>;
  throw unreadable('its "outputs" are no object');
}

function unreadable(cause: unknown): ServingError {
  return new ServingError('MODEL_FAILED', `the model's answer cannot be read: ${cause}`, { cause });
}

function readColumn(name: string, value: unknown, signature: Signature): Tensor {
  const spec = Object.hasOwn(signature.outputs, name) ? signature.outputs[name] : undefined;
  if (!spec) throw unknownOutput(name, signature);
  try {
    if (spec.dtype) return withFullRank(tensorFromJson(spec.dtype, value, name), name, spec);
  } catch (cause) {
    if (cause instanceof ServingError) throw cause;
    throw new ServingError('MODEL_FAILED', `the model's answer cannot be read: ${cause}`, {
      cause,
    });
  }
  throw new ServingError('MODEL_FAILED', `output "${name}" has a dtype that is not supported`);
}

/**
 * Nested arrays end at the first empty one; the signature may know the sizes behind it.
 * @throws ServingError MODEL_FAILED, with 501, where it does not
 */
function withFullRank(tensor: Tensor, name: string, { shape }: TensorSpec): Tensor {
  if (!tensor.shape.includes(0)) return tensor;
  const rest = shape?.slice(tensor.shape.length);
  if (rest?.every((size) => size >= 0)) return reshape(tensor, [...tensor.shape, ...rest]);
  const declared = shape ? `[${shape.map((size) => (size < 0 ? '?' : size)).join(', ')}]` : 'any';
  throw new ServingError(
    'MODEL_FAILED',
    `output "${name}" is empty, and TensorFlow Serving's REST API tells only ${shapeText(tensor.shape)} of its shape, which is declared as ${declared}. Ask with tfs-transport=grpc.`,
    { status: 501 },
  );
}
