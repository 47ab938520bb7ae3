/** Tensors as NumPy files. */
import { concatBytes, encodeNpy, encodeNpz, type TensorMap } from '@sagemaker-tfs/tensors';
import { type TensorValue, toTensor } from '../typed-tensor.ts';
import { badBody } from './bad-body.ts';
import type { RequestBody } from './request-body.ts';

/**
 * One tensor for a model's only input as `application/x-npy`; tensors by input name as `application/x-npz`.
 * @throws PredictionError BAD_OPTION naming the tensor whose elements do not fit its dtype or shape
 */
export function tensorsBody(
  tensors: TensorValue | Readonly<Record<string, TensorValue>>,
): RequestBody {
  if (isTensorValue(tensors)) {
    const chunks = badBody('the tensor', () => encodeNpy(toTensor(tensors)));
    return { bytes: concatBytes(chunks), contentType: 'application/x-npy' };
  }
  const named = Object.entries(tensors).map(([name, value]): [string, TensorMap[string]] => [
    name,
    badBody(`tensor "${name}"`, () => toTensor(value)),
  ]);
  const chunks = badBody('the tensors', () => encodeNpz(Object.fromEntries(named)));
  return { bytes: concatBytes(chunks), contentType: 'application/x-npz' };
}

/** True for one tensor: its three fields are none that a record of tensors has. */
export function isTensorValue(value: object): value is TensorValue {
  const { dtype, shape, data } = value as Partial<Record<keyof TensorValue, unknown>>;
  return typeof dtype === 'string' && Array.isArray(shape) && data !== undefined;
}
