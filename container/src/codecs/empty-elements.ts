/**
 * Tensors without elements, whose other sizes weigh nothing in bytes and yet make whoever goes over them work: 128 bytes
 * of `.npy` can say [30000000, 0, 0, 3], which is 30 million empty lists in JSON.
 */
import { shapeText, type Tensor, type TensorMap } from '@sagemaker-tfs/tensors';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';

const { maxStrings: DEFAULT_MOST } = DEFAULT_DECODE_LIMITS;

/** @throws ServingError BAD_INPUT for an empty tensor whose other sizes multiply to more than `most` */
export function checkEmptyInput(name: string, { shape }: Tensor, most = DEFAULT_MOST): void {
  if (!shape.includes(0)) return;
  const count = shape.reduce((product, size) => product * (size || 1), 1);
  if (count <= most) return;
  throw new ServingError(
    'BAD_INPUT',
    `input '${name}' is empty, and the other sizes of its shape ${shapeText(shape)} multiply to ${count}. At most ${most} are taken (SAGEMAKER_TFS_MAX_STRINGS).`,
  );
}

/** The tensor with the signature's sizes below its empty lists, where JSON has none: `[[], []]` for `[N, ?, 2]` is [2, 0, 2]. */
export function filledBelow(tensor: Tensor, accepted: readonly number[] | undefined): Tensor {
  const { shape } = tensor;
  if (shape.at(-1) !== 0 || !accepted || shape.length >= accepted.length) return tensor;
  const below = accepted.slice(shape.length).map((size) => Math.max(size, 0));
  return { ...tensor, shape: [...shape, ...below] };
}

/** Lists that an answer has of a tensor without elements: those before the first 0. Undefined for other shapes. */
export function emptyRows(shape: readonly number[]): number | undefined {
  const end = shape.indexOf(0);
  return end < 0 ? undefined : shape.slice(0, end).reduce((product, size) => product * size, 1);
}

/**
 * Of outputs only their {@link emptyRows} count.
 * @throws ServingError RESPONSE_TOO_LARGE
 */
export function checkEmptyOutputs(outputs: TensorMap, most = DEFAULT_MOST): void {
  for (const [name, { shape }] of Object.entries(outputs)) {
    const count = emptyRows(shape) ?? 0;
    if (count <= most) continue;
    throw new ServingError(
      'RESPONSE_TOO_LARGE',
      `output '${name}' of shape ${shapeText(shape)} is ${count} empty rows. At most ${most} are answered (SAGEMAKER_TFS_MAX_STRINGS).`,
    );
  }
}
