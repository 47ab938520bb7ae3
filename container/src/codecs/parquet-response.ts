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
import { nextTurn } from '../waiting/next-turn.ts';
import type { ResponseCodec } from './codec.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import { instanceCount } from './rows.ts';

const PARQUET = 'application/x-parquet';
/** Values that are written without a turn of the event loop between. */
const TURN_VALUES = 16_384;

type Leaf = Pick<SchemaElement, 'type' | 'converted_type'>;

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
  const columnData = [];
  for (const [name, tensor] of entries) columnData.push({ name, data: await rowsOf(tensor, rows) });
  const schema: SchemaElement[] = [
    { name: 'root', num_children: entries.length },
    ...entries.flatMap(([name, tensor]) => elements(name, tensor)),
  ];
  const widest = Math.max(1, ...entries.map(([, { shape }]) => elementCount(shape.slice(1))));
  const writer = Object.assign(new ByteWriter(), { flush: nextTurn });
  const rowGroupSize = Math.max(1, Math.floor(TURN_VALUES / widest));
  await parquetWrite({ writer, columnData, schema, rowGroupSize, statistics: false });
  return writer.getBytes();
}

/** The schema of a column. A list is three levels deep: itself, its repetition, its element. */
function elements(name: string, tensor: Tensor): SchemaElement[] {
  const leaf = isNumeric(tensor) ? LEAVES[tensor.dtype] : textLeaf(tensor.values);
  const depth = tensor.shape.length - 1;
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

function textLeaf(values: readonly Uint8Array[]): Leaf {
  return values.every((value) => isUtf8(value))
    ? { type: 'BYTE_ARRAY', converted_type: 'UTF8' }
    : { type: 'BYTE_ARRAY' };
}

async function rowsOf(tensor: Tensor, rows: number): Promise<unknown[]> {
  const sizes = tensor.shape.slice(1);
  const width = elementCount(sizes);
  const values = valuesOf(tensor);
  const all: unknown[] = [];
  let turn = 0;
  for (let row = 0; row < rows; row++) {
    all.push(nested(values, row * width, sizes));
    turn += width;
    if (turn < TURN_VALUES) continue;
    turn = 0;
    await nextTurn();
  }
  return all;
}

function valuesOf(tensor: Tensor): (index: number) => unknown {
  if (!isNumeric(tensor)) {
    const { values } = tensor;
    return isUtf8All(values)
      ? (i) => Buffer.from(values[i] as Uint8Array).toString()
      : (i) => values[i];
  }
  const numbers = toNumbers(tensor);
  return tensor.dtype === 'bool' ? (i) => Boolean(numbers[i]) : (i) => numbers[i];
}

const isUtf8All = (values: readonly Uint8Array[]) => values.every((value) => isUtf8(value));

/** The values of an instance from `at` on, as lists in lists. */
function nested(value: (index: number) => unknown, at: number, sizes: readonly number[]): unknown {
  const [size, ...inner] = sizes;
  if (size === undefined) return value(at);
  const stride = elementCount(inner);
  return Array.from({ length: size }, (_, i) => nested(value, at + i * stride, inner));
}
