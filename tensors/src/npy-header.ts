/**
 * The header of NumPy's `.npy` files:
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
import type { NumericDType } from './dtype.ts';
import { TensorError } from './errors.ts';
import { dataViewOf, utf8Decode, utf8Encode } from './text.ts';

/** What a header says. */
export interface NpyHeader {
  /** The element type as NumPy spells it, for example `<f4`. */
  readonly descr: string;
  /** True if the first axis varies fastest. */
  readonly fortranOrder: boolean;
  readonly shape: readonly number[];
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
const ALIGNMENT = 64;
/** NumPy's own limit of dimensions (NPY_MAXDIMS of NumPy 2). */
const MAX_DIMENSIONS = 64;
/** Longer headers are those of structured types; a shape of 64 sizes takes less. */
const MAX_HEADER_BYTES = 65_536;
/** NumPy leaves room for the first size to grow to this many digits in place. */
const GROWTH_DIGITS = 21;

/** The numeric dtypes by NumPy's kind and size. bfloat16 is what ml_dtypes' `np.save` writes: raw `V2`. */
export const NPY_TYPES: Readonly<Record<string, NumericDType>> = {
  f2: 'float16',
  f4: 'float32',
  f8: 'float64',
  V2: 'bfloat16',
  i1: 'int8',
  i2: 'int16',
  i4: 'int32',
  i8: 'int64',
  u1: 'uint8',
  u2: 'uint16',
  u4: 'uint32',
  u8: 'uint64',
  b1: 'bool',
};

/**
 * Reads the header.
 * @returns it with the data that follows
 * @throws TensorError MALFORMED, UNSUPPORTED_DTYPE for structured types
 */
export function readNpyHeader(bytes: Uint8Array): { header: NpyHeader; data: Uint8Array } {
  if (!MAGIC.every((byte, i) => bytes[i] === byte)) {
    throw new TensorError('MALFORMED', 'not a .npy file: it does not start with \\x93NUMPY.');
  }
  const major = bytes[6];
  if (major !== 1 && major !== 2 && major !== 3) {
    throw new TensorError('MALFORMED', `.npy format version ${major} is not 1, 2 or 3.`);
  }
  const start = major === 1 ? 10 : 12;
  if (bytes.byteLength < start) throw truncatedHeader();
  const view = dataViewOf(bytes);
  const end = start + (major === 1 ? view.getUint16(8, true) : view.getUint32(8, true));
  if (bytes.byteLength < end) throw truncatedHeader();
  if (end > MAX_HEADER_BYTES) {
    throw new TensorError(
      'MALFORMED',
      `.npy header has ${end} bytes, more than ${MAX_HEADER_BYTES}`,
    );
  }
  const header = parseHeader(utf8Decode(bytes.subarray(start, end)));
  return { header, data: bytes.subarray(end) };
}

function truncatedHeader(): TensorError {
  return new TensorError('MALFORMED', '.npy file ends within its header.');
}

/** Parses the Python dictionary, whose keys may come in any order. */
function parseHeader(text: string): NpyHeader {
  if (/'descr'\s*:\s*[[(]/.test(text)) {
    throw new TensorError(
      'UNSUPPORTED_DTYPE',
      '.npy arrays of structured types are not supported.',
    );
  }
  const descr = /'descr'\s*:\s*['"]([^'"]+)['"]/.exec(text)?.[1];
  const fortran = /'fortran_order'\s*:\s*(True|False)/.exec(text)?.[1];
  const sizes = sizesOf(/'shape'\s*:\s*\(([\d\s,L]*)\)/.exec(text)?.[1]);
  if (descr === undefined || fortran === undefined || sizes === undefined) {
    throw new TensorError(
      'MALFORMED',
      `.npy header is not understood: ${text.trim().slice(0, 200)}`,
    );
  }
  if (sizes.length > MAX_DIMENSIONS) {
    throw new TensorError(
      'MALFORMED',
      `.npy array of ${sizes.length} dimensions. NumPy has at most ${MAX_DIMENSIONS}.`,
    );
  }
  return {
    descr,
    fortranOrder: fortran === 'True',
    shape: sizes.map((size) => Number.parseInt(size, 10)),
  };
}

/** The parts of Python's tuple of integers (`3L` is Python 2's), or undefined if it is none: `(3)` is a number. */
function sizesOf(tuple: string | undefined): readonly string[] | undefined {
  if (tuple === undefined || tuple.trim() === '') return tuple === undefined ? undefined : [];
  const sizes = tuple.split(',').map((size) => size.trim());
  const endsInComma = sizes.at(-1) === '';
  if (endsInComma) sizes.pop();
  else if (sizes.length === 1) return undefined;
  return sizes.every((size) => /^(?:0|[1-9]\d*)L?$/.test(size)) ? sizes : undefined;
}

/** Writes a version 1 header as `np.save` does, byte for byte; the data after it is aligned to 64 bytes. */
export function writeNpyHeader(descr: string, shape: readonly number[]): Uint8Array {
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  let text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${sizes}), }`;
  if (shape.length > 0) text += ' '.repeat(GROWTH_DIGITS - String(shape[0]).length);
  const prefix = MAGIC.length + 4;
  const unpadded = prefix + text.length + 1;
  text += ' '.repeat((ALIGNMENT - (unpadded % ALIGNMENT)) % ALIGNMENT);
  const header = new Uint8Array(prefix + text.length + 1);
  header.set([...MAGIC, 1, 0]);
  dataViewOf(header).setUint16(8, text.length + 1, true);
  header.set(utf8Encode(`${text}\n`), prefix);
  return header;
}
