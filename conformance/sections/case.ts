/** Cases as the oracle writes them, and how tensors are compared. */
import {
  isNumeric,
  type NumericDType,
  numericTensor,
  stringTensor,
  type Tensor,
  toNumbers,
} from '@sagemaker-tfs/tensors';

/**
 * One case as the oracle wrote it. `decision` names the row of docs/where-it-differs.md by which the case expects
 * another answer than the reference's own.
 */
export type Case = Readonly<Record<string, unknown>>;

/** Where the Python side runs. */
export interface Oracle {
  readonly python: string;
  /** The folder of its scripts. */
  readonly scripts: string;
  /** The folder that cases are written to. */
  readonly out: string;
  readonly size: 'short' | 'full';
}

/** A kind of cases. */
export interface Section {
  /** The file of the cases, without its ending. */
  readonly file: string;
  readonly title: string;
  readonly reference: string;
  /** How near counts as agreed. */
  readonly tolerance: string;
  /** Makes the cases, where they are not among those of all.py. */
  make?(oracle: Oracle): Promise<void>;
  /** Before the first case and after the last. */
  start?(oracle: Oracle): Promise<void>;
  stop?(): Promise<void>;
  /** @returns what differs, or undefined if the case agrees */
  differs(given: Case): Promise<string | undefined> | string | undefined;
}

export const bytesOf = (base64: unknown): Uint8Array =>
  new Uint8Array(Buffer.from(base64 as string, 'base64'));
export const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
export const joined = (chunks: Iterable<Uint8Array>): Uint8Array => Buffer.concat([...chunks]);

/** Equal to the last bit. */
export function sameTensor(tensor: Tensor, { dtype, shape, bytes }: Case): boolean {
  const isSame = tensor.dtype === dtype && String(tensor.shape) === String(shape);
  return isSame && isNumeric(tensor) && same(tensor.bytes, bytesOf(bytes));
}

/**
 * Floats within a tolerance (default 1e-5) that is relative where they are larger than `least` (default 0), NaN as NaN,
 * everything else to the last bit.
 */
export function nearTensor(
  tensor: Tensor | undefined,
  expected: Case,
  tolerance = 1e-5,
  least = 0,
): boolean {
  if (!tensor || tensor.dtype !== expected.dtype) return false;
  if (String(tensor.shape) !== String(expected.shape)) return false;
  if (!isNumeric(tensor)) {
    const values = (expected.values as string[]).map(bytesOf);
    return tensor.values.every((value, at) => same(value, values[at] as Uint8Array));
  }
  const others = toNumbers(numericTensor(tensor.dtype, tensor.shape, bytesOf(expected.bytes)));
  return toNumbers(tensor).every((value: number | bigint, at: number) => {
    const other = others[at] as number | bigint;
    if (Object.is(value, other)) return true;
    const scale = Math.max(least, Math.abs(Number(other)));
    return Math.abs(Number(value) - Number(other)) <= tolerance * scale;
  });
}

/** The tensor of a case. */
export function tensorOf({ dtype, shape, bytes, values }: Case): Tensor {
  return dtype === 'string'
    ? stringTensor(shape as number[], (values as string[]).map(bytesOf))
    : numericTensor(dtype as NumericDType, shape as number[], bytesOf(bytes));
}
