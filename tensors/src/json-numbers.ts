/**
 * The text of numeric tensors as nested JSON arrays, written by WebAssembly: in JavaScript, a float32 could
 * only be printed with the 17 digits of a double.
 */
import { DTYPES, type NumericDType } from './dtype.ts';
import { INPUT_BYTES, jsonModule, OUTPUT_BYTES } from './json-wasm.ts';
import { elementCount, type NumericTensor } from './tensor.ts';
import { copyOf, utf8Encode } from './text.ts';

/** The longest number, `-1.2345678901234567e-308`, with a comma and some to spare. */
const MAX_NUMBER_BYTES = 28;

/** Chunks of at most 1 MiB, each a copy of its own, made as they are asked for. */
export function* writeNumbersJson(tensor: NumericTensor): Generator<Uint8Array, void> {
  const { dtype, shape, bytes } = tensor;
  const rank = shape.length;
  const count = elementCount(shape);
  if (count === 0) {
    yield utf8Encode(emptyJson(shape));
    return;
  }
  const { size } = DTYPES[dtype];
  const perElement = MAX_NUMBER_BYTES + 2 * rank;
  const step = Math.min(INPUT_BYTES / size, Math.floor((OUTPUT_BYTES - rank) / perElement));
  for (let start = 0; start < count; start += step) {
    const end = Math.min(start + step, count);
    const text = writeRun(dtype, shape, bytes.subarray(start * size, end * size), start);
    yield copyOf(text);
  }
}

/**
 * The text of these elements with the brackets and commas around them, which the next run overwrites.
 * @param start the index of the first in the tensor
 */
function writeRun(
  dtype: NumericDType,
  shape: readonly number[],
  elements: Uint8Array,
  start: number,
): Uint8Array {
  const { exports, input, output, sizes, positions } = jsonModule();
  input.set(elements);
  sizes.set(shape);
  let index = start;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const axisSize = shape[axis] as number;
    positions[axis] = index % axisSize;
    index = Math.floor(index / axisSize);
  }
  const write = exports[dtype === 'bool' ? 'boolean' : dtype];
  const count = elements.byteLength / DTYPES[dtype].size;
  return output.subarray(0, write(count, shape.length, start === 0 ? 1 : 0));
}

/** The JSON of a tensor without elements: `[[],[]]` for [2, 0]. */
function emptyJson(shape: readonly number[]): string {
  const [first = 0, ...rest] = shape;
  if (first === 0) return '[]';
  const inner = emptyJson(rest);
  return `[${Array.from({ length: first }, () => inner).join(',')}]`;
}
