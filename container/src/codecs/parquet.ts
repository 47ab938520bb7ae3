/** Parquet as body: a row an instance. */
import {
  DTYPES,
  type NumericDType,
  numericTensor,
  type Signature,
  stringTensor,
  type Tensor,
  TensorError,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import type { DecodeLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import { instanceShape } from '../models/instance-shape.ts';
import { nextTurn } from '../waiting/next-turn.ts';
import type { RequestCodec } from './codec.ts';
import { fitInput } from './fit-input.ts';
import { dtypeOf, inputError, onlyInput, unknownInput } from './input-error.ts';
import { type Column, type Footer, readFooter } from './parquet/footer.ts';
import { readTable } from './parquet/table.ts';

const PARQUET = 'application/x-parquet';

/** Fields of the footer: some thousand columns, each an object many times its bytes. */
const MAX_FIELDS = 2 ** 18;

/** Of all columns and row groups: a second or two of a thread. Writers fill a page with a megabyte, or with a column of a group. */
const MAX_PAGES = 2 ** 16;

/** Small files may unpack to this, others to `maxNpzRatio` times their size: runs of one value take no bytes. */
const SMALL_FILE_BYTES = 8 * 2 ** 20;

/**
 * A column named as an input is that input: scalars, or lists of one length. Where the only input has another name, the
 * columns fill its instances in their order. Numbers are converted as those of `.npy` are; a missing number is NaN.
 */
export const parquetRequest: RequestCodec = {
  mediaTypes: [PARQUET, 'application/vnd.apache.parquet'],
  async decode(body, { signature, limits, signal }) {
    try {
      const footer = readFooter(body, MAX_FIELDS);
      if (footer.rows === 0) throw new ServingError('BAD_INPUT', 'the Parquet file has no rows.');
      const maxBytes = maxBytesOf(body, limits);
      checkSize(footer, maxBytes, limits);
      const turn = async () => {
        await nextTurn();
        signal?.throwIfAborted();
      };
      const columns = await readTable(
        body,
        footer,
        { maxBytes, maxFields: limits.maxFeatures, maxPages: MAX_PAGES },
        turn,
      );
      return { inputs: await inputsOf(columns, footer, signature, turn), form: 'row' };
    } catch (error) {
      throw inputError(error);
    }
  },
};

function maxBytesOf(
  body: Uint8Array,
  { maxDecodedBytes, maxParquetBytes, maxNpzRatio }: DecodeLimits,
): number {
  return Math.min(
    maxDecodedBytes,
    maxParquetBytes,
    Math.max(SMALL_FILE_BYTES, body.byteLength * maxNpzRatio),
  );
}

/** What the footer promises, before memory is taken for it. */
function checkSize(
  { columns, groups }: Footer,
  maxBytes: number,
  { maxStrings }: DecodeLimits,
): void {
  let bytes = 0;
  let strings = 0;
  columns.forEach(({ dtype, repetition, name }, i) => {
    const values = groups.reduce((sum, { chunks }) => sum + (chunks[i]?.values ?? 0), 0);
    const rows = groups.reduce((sum, group) => sum + group.rows, 0);
    const isUneven = repetition === 0 ? values !== rows : values % rows !== 0;
    if (isUneven)
      throw new TensorError(
        'SHAPE_MISMATCH',
        `column '${name}' has ${values} values for ${rows} rows.`,
      );
    if (dtype === 'string') strings += values;
    else bytes += values * DTYPES[dtype].size;
  });
  if (bytes > maxBytes) {
    throw new TensorError(
      'TOO_LARGE',
      `the Parquet file has ${bytes} bytes of values. At most ${maxBytes} are allowed for its size.`,
    );
  }
  if (strings > maxStrings) {
    throw new TensorError(
      'TOO_LARGE',
      `the Parquet file has ${strings} texts. At most ${maxStrings} are allowed.`,
    );
  }
}

/** A column's values, with all rows' lists behind each other. */
interface ReadColumn {
  readonly column: Column;
  readonly tensor: Tensor;
}

type Turn = () => Promise<unknown>;

async function inputsOf(
  columns: readonly ReadColumn[],
  { rows }: Footer,
  signature: Signature,
  turn: Turn,
): Promise<TensorMap> {
  const names = Object.keys(signature.inputs);
  const isNamed = columns.some(({ column }) => Object.hasOwn(signature.inputs, column.name));
  if (!isNamed && (names.length === 1 || columns.length === 0)) {
    const name = onlyInput(signature, PARQUET);
    return { [name]: await joined(columns, rows, name, signature, turn) };
  }
  const inputs = new Map<string, Tensor>();
  for (const one of columns) {
    const { name } = one.column;
    if (!Object.hasOwn(signature.inputs, name)) throw unknownInput(name, signature);
    if (inputs.has(name)) throw new ServingError('BAD_INPUT', `two columns are named '${name}'.`);
    inputs.set(name, await joined([one], rows, name, signature, turn));
  }
  return Object.fromEntries(inputs);
}

const WORDS = { rows: 'rows', values: 'values' };

/** The columns side by side, as the input takes them. */
async function joined(
  columns: readonly ReadColumn[],
  rows: number,
  name: string,
  signature: Signature,
  turn: Turn,
): Promise<Tensor> {
  const dtype = dtypeOf(name, signature);
  const parts: Tensor[] = [];
  for (const { column, tensor } of columns) {
    parts.push(typed(tensor, column, name, signature));
    await turn();
  }
  const widths = parts.map(({ shape }) => (shape[0] as number) / rows);
  const width = widths.reduce((sum, one) => sum + one, 0);
  // Rows of no values cost a file nothing, and may be 2^62.
  if (width === 0) {
    throw new ServingError('BAD_INPUT', `the Parquet file has no values for input '${name}'.`);
  }
  const shape = instanceShape(name, signature.inputs[name]?.shape, rows, width, WORDS);
  const [only] = parts;
  if (parts.length === 1 && only) return { ...only, shape };
  return dtype === 'string'
    ? sideBySideTexts(parts, widths, rows, shape)
    : sideBySide(parts, widths, rows, shape, dtype, turn);
}

/** In the input's dtype. */
function typed(tensor: Tensor, column: Column, name: string, signature: Signature): Tensor {
  const { dtype } = signature.inputs[name] ?? {};
  const flat = { ...signature, inputs: { [name]: { ...(dtype && { dtype }), shape: undefined } } };
  try {
    return fitInput(tensor, name, flat as Signature);
  } catch (error) {
    throw inputError(error, `column '${column.name}'`);
  }
}

async function sideBySide(
  parts: readonly Tensor[],
  widths: readonly number[],
  rows: number,
  shape: readonly number[],
  dtype: NumericDType,
  turn: Turn,
): Promise<Tensor> {
  const { size } = DTYPES[dtype];
  const stride = widths.reduce((sum, width) => sum + width, 0) * size;
  const bytes = new Uint8Array(rows * stride);
  let offset = 0;
  for (const [i, part] of parts.entries()) {
    const length = (widths[i] as number) * size;
    const source = (part as Extract<Tensor, { bytes: Uint8Array }>).bytes;
    for (let row = 0; row < rows; row++) {
      const to = row * stride + offset;
      for (let byte = 0; byte < length; byte++)
        bytes[to + byte] = source[row * length + byte] as number;
    }
    offset += length;
    await turn();
  }
  return numericTensor(dtype, shape, bytes);
}

function sideBySideTexts(
  parts: readonly Tensor[],
  widths: readonly number[],
  rows: number,
  shape: readonly number[],
): Tensor {
  const values: Uint8Array[] = [];
  for (let row = 0; row < rows; row++) {
    parts.forEach((part, i) => {
      const width = widths[i] as number;
      const texts = (part as Extract<Tensor, { values: unknown }>).values;
      for (let at = 0; at < width; at++) values.push(texts[row * width + at] as Uint8Array);
    });
  }
  return stringTensor(shape, values);
}
