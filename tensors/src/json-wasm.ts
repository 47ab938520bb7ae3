/** The WebAssembly module that writes and reads the numbers of JSON (`wasm/json-numbers.c`). */
import { JSON_NUMBERS_WASM } from '../wasm/gen/json-numbers.ts';
import type { NumericDType } from './dtype.ts';
import { base64Decode } from './text.ts';

/** Writes `count` elements from the input buffer to the output buffer; returns the bytes written. */
type WriteRun = (count: number, rank: number, isFirst: number) => number;

/** The module's functions are named as the dtypes are, but for bool, a keyword of C. */
type RunName = Exclude<NumericDType, 'bool'> | 'boolean';

interface Exports extends Record<RunName, WriteRun> {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly set_up: () => void;
  readonly input: () => number;
  readonly output: () => number;
  readonly sizes: () => number;
  readonly positions: () => number;
  readonly reading: () => number;
  readonly slow: () => number;
  readonly read_start: () => void;
  readonly read_window: (length: number, isLast: number) => number;
}

/** The part of the WebAssembly API in use; Node's types leave it to those of browsers. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { readonly exports: unknown };
};

/** As `json-numbers.c` has them. */
export const INPUT_BYTES = 128 * 1024;
export const OUTPUT_BYTES = 1024 * 1024;
const MAX_RANK = 256;
const READING_WORDS = 4;
const SLOW_WORDS = 3 * 1024;

/** The module's functions and views of its memory, which never grows. */
interface JsonModule {
  readonly exports: Exports;
  readonly input: Uint8Array;
  readonly output: Uint8Array;
  /** The output as numbers. */
  readonly numbers: Float64Array;
  readonly sizes: Uint32Array;
  readonly positions: Uint32Array;
  readonly reading: Uint32Array;
  readonly slow: Uint32Array;
}

let instance: JsonModule | undefined;

/** One instance for all: each call sets its whole state, so that tensors may be written in turns. */
export function jsonModule(): JsonModule {
  if (instance) return instance;
  const module = new WebAssembly.Module(base64Decode(JSON_NUMBERS_WASM));
  const exports = new WebAssembly.Instance(module).exports as Exports;
  const { buffer } = exports.memory;
  exports.set_up();
  instance = {
    exports,
    input: new Uint8Array(buffer, exports.input(), INPUT_BYTES),
    output: new Uint8Array(buffer, exports.output(), OUTPUT_BYTES),
    numbers: new Float64Array(buffer, exports.output(), OUTPUT_BYTES / 8),
    sizes: new Uint32Array(buffer, exports.sizes(), MAX_RANK),
    positions: new Uint32Array(buffer, exports.positions(), MAX_RANK),
    reading: new Uint32Array(buffer, exports.reading(), READING_WORDS),
    slow: new Uint32Array(buffer, exports.slow(), SLOW_WORDS),
  };
  return instance;
}
