/** Instances of the row form to batch tensors. */
import {
  indexed,
  isBase64Object,
  listLength,
  PackedNumbers,
  type PlaceName,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { placeOf } from './codec.ts';
import { onlyInput, shortened, unknownInput } from './input-error.ts';
import { type JsonContext, jsonToInput } from './json-input.ts';

/** Values by input. */
type NamedInstance = Readonly<Record<string, unknown>>;

/**
 * A batch of all instances: each an object of values by input, or all of them the only input's value.
 * @param name what messages call the list: `instances` for `instances[3].image[0]`
 * @throws ServingError BAD_INPUT, UNKNOWN_INPUT, naming the instance
 */
export function instancesToTensors(
  instances: readonly unknown[] | PackedNumbers,
  name: string,
  context: JsonContext,
): TensorMap {
  const { signature } = context;
  const list = instances instanceof PackedNumbers ? [] : instances;
  const [first] = list;
  const inList = indexed(name);
  const at = ([index, ...rest]: readonly number[]) =>
    inList(index === undefined ? [] : [placeOf(context, index), ...rest]);
  if (listLength(instances) === 0)
    throw new ServingError('BAD_INPUT', `"${name}" has no instances.`);
  if (isNamed(first)) return namedToTensors(list, first, at, context);
  const input = onlyInput(signature, 'a list of plain values');
  const misplaced = list.findIndex(isNamed);
  if (misplaced >= 0) {
    throw new ServingError(
      'BAD_INPUT',
      `${at([misplaced])} is an object of named inputs, ${at([0])} is a plain value.`,
    );
  }
  return { [input]: jsonToInput(input, instances, at, context) };
}

/** True for an object of values by input, which `{"b64": ...}` is not. */
export function isNamed(instance: unknown): instance is NamedInstance {
  const isList = listLength(instance) !== undefined;
  const isObject = typeof instance === 'object' && instance !== null && !isList;
  return isObject && !isBase64Object(instance);
}

function namedToTensors(
  instances: readonly unknown[],
  first: NamedInstance,
  at: PlaceName,
  context: JsonContext,
): TensorMap {
  const { signature } = context;
  const inputs = Object.keys(first);
  if (inputs.length === 0) throw new ServingError('BAD_INPUT', `${at([0])} has no inputs.`);
  for (const input of inputs) {
    if (!Object.hasOwn(signature.inputs, input)) throw unknownInput(input, signature);
  }
  const rows = instances.map((instance, index) => checked(instance, inputs, () => at([index])));
  const entries = inputs.map((input) => {
    const values = rows.map((row) => row[input]);
    const place = ([index = 0, ...rest]: readonly number[]): string =>
      `${at([index])}.${input}${rest.map((inner) => `[${inner}]`).join('')}`;
    return [input, jsonToInput(input, values, place, context)] as const;
  });
  return Object.fromEntries(entries);
}

/** The instance as an object with exactly these inputs. */
function checked(instance: unknown, inputs: readonly string[], where: () => string): NamedInstance {
  if (!isNamed(instance)) {
    throw new ServingError(
      'BAD_INPUT',
      `${where()} must be an object of named inputs, as the first is.`,
    );
  }
  const missing = inputs.find((input) => !Object.hasOwn(instance, input));
  const extra = Object.keys(instance).find((input) => !inputs.includes(input));
  if (missing === undefined && extra === undefined) return instance;
  const what = missing === undefined ? `has '${shortened(extra ?? '')}'` : `lacks '${missing}'`;
  throw new ServingError(
    'BAD_INPUT',
    `${where()} ${what}. Every instance must have the inputs of the first: ${inputs.join(', ')}.`,
  );
}
