/** Tensors as JSON the way TensorFlow Serving's REST API prints them, in chunks and without whitespace. */
import { writeNumbersJson } from './json-numbers.ts';
import { isNumeric, type StringTensor, type Tensor } from './tensor.ts';
import { base64Encode, utf8DecodeStrict, utf8Encode } from './text.ts';

/** How a tensor is written. */
export interface WriteTensorJsonOptions {
  /**
   * The output's name. As TensorFlow Serving has it, strings of an output whose name ends in `_bytes` are
   * always base64.
   */
  readonly name?: string;
}

/** Strings are gathered into chunks of about this size. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Writes a tensor as nested JSON arrays (a scalar as its one element), in chunks of up to 1 MiB that are
 * made as they are asked for: a caller may wait between them, for its event loop or its reader.
 *
 * Floats have the shortest digits that read back as the same float32 (float64, float16, bfloat16), in
 * JavaScript's notation with `.0` after whole numbers (`1.0`, `0.1`, `1e-7`, `3.4028235e38`), and bare
 * `NaN`, `Infinity` and `-Infinity`, which JSON does not have and TensorFlow Serving prints. Integers are
 * exact. Strings are text where they are UTF-8, else `{"b64":"..."}`.
 */
export function writeTensorJson(
  tensor: Tensor,
  options: WriteTensorJsonOptions = {},
): Iterable<Uint8Array> {
  if (isNumeric(tensor)) return writeNumbersJson(tensor);
  return writeStringsJson(tensor, options.name?.endsWith('_bytes') ?? false);
}

function* writeStringsJson(tensor: StringTensor, asBase64: boolean): Generator<Uint8Array, void> {
  let pending = '';
  for (const piece of stringPieces(tensor, (value) => stringJson(value, asBase64))) {
    pending += piece;
    if (pending.length >= CHUNK_BYTES) {
      yield utf8Encode(pending);
      pending = '';
    }
  }
  if (pending) yield utf8Encode(pending);
}

/** Pieces of the JSON of a tensor of strings, nested as its shape is. @param elementJson JSON of one element */
export function* stringPieces(
  { shape, values }: StringTensor,
  elementJson: (value: Uint8Array) => string,
): Generator<string, void> {
  let next = 0;
  function* axisPieces(axis: number): Generator<string, void> {
    if (axis === shape.length) {
      yield elementJson(values[next++] as Uint8Array);
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

function stringJson(value: Uint8Array, asBase64: boolean): string {
  const text = asBase64 ? undefined : utf8DecodeStrict(value);
  if (text !== undefined) return JSON.stringify(text);
  return `{"b64":"${base64Encode(value)}"}`;
}
