/** A value of JSON to the tensor of an input. */
import { type PlaceName, type Tensor, tensorFromJson } from '@sagemaker-tfs/tensors';
import type { DecodeContext } from './codec.ts';
import { filledBelow } from './empty-elements.ts';
import { dtypeOf, reading } from './input-error.ts';

/** What the readers of JSON know besides the document. */
export type JsonContext = Pick<DecodeContext, 'signature' | 'limits' | 'places'>;

/**
 * @param place what messages call the value
 * @throws ServingError BAD_INPUT, UNKNOWN_INPUT, naming the place
 */
export function jsonToInput(
  input: string,
  value: unknown,
  place: string | PlaceName,
  { signature, limits }: JsonContext,
): Tensor {
  const dtype = dtypeOf(input, signature);
  const tensor = reading(() => tensorFromJson(dtype, value, place, limits.maxStrings));
  return filledBelow(tensor, signature.inputs[input]?.shape);
}
