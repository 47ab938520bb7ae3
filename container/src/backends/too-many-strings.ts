/** Strings of an answer are bounded as those of a body are: each becomes an object, many times its size. */
import type { Tensor } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';

/** The error for an answer of more strings than `most`, all outputs together. */
export function tooManyStrings(most: number, cause?: Error): ServingError {
  return new ServingError(
    'RESPONSE_TOO_LARGE',
    `the model's answer holds more than ${most} strings. Ask for fewer outputs with tfs-outputs, send fewer rows, or raise SAGEMAKER_TFS_MAX_STRINGS.`,
    { cause },
  );
}

/** @throws ServingError RESPONSE_TOO_LARGE */
export function checkStrings(outputs: Iterable<Tensor>, most: number): void {
  let count = 0;
  for (const tensor of outputs) if (tensor.dtype === 'string') count += tensor.values.length;
  if (count > most) throw tooManyStrings(most);
}
