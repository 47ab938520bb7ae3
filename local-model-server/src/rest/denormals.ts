/**
 * TensorFlow Serving's REST API runs in threads that take denormal numbers for 0 (TensorFlow's
 * `tsl/platform/threadpool.cc`): it reads them as 0, and writes 0 for them. The sign stays.
 */
import { type Tensor, typedArray } from '@sagemaker-tfs/tensors';

/** The least positive number that is not denormal. */
const MIN_NORMAL = { float32: 2 ** -126, float64: 2 ** -1022 };

/** The tensor with 0 for its denormal numbers: itself if it has none. */
export function withoutDenormals<T extends Tensor>(tensor: T): T {
  if (tensor.dtype !== 'float32' && tensor.dtype !== 'float64') return tensor;
  const least = MIN_NORMAL[tensor.dtype];
  const isDenormal = (value: number) => value !== 0 && Math.abs(value) < least;
  const values = typedArray(tensor) as Float32Array | Float64Array;
  if (!values.some(isDenormal)) return tensor;
  const flushed = values.map((value: number) => (isDenormal(value) ? value * 0 : value));
  return { ...tensor, bytes: new Uint8Array(flushed.buffer) };
}

/** The same for one float32. */
export function withoutDenormal(value: number): number {
  return Math.abs(value) < MIN_NORMAL.float32 ? value * 0 : value;
}
