/** NumPy's `.npy` files, one array each. */
import { booleans } from './booleans.ts';
import { DTYPES, type DType, type NumericDType } from './dtype.ts';
import { TensorError } from './errors.ts';
import { NPY_TYPES, type NpyHeader, readNpyHeader, writeNpyHeader } from './npy-header.ts';
import { readByteStrings, readTextStrings, writeStrings } from './npy-strings.ts';
import { toRowMajor } from './row-major.ts';
import { allSteps, type Steps, stepsInTurns } from './steps.ts';
import { elementCount, isNumeric, numericTensor, shapeText, type Tensor } from './tensor.ts';

const DESCR_OF = Object.fromEntries(
  Object.entries(NPY_TYPES).map(([type, dtype]) => [dtype, type]),
) as Record<NumericDType, string>;

/**
 * Writes a tensor as a `.npy` file in chunks: the header, then the tensor's own bytes, not copied. It is
 * what `np.save` writes. bfloat16, for which NumPy has no type, is `<V2` as ml_dtypes writes it: read it with
 * `np.load(...).view(ml_dtypes.bfloat16)`. Strings are `<U` where all are UTF-8, else `|S`.
 * @throws TensorError VALUE_OUT_OF_RANGE, TOO_LARGE for strings that `.npy` cannot hold
 */
export function encodeNpy(tensor: Tensor): Uint8Array[] {
  return allSteps(npySteps(tensor));
}

/** {@link encodeNpy} for servers: waits for `nextTurn` after every few thousand strings. */
export function encodeNpyInTurns(
  tensor: Tensor,
  nextTurn: () => Promise<unknown>,
): Promise<Uint8Array[]> {
  return stepsInTurns(npySteps(tensor), nextTurn);
}

/** {@link encodeNpy} in steps. */
export function* npySteps(tensor: Tensor): Steps<Uint8Array[]> {
  if (!isNumeric(tensor)) {
    const { descr, data } = yield* writeStrings(tensor);
    return [writeNpyHeader(descr, tensor.shape), data];
  }
  const order = DTYPES[tensor.dtype].size === 1 ? '|' : '<';
  return [writeNpyHeader(`${order}${DESCR_OF[tensor.dtype]}`, tensor.shape), tensor.bytes];
}

/** How an array is read. */
export interface DecodeNpyOptions {
  /** What is wanted; the other kind is refused before memory goes. Default: both. */
  readonly kind?: 'number' | 'string' | undefined;
  /** Strings at most: an object is made for each, many times the size of a short one. Default: any number. */
  readonly maxStrings?: number | undefined;
}

/**
 * Reads a `.npy` file of format version 1, 2 or 3. Little-endian numbers in C order become a view on
 * `bytes`; big-endian or Fortran order are copied into shape, in time linear in their bytes. `S` and `U` become strings without their
 * padding, `V2` bfloat16.
 * @throws TensorError MALFORMED; SHAPE_MISMATCH where the data does not fill the shape; UNSUPPORTED_DTYPE
 *   for object arrays (pickles are never run), complex, dates and structured types
 */
export function decodeNpy(bytes: Uint8Array, options: DecodeNpyOptions = {}): Tensor {
  const { header, data } = readNpyHeader(bytes);
  const { order, kind, size, dtype } = typeOf(header);
  const isString = dtype === 'string';
  if (!dtype) {
    const why = kind === 'O' ? 'Python objects (pickle)' : `type ${header.descr}`;
    throw new TensorError('UNSUPPORTED_DTYPE', `.npy arrays of ${why} are not supported.`);
  }
  checkWanted(header, dtype, options);
  const width = isString ? Number(size) * (kind === 'U' ? 4 : 1) : DTYPES[dtype].size;
  checkSize(header, data, width);
  const littleEndian = order !== '>';
  const inOrder = header.fortranOrder ? toRowMajor(data, header.shape, width) : data;
  if (dtype !== 'string') {
    const native = littleEndian || width === 1 ? inOrder : swapBytes(inOrder, width);
    return numericTensor(dtype, header.shape, dtype === 'bool' ? booleans(native) : native);
  }
  const count = elementCount(header.shape);
  const values =
    kind === 'S'
      ? readByteStrings(inOrder, count, width)
      : readTextStrings(inOrder, count, width / 4, littleEndian);
  return { dtype, shape: header.shape, values };
}

/**
 * The dtype of a file that {@link decodeNpy} reads without a look at its elements. Returns undefined if every element is
 * work: another order of elements or bytes, truth values, strings.
 * @throws TensorError as `decodeNpy`
 */
export function dtypeAsItLies(bytes: Uint8Array): NumericDType | undefined {
  const { header } = readNpyHeader(bytes);
  const { order, dtype } = typeOf(header);
  if (header.fortranOrder || dtype === undefined || dtype === 'string' || dtype === 'bool') {
    return undefined;
  }
  return order === '>' && DTYPES[dtype].size > 1 ? undefined : dtype;
}

/** The parts of `descr`, and the dtype where there is one. */
function typeOf({ descr }: NpyHeader) {
  const [, order, kind, size] = /^([<>|=]?)([A-Za-z?])(\d{0,9})/.exec(descr) ?? [];
  const isString = kind === 'S' || kind === 'U';
  const dtype: DType | undefined = isString
    ? 'string'
    : NPY_TYPES[kind === '?' ? 'b1' : `${kind}${size}`];
  return { order, kind, size, dtype };
}

/** Before an object is made for each string. */
function checkWanted({ descr, shape }: NpyHeader, dtype: DType, options: DecodeNpyOptions): void {
  const { kind, maxStrings = Number.POSITIVE_INFINITY } = options;
  const isString = dtype === 'string';
  if (kind !== undefined && isString !== (kind === 'string')) {
    throw new TensorError('SHAPE_MISMATCH', `it holds ${descr}, not ${kind}s.`);
  }
  if (!isString || elementCount(shape) <= maxStrings) return;
  throw new TensorError(
    'TOO_LARGE',
    `.npy array of ${elementCount(shape)} strings. At most ${maxStrings} are read.`,
  );
}

function checkSize(header: NpyHeader, data: Uint8Array, width: number): void {
  const expected = elementCount(header.shape) * width;
  if (data.byteLength === expected && (width > 0 || elementCount(header.shape) === 0)) return;
  throw new TensorError(
    'SHAPE_MISMATCH',
    `.npy array ${header.descr} ${shapeText(header.shape)} needs ${expected} bytes of data, has ${data.byteLength}`,
  );
}

/** Each element's bytes in reverse. */
function swapBytes(data: Uint8Array, width: number): Uint8Array {
  const out = new Uint8Array(data.byteLength);
  for (let start = 0; start < data.byteLength; start += width) {
    for (let i = 0; i < width; i++) out[start + i] = data[start + width - 1 - i] as number;
  }
  return out;
}
