/** Values of a column in memory, as Parquet's physical types have them. */

import type { Physical } from './footer.ts';
import { bad } from './thrift.ts';

/** Values that pages are read into. */
export interface Values {
  /** Bytes of a numeric value; 0 for texts. */
  readonly size: number;
  /** All of them, little-endian; empty for texts. */
  readonly bytes: Uint8Array;
  readonly texts: Uint8Array[];
  /** Reads `count` values as they lie, to the index `at`. @throws TensorError if there are fewer */
  readPlain(bytes: Uint8Array, at: number, count: number): void;
  /**
   * @returns bytes of the texts, each as often as it is named; 0 for numbers, which have their room
   * @throws TensorError for an index beyond the dictionary
   */
  fillFrom(dictionary: Values, indices: Uint32Array, at: number): number;
  fillBooleans(bits: Uint8Array, at: number): void;
  /** Moves `there` values from `at` on to where `present` says 1; the others become NaN. */
  spread(at: number, there: number, present: Uint8Array): void;
}

/** Bytes of a value; 0 for texts. */
export const SIZES: Readonly<Record<Physical, number>> = {
  BOOLEAN: 1,
  INT32: 4,
  INT64: 8,
  INT96: 0,
  FLOAT: 4,
  DOUBLE: 8,
  BYTE_ARRAY: 0,
  FIXED_LEN_BYTE_ARRAY: 0,
};

/** Room for `count` values. */
export function valuesOf(physical: Physical, count: number): Values {
  const size = SIZES[physical];
  return size === 0 ? textValues(count) : numericValues(physical, size, count);
}

function numericValues(physical: Physical, size: number, count: number): Values {
  const bytes = new Uint8Array(count * size);
  return {
    size,
    bytes,
    texts: [],
    readPlain(from, at, values) {
      if (physical === 'BOOLEAN') return readBits(from, bytes.subarray(at, at + values));
      if (values * size > from.length) throw bad('has a page that ends too early');
      bytes.set(from.subarray(0, values * size), at * size);
    },
    fillFrom(dictionary, indices, at) {
      const source = dictionary.bytes;
      const known = source.length / size;
      for (let i = 0; i < indices.length; i++) {
        const index = indices[i] as number;
        if (index >= known) throw bad('names a value beyond its dictionary');
        for (let byte = 0; byte < size; byte++) {
          bytes[(at + i) * size + byte] = source[index * size + byte] as number;
        }
      }
      return 0;
    },
    fillBooleans: (bits, at) => bytes.set(bits, at),
    spread(at, there, present) {
      const values =
        physical === 'FLOAT' ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer);
      let from = at + there;
      for (let i = present.length - 1; i >= 0; i--) {
        values[at + i] = present[i] === 1 ? (values[--from] as number) : Number.NaN;
      }
    },
  };
}

function readBits(from: Uint8Array, into: Uint8Array): void {
  if (Math.ceil(into.length / 8) > from.length) throw bad('has a page that ends too early');
  for (let i = 0; i < into.length; i++) into[i] = ((from[i >> 3] as number) >> (i & 7)) & 1;
}

function textValues(count: number): Values {
  const texts = new Array<Uint8Array>(count);
  return {
    size: 0,
    bytes: new Uint8Array(),
    texts,
    readPlain(from, at, values) {
      const view = new DataView(from.buffer, from.byteOffset, from.byteLength);
      let position = 0;
      for (let i = 0; i < values; i++) {
        if (position + 4 > from.length) throw bad('has a page that ends too early');
        const length = view.getUint32(position, true);
        position += 4;
        if (length > from.length - position) throw bad('has a text beyond its page');
        texts[at + i] = from.subarray(position, position + length);
        position += length;
      }
    },
    fillFrom(dictionary, indices, at) {
      let sum = 0;
      for (let i = 0; i < indices.length; i++) {
        const text = dictionary.texts[indices[i] as number];
        if (!text) throw bad('names a value beyond its dictionary');
        texts[at + i] = text;
        sum += text.length;
      }
      return sum;
    },
    fillBooleans: () => {
      throw bad('has booleans in a column of texts');
    },
    spread: () => undefined,
  };
}
