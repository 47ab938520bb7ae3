/** Values of answers as TensorFlow Serving's REST API writes them (AddTensorValues in util/json_tensor.cc). */
import { isNumeric, type StringTensor, type Tensor, writeTensorJson } from '@sagemaker-tfs/tensors';
import { withoutDenormals } from './denormals.ts';

/** Strings are gathered into chunks of about this size. */
const CHUNK_BYTES = 64 * 1024;

/**
 * The tensor as nested lists, in chunks. Strings are bytes that go out as they are, UTF-8 or not: only quotes,
 * backslashes and control characters are escaped. Those of an output whose name ends in `_bytes` are base64.
 */
export function writeValueJson(tensor: Tensor, name: string): Iterable<Uint8Array> {
  if (isNumeric(tensor)) return writeTensorJson(withoutDenormals(tensor));
  return name.endsWith('_bytes') ? writeTensorJson(tensor, { name }) : chunks(stringPieces(tensor));
}

function* chunks(pieces: Iterable<string>): Generator<Uint8Array> {
  let pending = '';
  for (const piece of pieces) {
    pending += piece;
    if (pending.length < CHUNK_BYTES) continue;
    yield Buffer.from(pending, 'latin1');
    pending = '';
  }
  if (pending) yield Buffer.from(pending, 'latin1');
}

/** A character stands for a byte. */
function* stringPieces({ shape, values }: StringTensor): Generator<string> {
  let next = 0;
  function* axisPieces(axis: number): Generator<string> {
    if (axis === shape.length) {
      yield JSON.stringify(Buffer.from(values[next++] as Uint8Array).toString('latin1'));
      return;
    }
    yield '[';
    for (let i = 0; i < (shape[axis] as number); i++) {
      if (i > 0) yield ',';
      yield* axisPieces(axis + 1);
    }
    yield ']';
  }
  yield* axisPieces(0);
}
