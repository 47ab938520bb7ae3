/** The K best classes of each instance. */
import {
  describe,
  type ElementValue,
  isNumeric,
  stringTensor,
  type Tensor,
  type TensorMap,
  tensorFromValues,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { eachRowInTurns } from '../waiting/rows-in-turns.ts';
import { labelOf } from './labels.ts';

/**
 * `tf.math.top_k` over the last dimension: the K largest, best first, of equals the lower index first, NaN
 * last. Other requests have their turns in between.
 * @returns `classes` ([..., K]: labels as strings, without labels indices as int64) and `scores` ([..., K] of
 *   the tensor's dtype)
 * @throws ServingError MODEL_FAILED for a scalar or strings, which the signature did not announce
 */
export async function topK(
  tensor: Tensor,
  k: number,
  labels?: readonly string[],
): Promise<TensorMap> {
  if (!isNumeric(tensor) || tensor.shape.length === 0 || tensor.dtype === 'bool') {
    throw new ServingError('MODEL_FAILED', `top K needs rows of scores, got ${describe(tensor)}`);
  }
  const scores = toNumbers(tensor);
  const width = tensor.shape.at(-1) as number;
  const kept = Math.min(k, width);
  const best: number[] = [];
  const values: ElementValue[] = [];
  await eachRowInTurns(scores.length, width, (start) => {
    for (const index of bestOf(scores, start, width, kept)) {
      best.push(index);
      values.push(scores[start + index] as number | bigint);
    }
  });
  const shape = [...tensor.shape.slice(0, -1), kept];
  return {
    classes: labels
      ? stringTensor(
          shape,
          best.map((index) => labelOf(labels, index)),
        )
      : tensorFromValues('int64', shape, best),
    scores: tensorFromValues(tensor.dtype, shape, values),
  };
}

/** Up to this many are kept in order in one pass; more are sorted, as each insertion moves those behind it. */
const MOST_INSERTED = 64;

/** Indices of the largest values, best first. */
function bestOf(
  scores: ArrayLike<number | bigint>,
  start: number,
  width: number,
  k: number,
): number[] {
  const isBetter = (a: number, b: number): boolean => {
    const left = scores[start + a] as number | bigint;
    const right = scores[start + b] as number | bigint;
    return left > right || (Number.isNaN(right) && !Number.isNaN(left));
  };
  if (k > MOST_INSERTED) {
    const order = (a: number, b: number) => (isBetter(a, b) ? -1 : isBetter(b, a) ? 1 : a - b);
    return [
      ...Uint32Array.from({ length: width }, (_, i) => i)
        .sort(order)
        .subarray(0, k),
    ];
  }
  const best: number[] = [];
  for (let index = 0; index < width; index++) {
    if (best.length === k && !isBetter(index, best[k - 1] as number)) continue;
    let place = best.length;
    while (place > 0 && isBetter(index, best[place - 1] as number)) place -= 1;
    best.splice(place, 0, index);
    if (best.length > k) best.pop();
  }
  return best;
}
