/** Bodies of `:predict`: the row format (`instances`) and the columnar format (`inputs`). */
import {
  dataTypeStringOfEnum,
  invalidArgument,
  StatusError,
  shapeString,
  statusText,
  toStatusError,
} from '@sagemaker-tfs/libtensorflow/serving';
import type { DType, Signature, Tensor, TensorMap } from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import { jsonTensor, shapeOf } from './json-tensor.ts';
import {
  formatError,
  isArray,
  isBase64,
  isObject,
  type JsonObject,
  type JsonValue,
  shown,
} from './json-values.ts';

/** How inputs came, and so how outputs go. */
export type JsonFormat = 'row' | 'columnar';

/** The inputs of a body. */
export interface JsonInputs {
  readonly format: JsonFormat;
  readonly inputs: TensorMap;
}

/**
 * Reads the inputs for a signature. Inputs in `optional` (those with a default) may be left out.
 * @throws StatusError INVALID_ARGUMENT
 */
export function readInputs(
  body: JsonObject,
  signature: Signature,
  optional: ReadonlySet<string>,
): JsonInputs {
  const { instances, inputs } = body;
  if (instances !== undefined && inputs !== undefined) {
    throw formatError(
      body,
      "Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist ",
    );
  }
  if (instances !== undefined) {
    return { format: 'row', inputs: readInstances(body, instances, signature, optional) };
  }
  if (inputs === undefined) throw invalidArgument("Missing 'inputs' or 'instances' key");
  return { format: 'columnar', inputs: readColumns(inputs, signature, optional) };
}

function readInstances(
  body: JsonObject,
  instances: JsonValue,
  signature: Signature,
  optional: ReadonlySet<string>,
): TensorMap {
  if (!isArray(instances)) throw formatError(body, "Expecting 'instances' to be an list/array");
  const [first] = instances;
  if (first === undefined) throw formatError(body, "No values in 'instances' array");
  if (isNamed(first)) return readNamedInstances(instances, signature, optional);
  const name = onlyInput(
    signature,
    optional,
    'instances is a plain list, but expecting list of objects as multiple input tensors required as per tensorinfo_map',
  );
  const named = instances.findIndex(isNamed);
  if (named >= 0) {
    throw invalidArgument(`Expecting value/list but got object at item ${named} of input list`);
  }
  return {
    [name]: rows(name, instances, signature, (index) => `Failed to process element: ${index}`),
  };
}

function isNamed(value: JsonValue): value is JsonObject {
  return isObject(value) && !isBase64(value);
}

function readNamedInstances(
  instances: readonly JsonValue[],
  signature: Signature,
  optional: ReadonlySet<string>,
): TensorMap {
  const [first] = instances;
  const names = Object.keys(signature.inputs)
    .sort()
    .filter(
      (name) =>
        !optional.has(name) || (isNamed(first as JsonValue) && name in (first as JsonObject)),
    );
  instances.forEach((instance, index) => {
    if (!isNamed(instance)) {
      throw invalidArgument(`Expecting object but got list at item ${index} of input list`);
    }
    checkKeys(instance, index, names, signature);
  });
  const columns = names.map((name) => {
    const values = (instances as readonly JsonObject[]).map(
      (instance) => instance[name] as JsonValue,
    );
    const place = (index: number) => `Failed to process element: ${index} key: ${name}`;
    return [name, rows(name, values, signature, place)];
  });
  return Object.fromEntries(columns);
}

function checkKeys(
  instance: JsonObject,
  index: number,
  names: readonly string[],
  signature: Signature,
): void {
  const keys = Object.keys(instance);
  const unknown = keys.find((key) => !Object.hasOwn(signature.inputs, key));
  if (unknown !== undefined) {
    throw invalidArgument(
      `Failed to process element: ${index} key: ${unknown} of 'instances' list. Error: INVALID_ARGUMENT: JSON object: does not have named input: ${unknown}`,
    );
  }
  if (keys.length === names.length && names.every((name) => Object.hasOwn(instance, name))) return;
  throw invalidArgument(
    `Failed to process element: ${index} of 'instances' list. JSON object: ${shown(instance)} keys must be equal to: ${names.join(',')}`,
  );
}

/** One tensor of all rows; an error names the row that differs from the first or does not fit the dtype. */
function rows(
  name: string,
  values: readonly JsonValue[],
  signature: Signature,
  place: (index: number) => string,
): Tensor {
  const dtype = dtypeOf(signature, name);
  try {
    return jsonTensor(dtype, values);
  } catch (error) {
    throw rowError(dtype, values, place) ?? error;
  }
}

function rowError(
  dtype: DType,
  values: readonly JsonValue[],
  place: (index: number) => string,
): StatusError | undefined {
  const shape = shapeOf(values[0] as JsonValue);
  for (const [index, value] of values.entries()) {
    const problem = rowProblem(dtype, value, shape);
    if (problem) {
      return invalidArgument(`${place(index)} of 'instances' list. Error: ${statusText(problem)}`);
    }
  }
  return undefined;
}

function rowProblem(
  dtype: DType,
  value: JsonValue,
  shape: readonly number[],
): StatusError | undefined {
  try {
    jsonTensor(dtype, value);
  } catch (error) {
    return toStatusError(error);
  }
  const own = shapeOf(value);
  if (shapeString(own) === shapeString(shape)) return undefined;
  const [size, expected] = [own, shape].map((sizes) => sizes.reduce((a, b) => a * b, 1));
  return size === expected
    ? invalidArgument(`Expecting shape ${shapeString(shape)} but got: ${shapeString(own)}`)
    : invalidArgument(`Expecting tensor size: ${expected} but got: ${size}`);
}

function readColumns(
  inputs: JsonValue,
  signature: Signature,
  optional: ReadonlySet<string>,
): TensorMap {
  if (!isNamed(inputs)) {
    const name = onlyInput(
      signature,
      optional,
      'inputs is a plain value/list, but expecting an object as multiple input tensors required as per tensorinfo_map',
    );
    return { [name]: jsonTensor(dtypeOf(signature, name), inputs) };
  }
  const columns = Object.keys(signature.inputs).flatMap((name) => {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    if (value !== undefined) return [[name, jsonTensor(dtypeOf(signature, name), value)]];
    if (optional.has(name)) return [];
    throw invalidArgument(`Missing named input: ${name} in 'inputs' object.`);
  });
  return Object.fromEntries(columns);
}

/** The name that values without one go to. @throws StatusError INVALID_ARGUMENT where there is a choice */
function onlyInput(signature: Signature, optional: ReadonlySet<string>, problem: string): string {
  const names = Object.keys(signature.inputs);
  const required = names.filter((name) => !optional.has(name));
  const [name] = required.length > 0 ? required : names;
  if (name !== undefined && required.length <= 1) return name;
  throw invalidArgument(problem);
}

/** TensorFlow Serving's REST API reads no numbers of these dtypes (AddValueToTensor in util/json_tensor.cc). */
const UNREAD: ReadonlySet<DType> = new Set<DType>(['float16', 'bfloat16', 'uint16']);

function dtypeOf(signature: Signature, name: string): DType {
  const spec = signature.inputs[name];
  if (spec?.dtype && !UNREAD.has(spec.dtype)) return spec.dtype;
  throw new StatusError(
    Code.UNIMPLEMENTED,
    `Conversion of JSON Value to type: ${dataTypeStringOfEnum(spec?.dtypeEnum ?? 0)}`,
  );
}
