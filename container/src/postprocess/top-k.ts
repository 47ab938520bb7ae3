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
import { eachInTurns } from '../waiting/in-turns.ts';
import { inSteps, SPAN, spans } from '../waiting/rows-in-turns.ts';
import { labelOf } from './labels.ts';

/**
 * `tf.math.top_k` over the last dimension: the K largest, best first, of equals the lower index first, NaN
 * last, which TensorFlow puts anywhere. Other requests have their turns in between.
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
  await inSteps(bestOfRows(scores, width, kept, best));
  await eachInTurns(best, (index, at) => {
    values.push(scores[Math.floor(at / kept) * width + index] as number | bigint);
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
const MAX_INSERTED = 64;

/** Adds the indices of each row's largest values, best first. */
function* bestOfRows(
  scores: ArrayLike<number | bigint>,
  width: number,
  k: number,
  best: number[],
): Iterable<number> {
  const bestOf = k > MAX_INSERTED ? bestSorted : bestInserted;
  for (let start = 0; start < scores.length; start += width) {
    const isBetter = (a: number, b: number): boolean => {
      const left = scores[start + a] as number | bigint;
      const right = scores[start + b] as number | bigint;
      return left > right || (Number.isNaN(right) && !Number.isNaN(left));
    };
    yield* bestOf(isBetter, width, k, best);
  }
}

/** Whether the value at an index is better than that at another. */
type IsBetter = (a: number, b: number) => boolean;

function* bestInserted(
  isBetter: IsBetter,
  width: number,
  k: number,
  best: number[],
): Iterable<number> {
  const own: number[] = [];
  yield* spans(0, width, (from, to) => {
    for (let index = from; index < to; index++) {
      if (own.length === k && !isBetter(index, own[k - 1] as number)) continue;
      let place = own.length;
      while (place > 0 && isBetter(index, own[place - 1] as number)) place -= 1;
      own.splice(place, 0, index);
      if (own.length > k) own.pop();
    }
  });
  best.push(...own);
}

/** Sorts spans, and merges two neighbors at a time until there is one. */
function* bestSorted(
  isBetter: IsBetter,
  width: number,
  k: number,
  best: number[],
): Iterable<number> {
  let sorted = Uint32Array.from({ length: width }, (_, index) => index);
  const order = (a: number, b: number) => (isBetter(a, b) ? -1 : isBetter(b, a) ? 1 : a - b);
  // A sort goes over its elements as often as they can be halved.
  for (let from = 0; from < width; from += SPAN) {
    sorted.subarray(from, from + SPAN).sort(order);
    yield SPAN * Math.log2(SPAN);
  }
  for (let size = SPAN; size < width; size *= 2) {
    const merged = new Uint32Array(width);
    let [left, right] = [0, size];
    yield* spans(0, width, (from, to) => {
      for (let at = from; at < to; at++) {
        if (at % (2 * size) === 0) [left, right] = [at, at + size];
        const middle = at - (at % (2 * size)) + size;
        const end = Math.min(middle + size, width);
        // Of equals the left one has the lower index.
        const isRight =
          left >= middle ||
          (right < end && isBetter(sorted[right] as number, sorted[left] as number));
        merged[at] = sorted[isRight ? right++ : left++] as number;
      }
    });
    sorted = merged;
  }
  yield* spans(0, k, (from, to) => {
    for (let at = from; at < to; at++) best.push(sorted[at] as number);
  });
}
