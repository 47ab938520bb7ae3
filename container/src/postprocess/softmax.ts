/** Softmax for models that answer logits. */
import { describe, isNumeric, numericTensor, type Tensor, toNumbers } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { inSteps, spans } from '../waiting/rows-in-turns.ts';

/**
 * `tf.nn.softmax` over the last dimension, computed in float64; float64 stays float64, all else becomes
 * float32. Other requests have their turns in between.
 * @throws ServingError MODEL_FAILED for a scalar or strings, which the signature did not announce
 */
export async function softmax(tensor: Tensor): Promise<Tensor> {
  if (!isNumeric(tensor) || tensor.shape.length === 0) {
    throw new ServingError(
      'MODEL_FAILED',
      `softmax needs rows of numbers, got ${describe(tensor)}`,
    );
  }
  const logits = toNumbers(tensor);
  const out =
    tensor.dtype === 'float64' ? new Float64Array(logits.length) : new Float32Array(logits.length);
  const width = tensor.shape.at(-1) as number;
  await inSteps(softmaxSteps(logits, out, width));
  return numericTensor(tensor.dtype === 'float64' ? 'float64' : 'float32', tensor.shape, out);
}

function* softmaxSteps(
  logits: ArrayLike<number | bigint>,
  out: Float64Array | Float32Array,
  width: number,
): Iterable<number> {
  const row = new Float64Array(width);
  for (let start = 0; start < logits.length; start += width) {
    let largest = Number.NEGATIVE_INFINITY;
    yield* spans(0, width, (from, to) => {
      for (let at = from; at < to; at++) {
        row[at] = Number(logits[start + at]);
        largest = Math.max(largest, row[at] as number);
      }
    });
    let sum = 0;
    yield* spans(0, width, (from, to) => {
      for (let at = from; at < to; at++) {
        row[at] = Math.exp((row[at] as number) - largest);
        sum += row[at] as number;
      }
    });
    yield* spans(0, width, (from, to) => {
      for (let at = from; at < to; at++) out[start + at] = (row[at] as number) / sum;
    });
  }
}
