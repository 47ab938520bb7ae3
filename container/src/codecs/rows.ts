/** Outputs taken apart along their first axis, an instance at a time. */
import {
  DTYPES,
  elementCount,
  isNumeric,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';

/** The number of instances that all outputs agree on, or why there is none. */
export function instanceCount(outputs: TensorMap): number | { readonly problem: string } {
  const entries = Object.entries(outputs);
  const [first] = entries;
  if (!first) return { problem: 'there are no outputs' };
  const scalar = entries.find(([, { shape }]) => shape.length === 0);
  if (scalar) return { problem: `output '${scalar[0]}' is a scalar, without a first dimension` };
  const count = first[1].shape[0] as number;
  const other = entries.find(([, { shape }]) => shape[0] !== count);
  if (!other) return count;
  return {
    problem: `output '${first[0]}' has ${count} instances, '${other[0]}' has ${other[1].shape[0]}`,
  };
}

/**
 * The number of instances, for a media type that has each by itself.
 * @param row what the media type has of each
 * @throws ServingError NOT_ACCEPTABLE if the outputs do not agree on it
 */
export function countRows(outputs: TensorMap, mediaType: string, row: string): number {
  const count = instanceCount(outputs);
  if (typeof count === 'number') return count;
  throw new ServingError(
    'NOT_ACCEPTABLE',
    `${mediaType} has a ${row} for each instance, but ${count.problem}. Accept application/json or application/x-npz, or ask for fewer outputs with tfs-outputs.`,
  );
}

/** A function that returns the tensor of one instance, a view without the first dimension. */
export function rowReader(tensor: Tensor): (index: number) => Tensor {
  const shape = tensor.shape.slice(1);
  const count = elementCount(shape);
  if (!isNumeric(tensor)) {
    const { values } = tensor;
    return (index) => ({
      dtype: 'string',
      shape,
      values: values.slice(index * count, (index + 1) * count),
    });
  }
  const { dtype, bytes } = tensor;
  const size = count * DTYPES[dtype].size;
  return (index) => ({ dtype, shape, bytes: bytes.subarray(index * size, (index + 1) * size) });
}

/** The row of a record that has no answer, as JSON. */
export function errorRow(problem: string): string {
  return JSON.stringify({ error: problem });
}

/**
 * For each record of the request the number of its row in the outputs, or what was wrong with it.
 * @param count rows of the outputs
 */
export function* recordRows(
  count: number,
  badRecords: ReadonlyMap<number, string> = new Map(),
): Generator<number | string> {
  let row = 0;
  for (let record = 0; record < count + badRecords.size; record++) {
    yield badRecords.get(record) ?? row++;
  }
}

/**
 * Rows of outputs beside which bad records are answered; no outputs have none.
 * @throws ServingError NOT_ACCEPTABLE if the outputs are not one row a record
 */
export function goodRows(outputs: TensorMap): number {
  if (Object.keys(outputs).length === 0) return 0;
  const count = instanceCount(outputs);
  if (typeof count === 'number') return count;
  throw new ServingError(
    'NOT_ACCEPTABLE',
    `bad records can be answered only where each record has a row, but ${count.problem}`,
  );
}
