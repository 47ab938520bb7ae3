/** Inputs made up from a signature, for trying a model out. */
import { isPictureInput } from '@sagemaker-tfs/manifest';
import {
  DTYPES,
  elementCount,
  METHOD_NAMES,
  numericTensor,
  type Signature,
  stringTensor,
  type Tensor,
  type TensorMap,
  type TensorSpec,
} from '@sagemaker-tfs/tensors';
import { examplePng } from './png.ts';

/** Pixels of a side of a made-up picture, where the model takes any size. */
export const PICTURE_SIDE = 256;

/** Bytes of one synthetic tensor at most; models with larger fixed inputs need a sample. */
const MAX_BYTES = 1024 * 1024 * 1024;

/** Why no inputs can be made up. */
export interface NoSynthetic {
  readonly reason: string;
}

/**
 * Inputs that fit the signature: zeros, `false`, and for strings one picture, the given tf.Example or the
 * text `0`. Open sizes are 1, those of pictures {@link PICTURE_SIDE}; an unknown rank is one row.
 * @param example serialized, for signatures that take tf.Example messages. Default: one without features
 * @param mostBytes of one input. Default: {@link MAX_BYTES}
 */
export function syntheticInputs(
  signature: Signature,
  example: Uint8Array = new Uint8Array(0),
  mostBytes: number = MAX_BYTES,
): TensorMap | NoSynthetic {
  const inputs = new Map<string, Tensor>();
  const given = takesExamples(signature) ? example : undefined;
  for (const [name, spec] of Object.entries(signature.inputs)) {
    const tensor = syntheticTensor(name, spec, given, mostBytes);
    if ('reason' in tensor) return tensor;
    inputs.set(name, tensor);
  }
  return Object.fromEntries(inputs);
}

/** What {@link takesExamples} reads of a signature. */
interface ExampleTaker {
  readonly methodName: string;
  readonly inputs: Readonly<Record<string, { readonly dtype?: string | undefined }>>;
}

/** True if strings are serialized tf.Example messages, whose features a signature does not tell. */
export function takesExamples({ methodName, inputs }: ExampleTaker): boolean {
  return (
    methodName === METHOD_NAMES.classify ||
    methodName === METHOD_NAMES.regress ||
    Object.entries(inputs).some(([name, { dtype }]) => dtype === 'string' && /example/i.test(name))
  );
}

/** True if {@link syntheticInputs} could make none. */
export function isNoSynthetic(inputs: TensorMap | NoSynthetic): inputs is NoSynthetic {
  return typeof inputs.reason === 'string';
}

function syntheticTensor(
  name: string,
  { dtype, shape, tensorName }: TensorSpec,
  example: Uint8Array | undefined,
  mostBytes: number,
): Tensor | NoSynthetic {
  if (tensorName === '') return { reason: `input '${name}' is a sparse or composite tensor` };
  if (!dtype) return { reason: `input '${name}' has a dtype that cannot be sent` };
  const sizes = concreteShape(shape ?? [-1]);
  const count = elementCount(sizes);
  const tooLarge = (bytes: number) =>
    bytes > mostBytes ? { reason: `input '${name}' takes ${bytes} bytes` } : undefined;
  if (dtype === 'string') {
    const value = example ?? syntheticString(name);
    const values = () => new Array<string | Uint8Array>(count).fill(value);
    return tooLarge(count * value.length) ?? stringTensor(sizes, values());
  }
  const bytes = count * DTYPES[dtype].size;
  return tooLarge(bytes) ?? numericTensor(dtype, sizes, new Uint8Array(bytes));
}

function syntheticString(name: string): string | Uint8Array {
  return isPictureInput(name) ? examplePng(PICTURE_SIDE, PICTURE_SIDE) : '0';
}

function concreteShape(shape: readonly number[]): number[] {
  const isChannels = (size: number | undefined) => size === 1 || size === 3;
  const isPicture = shape.length === 4 && (isChannels(shape[1]) || isChannels(shape[3]));
  return shape.map((size, axis) => (size >= 0 ? size : isPicture && axis > 0 ? PICTURE_SIDE : 1));
}
