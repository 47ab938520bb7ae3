/** Answers in Parquet: a row an instance, a column an output. */
import { isUtf8 } from 'node:buffer';
import {
  elementCount,
  isNumeric,
  type NumericDType,
  type Tensor,
  type TensorMap,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import type { SchemaElement } from 'hyparquet';
import { ServingError } from '../errors.ts';
import { eachInTurns } from '../waiting/in-turns.ts';
import { nextTurn } from '../waiting/next-turn.ts';
import type { ResponseCodec } from './codec.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import { instanceCount } from './rows.ts';

const PARQUET = 'application/x-parquet';
/** Values that are written without a turn of the event loop between. */
const TURN_VALUES = 16_384;

type Leaf = Pick<SchemaElement, 'type' | 'converted_type'>;

/** An element by its place in the tensor. */
type ValueAt = (index: number) => unknown;

/** How dtypes lie in Parquet, which has no short floats and integers of its own. */
const LEAVES: Readonly<Record<NumericDType, Leaf>> = {
  bool: { type: 'BOOLEAN' },
  bfloat16: { type: 'FLOAT' },
  float16: { type: 'FLOAT' },
  float32: { type: 'FLOAT' },
  float64: { type: 'DOUBLE' },
  int8: { type: 'INT32', converted_type: 'INT_8' },
  int16: { type: 'INT32', converted_type: 'INT_16' },
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  uint8: { type: 'INT32', converted_type: 'UINT_8' },
  uint16: { type: 'INT32', converted_type: 'UINT_16' },
  uint32: { type: 'INT32', converted_type: 'UINT_32' },
  uint64: { type: 'INT64', converted_type: 'UINT_64' },
};

/** An instance of a scalar is a scalar, others are lists, as deep as the instance has dimensions. Bytes that are no UTF-8 have no type. */
export const parquetResponse: ResponseCodec = {
  mediaTypes: [PARQUET],
  async encode(outputs, context) {
    const ordered = orderedOutputs(outputs, context);
    const rows = instanceCount(ordered);
    if (typeof rows !== 'number') {
      throw new ServingError(
        'NOT_ACCEPTABLE',
        `${PARQUET} has a row for each instance, but ${rows.problem}. Accept application/json or application/x-npz, or ask for fewer outputs with tfs-outputs.`,
      );
    }
    return { contentType: PARQUET, body: [await written(ordered, rows)] };
  },
};

async function written(outputs: TensorMap, rows: number): Promise<Uint8Array> {
  // Nobody else needs it.
  const { ByteWriter, parquetWrite } = await import('hyparquet-writer');
  const entries = Object.entries(outputs);
  const schema: SchemaElement[] = [{ name: 'root', num_children: entries.length }];
  const columnData = [];
  for (const [name, tensor] of entries) {
    const { leaf, value } = await leafOf(tensor);
    schema.push(...elements(name, tensor.shape.length - 1, leaf));
    columnData.push({ name, data: await rowsOf(tensor, value, rows) });
  }
  const widest = Math.max(1, ...entries.map(([, { shape }]) => elementCount(shape.slice(1))));
  const writer = Object.assign(new ByteWriter(), { flush: nextTurn });
  const rowGroupSize = Math.max(1, Math.floor(TURN_VALUES / widest));
  await parquetWrite({ writer, columnData, schema, rowGroupSize, statistics: false });
  return writer.getBytes();
}

/** The schema of a column. A list is three levels deep: itself, its repetition, its element. */
function elements(name: string, depth: number, leaf: Leaf): SchemaElement[] {
  const lists = Array.from({ length: depth }, (_, i): SchemaElement[] => [
    {
      name: i === 0 ? name : 'element',
      repetition_type: 'REQUIRED',
      converted_type: 'LIST',
      num_children: 1,
    },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ]);
  return [
    ...lists.flat(),
    { name: depth === 0 ? name : 'element', repetition_type: 'REQUIRED', ...leaf },
  ];
}

/** How the elements of a tensor lie there, and each of them. */
async function leafOf(tensor: Tensor): Promise<{ readonly leaf: Leaf; readonly value: ValueAt }> {
  if (isNumeric(tensor)) {
    const numbers = toNumbers(tensor);
    const isBool = tensor.dtype === 'bool';
    const value: ValueAt = isBool ? (i) => Boolean(numbers[i]) : (i) => numbers[i];
    return { leaf: LEAVES[tensor.dtype], value };
  }
  const { values } = tensor;
  const texts = await textsOf(values);
  return texts
    ? { leaf: { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, value: (i) => texts[i] }
    : { leaf: { type: 'BYTE_ARRAY' }, value: (i) => values[i] };
}

/** Undefined if one of them is no UTF-8. */
async function textsOf(values: readonly Uint8Array[]): Promise<string[] | undefined> {
  const texts: string[] = [];
  const add = (value: Uint8Array, index: number): void => {
    if (texts.length === index && isUtf8(value)) texts.push(Buffer.from(value).toString());
  };
  await eachInTurns(values, add, { bytesOf: ({ byteLength }) => byteLength });
  return texts.length === values.length ? texts : undefined;
}

async function rowsOf({ shape }: Tensor, value: ValueAt, rows: number): Promise<unknown[]> {
  const sizes = shape.slice(1);
  const width = elementCount(sizes);
  const all: unknown[] = [];
  let turn = 0;
  for (let row = 0; row < rows; row++) {
    all.push(nested(value, row * width, sizes));
    turn += width;
    if (turn < TURN_VALUES) continue;
    turn = 0;
    await nextTurn();
  }
  return all;
}

/** The values of an instance from `at` on, as lists in lists. */
function nested(value: ValueAt, at: number, sizes: readonly number[]): unknown {
  const [size, ...inner] = sizes;
  if (size === undefined) return value(at);
  const stride = elementCount(inner);
  return Array.from({ length: size }, (_, i) => nested(value, at + i * stride, inner));
}
