/** Tensors that a client names or types itself (`.npy`, `.npz`, RecordIO), fitted to the signature. */
import {
  acceptsShape,
  cast,
  describe,
  isNumeric,
  type NumericDType,
  type NumericTensor,
  numericTensor,
  openShapeText,
  own,
  reshape,
  type Signature,
  type Tensor,
  type TensorSpec,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { unknownInput } from './input-error.ts';

/**
 * The tensor as this input takes it: converted to its dtype where no value changes but by rounding to a
 * shorter float (never to infinity, and 64-bit integers not at all), false being 0 and true 1, and with a batch of one in
 * front where only that is missing.
 * @throws ServingError UNKNOWN_INPUT, BAD_INPUT
 */
export function fitInput(tensor: Tensor, name: string, signature: Signature): Tensor {
  const spec = own(signature.inputs, name);
  if (!spec) throw unknownInput(name, signature);
  return fitDType(fitShape(tensor, name, spec), name, spec);
}

/** What the input's elements are, where that is known: what a reader need not make objects for. */
export function kindOf(spec: TensorSpec | undefined): 'number' | 'string' | undefined {
  if (!spec?.dtype) return undefined;
  return spec.dtype === 'string' ? 'string' : 'number';
}

function fitShape(tensor: Tensor, name: string, spec: TensorSpec): Tensor {
  const { shape } = spec;
  if (!shape) return tensor;
  const isOneInstance = tensor.shape.length === shape.length - 1 && [-1, 1].includes(shape[0] ?? 0);
  const fitted = isOneInstance ? reshape(tensor, [1, ...tensor.shape]) : tensor;
  if (acceptsShape(spec, fitted.shape)) return fitted;
  throw new ServingError(
    'BAD_INPUT',
    `input '${name}' takes ${openShapeText(shape)}, got ${describe(tensor)}`,
  );
}

function fitDType(tensor: Tensor, name: string, { dtype }: TensorSpec): Tensor {
  if (dtype === undefined || dtype === tensor.dtype) return tensor;
  const which = isNumeric(tensor) && dtype !== 'string' ? convert(tensor, dtype) : 'whose values';
  if (typeof which !== 'string') return which;
  throw new ServingError(
    'BAD_INPUT',
    `input '${name}' takes ${dtype}, got ${describe(tensor)}, ${which} ${dtype} cannot hold.`,
  );
}

/** @returns what the error calls the value that would not be the same number afterwards, float rounding apart */
function convert(tensor: NumericTensor, dtype: NumericDType): NumericTensor | string {
  const isToFloat = dtype.includes('float');
  const converted = cast(tensor, dtype);
  const before = toNumbers(tensor);
  const after = toNumbers(converted);
  const at = (isToFloat ? lost : change)(before, after);
  if (at < 0) return numericTensor(dtype, tensor.shape, converted.bytes);
  return `whose value ${before[at]} at index ${at}`;
}

type Numbers = ReturnType<typeof toNumbers>;

/** The first number that became infinite, or that no double holds as JSON's numbers do, or -1. */
function lost(before: Numbers, after: Numbers): number {
  for (let at = 0; at < before.length; at++) {
    const value = before[at] as number | bigint;
    if (!Number.isFinite(after[at]) && Number.isFinite(Number(value))) return at;
    if (typeof value === 'bigint' && BigInt(Number(value)) !== value) return at;
  }
  return -1;
}

/** The first number that became another, or -1. */
function change(before: Numbers, after: Numbers): number {
  for (let at = 0; at < before.length; at++) {
    // Loose on purpose: one side may be bigint.
    // biome-ignore lint/suspicious/noDoubleEquals: compares bigint with number by value
    if (before[at] != after[at]) return at;
  }
  return -1;
}
