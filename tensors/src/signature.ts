/** Signatures of a SavedModel, the contract that every room shares: names, dtypes and shapes. */
import type { DType } from './dtype.ts';
import { MAX_RANK } from './tensor.ts';

/** One input or output of a signature. */
export interface TensorSpec {
  /** The graph's own name of the tensor, for example `serving_default_image:0`. */
  readonly tensorName: string;
  /** The dtype, or undefined if this project does not carry it (see `enumName`). */
  readonly dtype: DType | undefined;
  /** TensorFlow's `DataType` number, known here or not. */
  readonly dtypeEnum: number;
  /** Sizes, outermost first, `-1` where any size is accepted; undefined if the rank is unknown. */
  readonly shape: readonly number[] | undefined;
  /** Set where requests may leave this input out (SignatureDef.defaults). */
  readonly hasDefault?: true;
}

/** One signature of a SavedModel. */
export interface Signature {
  /** Its key in the SavedModel, usually `serving_default`. */
  readonly key: string;
  /** For example `tensorflow/serving/predict`; empty if the model leaves it out. */
  readonly methodName: string;
  readonly inputs: Readonly<Record<string, TensorSpec>>;
  readonly outputs: Readonly<Record<string, TensorSpec>>;
}

/** Signatures by key. */
export type SignatureMap = Readonly<Record<string, Signature>>;

/** The key that TensorFlow Serving uses where a request names none. */
export const DEFAULT_SIGNATURE = 'serving_default';

/** The method names that a signature can have. */
export const METHOD_NAMES = {
  predict: 'tensorflow/serving/predict',
  classify: 'tensorflow/serving/classify',
  regress: 'tensorflow/serving/regress',
} as const;

/** Whether a tensor may have this shape. */
export function acceptsShape({ shape: accepted }: TensorSpec, shape: readonly number[]): boolean {
  if (accepted === undefined) return shape.length <= MAX_RANK;
  if (shape.length !== accepted.length) return false;
  for (let axis = 0; axis < shape.length; axis++) {
    const size = accepted[axis] as number;
    if (size >= 0 && size !== shape[axis]) return false;
  }
  return true;
}

/** Sizes, where any is taken N for the first and ? for others: `[N, ?, 3]`. */
export function openShapeText(shape: readonly number[], separator = ', '): string {
  const sizes = shape.map((size, at) => (size >= 0 ? size : at === 0 ? 'N' : '?'));
  return `[${sizes.join(separator)}]`;
}
