/** The columnar form, `{"inputs": ...}`, to tensors. */
import { isBase64Object, listLength, type Signature, type TensorMap } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { onlyInput, unknownInput } from './input-error.ts';
import { type JsonContext, jsonToInput } from './json-input.ts';

/**
 * Whole tensors: an object of them by input, or the only input's value itself.
 * @throws ServingError BAD_INPUT, UNKNOWN_INPUT, naming the place
 */
export function columnsToTensors(inputs: unknown, context: JsonContext): TensorMap {
  const { signature } = context;
  const isList = listLength(inputs) !== undefined;
  const isObject = typeof inputs === 'object' && inputs !== null && !isList;
  if (!isObject || isBase64Object(inputs)) {
    const name = onlyInput(signature, 'a plain value in "inputs"');
    return { [name]: jsonToInput(name, inputs, 'inputs', context) };
  }
  const known = knownColumns(inputs, signature);
  const entries = known.map(
    ([name, value]) => [name, jsonToInput(name, value, `inputs.${name}`, context)] as const,
  );
  if (entries.length === 0 && Object.keys(signature.inputs).length > 0) {
    throw new ServingError('BAD_INPUT', '"inputs" is empty.');
  }
  return Object.fromEntries(entries);
}

/**
 * The columns that the signature names. Others are passed over where all its inputs are there, as TensorFlow
 * Serving's REST API does. Where one is not, another name may be its misspelling: nothing is left to a default then.
 * @throws ServingError UNKNOWN_INPUT
 */
function knownColumns(inputs: object, signature: Signature): [string, unknown][] {
  const known = Object.entries(inputs).filter(([name]) => Object.hasOwn(signature.inputs, name));
  if (known.length === Object.keys(signature.inputs).length && known.length > 0) return known;
  const unknown = Object.keys(inputs).find((name) => !Object.hasOwn(signature.inputs, name));
  if (unknown !== undefined) throw unknownInput(unknown, signature);
  return known;
}
