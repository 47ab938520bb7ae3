/** A column of Parquet as it is written: plain values, and levels that say where lists begin. */
import {
  DTYPES,
  elementCount,
  isNumeric,
  type NumericDType,
  type NumericTensor,
  type Tensor,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { unsigned } from './thrift-writer.ts';

/** How values lie there: the number of Parquet's physical type, and of its converted type if there is one. */
interface Leaf {
  readonly type: number;
  readonly converted?: number;
}

const [BOOLEAN, INT32, INT64, FLOAT, DOUBLE, BYTE_ARRAY] = [0, 1, 2, 4, 5, 6];
const UTF8 = 0;

/** Parquet has no short floats and integers of its own. */
const LEAVES: Readonly<Record<NumericDType, Leaf>> = {
  bool: { type: BOOLEAN },
  bfloat16: { type: FLOAT },
  float16: { type: FLOAT },
  float32: { type: FLOAT },
  float64: { type: DOUBLE },
  int8: { type: INT32, converted: 15 },
  int16: { type: INT32, converted: 16 },
  int32: { type: INT32 },
  int64: { type: INT64 },
  uint8: { type: INT32, converted: 11 },
  uint16: { type: INT32, converted: 12 },
  uint32: { type: INT32, converted: 13 },
  uint64: { type: INT64, converted: 14 },
};

/** Values that are written at a time: a multiple of eight, for what is packed in groups. */
const STEP = 2 ** 14;
const LENGTH_BYTES = 4;

/** A column. Its rows from `row` to `end` become a page. */
export interface WrittenColumn {
  readonly name: string;
  readonly leaf: Leaf;
  /** Lists in each other: dimensions of an instance. */
  readonly depth: number;
  /** Values of a row, and of an empty one the lists that stand for it. */
  readonly width: number;
  /** Bytes of a page; texts take a while to count. */
  pageSize(row: number, end: number): number;
  page(row: number, end: number): Iterable<Uint8Array>;
}

/** @param isText whether all strings are UTF-8 */
export function writtenColumn(name: string, tensor: Tensor, isText: boolean): WrittenColumn {
  const sizes = tensor.shape.slice(1);
  const depth = sizes.length;
  const empty = sizes.indexOf(0);
  const isEmpty = empty >= 0;
  const width = elementCount(isEmpty ? sizes.slice(0, empty) : sizes);
  const levels = levelsOf(sizes, isEmpty ? empty : depth);
  const values = isEmpty ? NO_VALUES : valuesOf(tensor);
  return {
    name,
    leaf: isNumeric(tensor)
      ? LEAVES[tensor.dtype]
      : { type: BYTE_ARRAY, ...(isText && { converted: UTF8 }) },
    depth,
    width,
    pageSize: (row, end) =>
      levels.size((end - row) * width) + values.size(row * width, end * width),
    *page(row, end) {
      yield* levels.pieces((end - row) * width);
      yield* values.pieces(row * width, end * width);
    },
  };
}

interface Part {
  size(from: number, to: number): number;
  pieces(from: number, to: number): Iterable<Uint8Array>;
}

const NO_VALUES: Part = { size: () => 0, pieces: () => [] };

/** Repetition levels, packed, and one run of definition levels; none for scalars. */
function levelsOf(sizes: readonly number[], defined: number) {
  const depth = sizes.length;
  const bits = 32 - Math.clz32(depth);
  /** Values of a list, by its depth: of the outermost first. */
  const strides = sizes.slice(0, defined).map((_, i) => elementCount(sizes.slice(i, defined)));
  const levelAt = (index: number) => {
    const begins = strides.findIndex((stride) => index % stride === 0);
    return begins < 0 ? defined : begins;
  };
  const heads = (count: number) => {
    const groups = Math.ceil(count / 8);
    const packed = unsigned(groups * 2 + 1);
    const run = Buffer.concat([unsigned(count * 2), Buffer.from([defined])]);
    return { packed, packedBytes: groups * bits, run };
  };
  return {
    size(count: number): number {
      if (depth === 0) return 0;
      const { packed, packedBytes, run } = heads(count);
      return 2 * LENGTH_BYTES + packed.length + packedBytes + run.length;
    },
    *pieces(count: number): Iterable<Uint8Array> {
      if (depth === 0) return;
      const { packed, packedBytes, run } = heads(count);
      yield Buffer.concat([length(packed.length + packedBytes), packed]);
      for (let from = 0; from < count; from += STEP) {
        const to = Math.min(count, from + STEP);
        yield packedLevels(from, to, bits, levelAt);
      }
      yield Buffer.concat([length(run.length), run]);
    },
  };
}

/** @param bits of a level, eight at most: tensors have no more than 254 dimensions */
function packedLevels(
  from: number,
  to: number,
  bits: number,
  levelAt: (index: number) => number,
): Uint8Array {
  const packed = new Uint8Array(Math.ceil((to - from) / 8) * bits);
  let bit = 0;
  for (let index = from; index < to; index++, bit += bits) {
    const shifted = levelAt(index) << (bit & 7);
    const at = bit >> 3;
    packed[at] = (packed[at] as number) | (shifted & 0xff);
    if (shifted > 0xff) packed[at + 1] = (packed[at + 1] as number) | (shifted >> 8);
  }
  return packed;
}

function length(bytes: number): Buffer {
  const written = Buffer.alloc(LENGTH_BYTES);
  written.writeUInt32LE(bytes);
  return written;
}

function valuesOf(tensor: Tensor): Part {
  if (!isNumeric(tensor)) return textValues(tensor.values);
  const { type } = LEAVES[tensor.dtype];
  if (type === BOOLEAN) return booleanValues(tensor);
  const size = type === INT64 || type === DOUBLE ? 8 : 4;
  return {
    size: (from, to) => (to - from) * size,
    *pieces(from, to) {
      for (let at = from; at < to; at += STEP) {
        yield plainNumbers(slice(tensor, at, Math.min(to, at + STEP)), type);
      }
    },
  };
}

function slice(tensor: NumericTensor, from: number, to: number): NumericTensor {
  const { size } = DTYPES[tensor.dtype];
  return { ...tensor, shape: [to - from], bytes: tensor.bytes.subarray(from * size, to * size) };
}

/** As they lie if they are as wide, else widened. */
function plainNumbers(tensor: NumericTensor, type: number): Uint8Array {
  const { size } = DTYPES[tensor.dtype];
  if (size >= 4) return tensor.bytes;
  const numbers = toNumbers(tensor) as ArrayLike<number>;
  const wide = type === FLOAT ? new Float32Array(numbers) : new Int32Array(numbers);
  return new Uint8Array(wide.buffer);
}

function booleanValues({ bytes }: NumericTensor): Part {
  return {
    size: (from, to) => Math.ceil((to - from) / 8),
    *pieces(from, to) {
      for (let at = from; at < to; at += STEP) {
        const stop = Math.min(to, at + STEP);
        const packed = new Uint8Array(Math.ceil((stop - at) / 8));
        for (let i = at; i < stop; i++) {
          if (bytes[i] !== 0)
            packed[(i - at) >> 3] = (packed[(i - at) >> 3] as number) | (1 << ((i - at) & 7));
        }
        yield packed;
      }
    },
  };
}

function textValues(values: readonly Uint8Array[]): Part {
  return {
    size(from, to) {
      let size = 0;
      for (let i = from; i < to; i++) size += LENGTH_BYTES + (values[i] as Uint8Array).byteLength;
      return size;
    },
    *pieces(from, to) {
      for (let i = from; i < to; i++) {
        const text = values[i] as Uint8Array;
        yield length(text.byteLength);
        yield text;
      }
    },
  };
}
