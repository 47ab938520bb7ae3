/** A row for each record, those without an answer too: for media types whose rows have no room for a text. */
import {
  DTYPES,
  ERROR_MASK,
  elementCount,
  isNumeric,
  type NumericDType,
  type NumericTensor,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { nextTurn } from '../waiting/next-turn.ts';
import { goodRows, recordRows } from './rows.ts';

/** Rows between two turns of the event loop. */
const ROWS_A_TURN = 65_536;
/** Quiet NaN, little-endian. Whoever does not look at the mask must not take 0 for an answer. */
const NOT_A_NUMBER: Partial<Record<NumericDType, readonly number[]>> = {
  float16: [0, 0x7e],
  bfloat16: [0xc0, 0x7f],
  float32: [0, 0, 0xc0, 0x7f],
  float64: [0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
};

/**
 * The outputs with a row for each record, and the mask `error`, bool [records]. The row of a bad record is NaN, 0 or
 * empty strings.
 * @param badRecords by their place
 * @throws ServingError NOT_ACCEPTABLE if the outputs are not one row a record, or one of them is named `error`
 */
export async function withMask(
  outputs: TensorMap,
  badRecords: ReadonlyMap<number, string>,
): Promise<TensorMap> {
  if (Object.hasOwn(outputs, ERROR_MASK)) {
    const message = `the model has an output '${ERROR_MASK}', which is the name of the mask`;
    throw new ServingError('NOT_ACCEPTABLE', message);
  }
  const rows = Array.from(recordRows(goodRows(outputs), badRecords), (row) =>
    typeof row === 'number' ? row : undefined,
  );
  const spread: [string, Tensor][] = [];
  for (const [name, tensor] of Object.entries(outputs)) {
    spread.push([name, await spreadRows(tensor, rows)]);
  }
  const bytes = Uint8Array.from(rows, (row) => (row === undefined ? 1 : 0));
  const mask: Tensor = { dtype: 'bool', shape: [rows.length], bytes };
  return Object.fromEntries([...spread, [ERROR_MASK, mask]]);
}

/** @param rows of the tensor, in the order of the result; undefined for one that is not there */
async function spreadRows(tensor: Tensor, rows: readonly (number | undefined)[]): Promise<Tensor> {
  const shape = [rows.length, ...tensor.shape.slice(1)];
  const count = elementCount(tensor.shape.slice(1));
  if (isNumeric(tensor)) return { ...tensor, shape, bytes: await spreadBytes(tensor, rows, count) };
  const none = Array<Uint8Array>(count).fill(new Uint8Array(0));
  const values = rows.flatMap((row) =>
    row === undefined ? none : tensor.values.slice(row * count, (row + 1) * count),
  );
  return { dtype: 'string', shape, values };
}

async function spreadBytes(
  { dtype, bytes }: NumericTensor,
  rows: readonly (number | undefined)[],
  count: number,
): Promise<Uint8Array> {
  const size = count * DTYPES[dtype].size;
  const blank = Uint8Array.from({ length: size }, (_, at) => {
    const pattern = NOT_A_NUMBER[dtype];
    return pattern?.[at % pattern.length] ?? 0;
  });
  const all = new Uint8Array(rows.length * size);
  for (const [at, row] of rows.entries()) {
    if (at % ROWS_A_TURN === ROWS_A_TURN - 1) await nextTurn();
    all.set(row === undefined ? blank : bytes.subarray(row * size, (row + 1) * size), at * size);
  }
  return all;
}
