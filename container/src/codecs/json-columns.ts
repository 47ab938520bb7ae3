/** The columnar form, `{"inputs": ...}`, to tensors. */
import { isBase64Object, listLength, type TensorMap, tensorFromJson } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { dtypeOf, onlyInput, reading, unknownInput } from './input-error.ts';
import type { JsonContext } from './json-instances.ts';

/**
 * Whole tensors: an object of them by input, or the only input's value itself.
 * @throws ServingError BAD_INPUT, UNKNOWN_INPUT, naming the place
 */
export function columnsToTensors(inputs: unknown, { signature, limits }: JsonContext): TensorMap {
  const isList = listLength(inputs) !== undefined;
  const isObject = typeof inputs === 'object' && inputs !== null && !isList;
  if (!isObject || isBase64Object(inputs)) {
    const name = onlyInput(signature, 'a plain value in "inputs"');
    return {
      [name]: reading(() =>
        tensorFromJson(dtypeOf(name, signature), inputs, 'inputs', limits.maxStrings),
      ),
    };
  }
  // What the signature does not name is passed over, as TensorFlow Serving does.
  const known = Object.entries(inputs).filter(([name]) => Object.hasOwn(signature.inputs, name));
  const [unknown] = Object.keys(inputs);
  if (known.length === 0 && unknown !== undefined) throw unknownInput(unknown, signature);
  const entries = known.map(([name, value]) => {
    const dtype = dtypeOf(name, signature);
    return [
      name,
      reading(() => tensorFromJson(dtype, value, `inputs.${name}`, limits.maxStrings)),
    ] as const;
  });
  if (entries.length === 0 && Object.keys(signature.inputs).length > 0) {
    throw new ServingError('BAD_INPUT', '"inputs" is empty');
  }
  return Object.fromEntries(entries);
}
