/** Whether rows that a model answered in company are those that it answers alone. */
import { isNumeric, type NumericTensor, type Tensor, toNumbers } from '@sagemaker-tfs/tensors';

/** How rows compare; `unclear` where they differ in what is no number, which rounding may decide. */
export type Likeness = 'same' | 'other' | 'unclear';

/**
 * Of the largest number of a tensor: what kernels for other numbers of rows may round away, TensorFloat-32 and 16-bit
 * floats among them.
 */
const ROUNDING = 0.01;
/** Numbers of a tensor that are looked at, evenly spread, if its bytes differ. */
const MOST_NUMBERS = 16_384;

/** Compares an output's rows: floats but for rounding, all else exactly. */
export function likeness(inCompany: Tensor, alone: Tensor): Likeness {
  const isOneShape = inCompany.shape.join() === alone.shape.join();
  if (!isOneShape || inCompany.dtype !== alone.dtype) return 'other';
  if (!isNumeric(inCompany) || !isNumeric(alone)) {
    return areSameTexts(inCompany, alone) ? 'same' : 'other';
  }
  if (areSameBytes(inCompany.bytes, alone.bytes)) return 'same';
  return FLOATS.has(alone.dtype) ? compareFloats(inCompany, alone) : 'other';
}

const FLOATS: ReadonlySet<string> = new Set(['float16', 'bfloat16', 'float32', 'float64']);

/** Whether some row of some tensor differs from the first: rows that are all alike show nothing of each other. */
export function vary(tensors: readonly Tensor[]): boolean {
  return tensors.some((tensor) => {
    const rows = tensor.shape[0] ?? 0;
    if (rows < 2) return false;
    if (!isNumeric(tensor)) {
      const row = tensor.values.length / rows;
      return tensor.values.some((value, at) => {
        const first = tensor.values[at % row];
        return first !== undefined && !areSameBytes(first, value);
      });
    }
    const size = tensor.bytes.byteLength / rows;
    // Each row is the next one.
    return !areSameBytes(tensor.bytes.subarray(0, -size || undefined), tensor.bytes.subarray(size));
  });
}

function areSameTexts(one: Tensor, other: Tensor): boolean {
  if (isNumeric(one) || isNumeric(other)) return false;
  return one.values.every((value, at) => areSameBytes(value, other.values[at] ?? NONE));
}

const NONE = new Uint8Array();

function areSameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.from(one.buffer, one.byteOffset, one.byteLength).equals(other);
}

function compareFloats(inCompany: NumericTensor, alone: NumericTensor): Likeness {
  const [left, right] = [toNumbers(inCompany), toNumbers(alone)];
  const step = Math.max(1, Math.floor(right.length / MOST_NUMBERS));
  let [largest, apart] = [0, 0];
  for (let at = 0; at < right.length; at += step) {
    const [a, b] = [Number(left[at]), Number(right[at])];
    if (Number.isFinite(a) && Number.isFinite(b)) {
      largest = Math.max(largest, Math.abs(b));
      apart = Math.max(apart, Math.abs(a - b));
    } else if (!Object.is(a, b)) return 'unclear';
  }
  return apart <= largest * ROUNDING ? 'same' : 'other';
}
