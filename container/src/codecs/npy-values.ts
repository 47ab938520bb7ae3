import { TensorError } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';

/**
 * An error of writing outputs as `.npy` or `.npz`, in the client's words.
 * @returns NOT_ACCEPTABLE where the values have no form there: strings that end in a zero byte or grow too large
 */
export function unwritable(error: unknown, mediaType: string): unknown {
  const isOfValues =
    error instanceof TensorError &&
    (error.code === 'VALUE_OUT_OF_RANGE' || error.code === 'TOO_LARGE');
  if (!isOfValues) return error;
  return new ServingError('NOT_ACCEPTABLE', `${mediaType}: ${error.message}`, { cause: error });
}
