/**
 * Tensors on their way from a thread to the main one. Numbers go over in the memory that they lie in. So do strings,
 * joined: a million of them one by one would be copied by the main thread at once, in a second.
 */
import {
  type AbortSignalLike,
  type NumericTensor,
  type StringTensor,
  stringTensor,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { nextTurn } from '../waiting/next-turn.ts';

/** Strings behind each other. */
interface JoinedStrings {
  readonly dtype: 'string';
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
  /** Bytes of each. */
  readonly lengths: Uint32Array;
}

/** Tensors as they go over, by name. */
export type HandedTensors = Readonly<Record<string, NumericTensor | JoinedStrings>>;

/** Strings taken apart in one turn of the event loop: a millisecond or two. */
const TURN_STRINGS = 8_192;

/** In the thread: the tensors to send, and the buffers to move with them. */
export function handedOver(tensors: TensorMap): {
  readonly tensors: HandedTensors;
  readonly moved: readonly ArrayBuffer[];
} {
  const all: HandedTensors = Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [name, handed(tensor)]),
  );
  const buffers = Object.values(all).flatMap((tensor) => [
    tensor.bytes.buffer as ArrayBuffer,
    ...(tensor.dtype === 'string' ? [tensor.lengths.buffer as ArrayBuffer] : []),
  ]);
  return { tensors: all, moved: [...new Set(buffers)] };
}

/** In the main thread: the tensors again, strings taken apart in turns. @throws the signal's reason */
export async function takenOver(
  handedTensors: HandedTensors,
  signal?: AbortSignalLike,
): Promise<TensorMap> {
  const tensors: [string, Tensor][] = [];
  for (const [name, tensor] of Object.entries(handedTensors)) {
    tensors.push([name, tensor.dtype === 'string' ? await apart(tensor, signal) : tensor]);
  }
  return Object.fromEntries(tensors);
}

function handed(tensor: Tensor): NumericTensor | JoinedStrings {
  return tensor.dtype === 'string' ? joined(tensor) : alone(tensor);
}

function joined({ shape, values }: StringTensor): JoinedStrings {
  const lengths = Uint32Array.from(values, ({ byteLength }) => byteLength);
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const value of values) {
    bytes.set(value, at);
    at += value.byteLength;
  }
  return { dtype: 'string', shape, bytes, lengths };
}

async function apart(
  { shape, bytes, lengths }: JoinedStrings,
  signal: AbortSignalLike | undefined,
): Promise<StringTensor> {
  const values: Uint8Array[] = [];
  let at = 0;
  for (const length of lengths) {
    if (values.length % TURN_STRINGS === 0 && values.length > 0) {
      await nextTurn();
      signal?.throwIfAborted();
    }
    values.push(bytes.subarray(at, at + length));
    at += length;
  }
  return stringTensor(shape, values);
}

/** The tensor with its bytes in a buffer that holds nothing else and may leave this thread. */
function alone(tensor: NumericTensor): NumericTensor {
  const { bytes } = tensor;
  const isAlone = bytes.byteLength === bytes.buffer.byteLength && !Buffer.isBuffer(bytes);
  return isAlone ? tensor : { ...tensor, bytes: new Uint8Array(bytes) };
}
