/** Tensors as JSON the way TensorFlow Serving's REST API prints them, in chunks and without whitespace. */
import { DTYPES } from './dtype.ts';
import { writeNumbersJson } from './json-numbers.ts';
import {
  elementCount,
  isNumeric,
  type NumericTensor,
  type StringTensor,
  type Tensor,
} from './tensor.ts';
import { base64Encode, concatBytes, utf8Decode, utf8DecodeStrict, utf8Encode } from './text.ts';
import { utf8Parts } from './utf8-parts.ts';

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

/** Bytes of rows that are written one by one: in each, what a call costs counts for little. */
const LARGE_ROW_BYTES = 1024;
/** Bytes of smaller rows that are written at a time, in a fraction of a millisecond. */
const BLOCK_BYTES = 2 ** 14;

/**
 * The JSON of each row of a batch, in order and in pieces, as {@link writeTensorJson} writes it. A call of the writer for
 * each of a million small rows would take ten times as long.
 */
export function* writeRowsJson(
  tensor: Tensor,
  options: WriteTensorJsonOptions = {},
): Generator<Iterable<string | Uint8Array>, void> {
  const [count = 0, ...shape] = tensor.shape;
  const elements = elementCount(shape);
  if (isNumeric(tensor)) {
    const size = elements * DTYPES[tensor.dtype].size;
    const isSmall = size > 0 && size < LARGE_ROW_BYTES;
    const step = isSmall ? Math.floor(BLOCK_BYTES / size) : 1;
    for (let row = 0; row < count; row += step) {
      const rows = Math.min(step, count - row);
      const bytes = tensor.bytes.subarray(row * size, (row + rows) * size);
      if (isSmall) yield* apart({ ...tensor, shape: [rows, ...shape], bytes });
      else yield writeNumbersJson({ ...tensor, shape, bytes });
    }
    return;
  }
  const asBase64 = options.name?.endsWith('_bytes') ?? false;
  for (let row = 0; row < count; row++) {
    const values = tensor.values.slice(row * elements, (row + 1) * elements);
    if (shape.length > 0) yield writeStringsJson({ ...tensor, shape, values }, asBase64);
    else yield stringJson(values[0] as Uint8Array, asBase64);
  }
}

/** Rows written together. The brackets between two of them are nowhere inside one. */
function* apart(tensor: NumericTensor): Generator<readonly string[], void> {
  const rank = tensor.shape.length;
  const [open, close] = ['['.repeat(rank - 1), ']'.repeat(rank - 1)];
  const text = utf8Decode(concatBytes([...writeNumbersJson(tensor)]));
  const rows = text.slice(rank, -rank).split(`${close},${open}`);
  for (const row of rows) yield [`${open}${row}${close}`];
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

/** Pieces of the JSON of a tensor of strings, nested as its shape is. @param elementJson pieces of one element's */
export function* stringPieces(
  { shape, values }: StringTensor,
  elementJson: (value: Uint8Array) => Iterable<string>,
): Generator<string, void> {
  let next = 0;
  function* axisPieces(axis: number): Generator<string, void> {
    const isLast = axis === shape.length - 1;
    yield '[';
    for (let i = 0; i < (shape[axis] as number); i++) {
      if (i > 0) yield ',';
      // A generator for each string would take as long as its text.
      yield* isLast ? elementJson(values[next++] as Uint8Array) : axisPieces(axis + 1);
    }
    yield ']';
  }
  yield* shape.length === 0 ? elementJson(values[0] as Uint8Array) : axisPieces(0);
}

/** Bytes of a part that long strings are written in; a multiple of 3 as base64 needs. */
const PART_BYTES = 3 * 2 ** 14;

function stringJson(value: Uint8Array, asBase64: boolean): Iterable<string> {
  if (value.byteLength > PART_BYTES) return longStringJson(value, asBase64);
  const text = asBase64 ? undefined : utf8DecodeStrict(value);
  return [text === undefined ? `{"b64":"${base64Encode(value)}"}` : JSON.stringify(text)];
}

function* longStringJson(value: Uint8Array, asBase64: boolean): Generator<string, void> {
  if (asBase64 || utf8DecodeStrict(value) === undefined) {
    yield '{"b64":"';
    for (let at = 0; at < value.byteLength; at += PART_BYTES) {
      yield base64Encode(value.subarray(at, at + PART_BYTES));
    }
    yield '"}';
    return;
  }
  yield '"';
  for (const part of utf8Parts(value, PART_BYTES)) {
    yield JSON.stringify(utf8Decode(part)).slice(1, -1);
  }
  yield '"';
}
