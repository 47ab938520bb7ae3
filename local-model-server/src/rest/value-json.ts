/** Values of answers as TensorFlow Serving's REST API writes them (AddTensorValues in util/json_tensor.cc). */
import {
  elementCount,
  isNumeric,
  writeRowsJson as rowsJson,
  stringPieces,
  type Tensor,
  writeTensorJson,
} from '@sagemaker-tfs/tensors';
import { withoutDenormals } from './denormals.ts';

/** Strings are gathered into chunks of about this size. */
const CHUNK_BYTES = 64 * 1024;

/**
 * The tensor as nested lists, in chunks. Strings are bytes that go out as they are, UTF-8 or not: only quotes,
 * backslashes and control characters are escaped. Those of an output whose name ends in `_bytes` are base64.
 */
export function writeValueJson(tensor: Tensor, name: string): Iterable<Uint8Array> {
  if (isNumeric(tensor)) return writeTensorJson(withoutDenormals(tensor));
  return name.endsWith('_bytes')
    ? writeTensorJson(tensor, { name })
    : chunks(stringPieces(tensor, (value) => [latin1Json(value)]));
}

/** The rows of a batch in turn, each as {@link writeValueJson} writes it. */
export function* writeRowsJson(
  tensor: Tensor,
  name: string,
): Generator<Iterable<string | Uint8Array>, void> {
  if (isNumeric(tensor) || name.endsWith('_bytes')) {
    yield* rowsJson(withoutDenormals(tensor), { name });
    return;
  }
  const [count = 0, ...shape] = tensor.shape;
  if (shape.length === 0) {
    for (const value of tensor.values) yield [Buffer.from(latin1Json(value), 'latin1')];
    return;
  }
  const elements = elementCount(shape);
  for (let row = 0; row < count; row++) {
    const values = tensor.values.slice(row * elements, (row + 1) * elements);
    yield writeValueJson({ ...tensor, shape, values }, name);
  }
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
export function latin1Json(value: Uint8Array): string {
  return JSON.stringify(Buffer.from(value).toString('latin1'));
}
