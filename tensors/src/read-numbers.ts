/** Nested lists of numbers from JSON text, read by WebAssembly. */
import { INPUT_BYTES, jsonModule } from './json-wasm.ts';
import { PackedNumbers } from './packed-numbers.ts';
import { utf8Decode } from './text.ts';

/** The results of `read_window`, as in `read-numbers.h`. */
const MORE = 0;
const DONE = 1;

/** A list and the place after it. */
interface ReadNumbers {
  readonly numbers: PackedNumbers;
  readonly end: number;
}

/**
 * Reads the list that begins at `start`.
 * @returns undefined if it is not what PackedNumbers can hold, or in error
 */
export function readNumbers(text: Uint8Array, start: number): ReadNumbers | undefined {
  const { exports, input, numbers, sizes, reading } = jsonModule();
  const runs: Float64Array[] = [];
  exports.read_start();
  for (let at = start; ; ) {
    const window = text.subarray(at, at + INPUT_BYTES);
    const isLast = at + INPUT_BYTES >= text.byteLength;
    input.set(window);
    const outcome = exports.read_window(window.byteLength, isLast ? 1 : 0);
    const [consumed, count, rank, slowCount] = reading as unknown as readonly [
      number,
      number,
      number,
      number,
    ];
    if (outcome !== MORE && outcome !== DONE) return undefined;
    const run = numbers.slice(0, count);
    if (!readSlow(run, slowCount)) return undefined;
    runs.push(run);
    at += consumed;
    if (outcome === DONE) {
      return { numbers: new PackedNumbers([...sizes.subarray(0, rank)], runs), end: at };
    }
    if (consumed === 0 || (isLast && slowCount === 0)) return undefined;
  }
}

/**
 * Reads the numbers that the module left: those of more than 19 digits, and of very large or small exponents.
 * @returns false where one is beyond the range of float64
 */
function readSlow(run: Float64Array, count: number): boolean {
  const { input, slow } = jsonModule();
  for (let i = 0; i < count; i++) {
    const [index, start, end] = slow.subarray(3 * i, 3 * i + 3) as unknown as [
      number,
      number,
      number,
    ];
    const value = Number(utf8Decode(input.subarray(start, end)));
    if (!Number.isFinite(value)) return false;
    run[index] = value;
  }
  return true;
}
