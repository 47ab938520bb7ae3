/** Bodies of `:predict`: the row format (`instances`) and the columnar format (`inputs`). */
import {
  dataTypeStringOfEnum,
  invalidArgument,
  StatusError,
  shapeString,
  statusText,
  toStatusError,
} from '@sagemaker-tfs/libtensorflow/serving';
import { type DType, own, type Signature, type TensorMap } from '@sagemaker-tfs/tensors';
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
interface JsonInputs {
  readonly format: JsonFormat;
  readonly inputs: TensorMap;
}

/**
 * Reads the inputs for a signature: all of them, also those with a default, which the REST API does not know.
 * @throws StatusError INVALID_ARGUMENT, UNIMPLEMENTED for values of a dtype that the API does not read
 */
export function readInputs(body: JsonObject, signature: Signature): JsonInputs {
  const { instances, inputs } = body;
  if (instances !== undefined && inputs !== undefined) {
    throw formatError(
      body,
      "Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist ",
    );
  }
  if (instances !== undefined) {
    return { format: 'row', inputs: readInstances(body, instances, signature) };
  }
  if (inputs === undefined) throw invalidArgument("Missing 'inputs' or 'instances' key");
  return { format: 'columnar', inputs: readColumns(inputs, signature) };
}

function readInstances(body: JsonObject, instances: JsonValue, signature: Signature): TensorMap {
  if (!isArray(instances)) throw formatError(body, "Expecting 'instances' to be an list/array");
  const [first] = instances;
  if (first === undefined) throw formatError(body, "No values in 'instances' array");
  const only = isNamed(first) ? undefined : onlyInput(signature, PLAIN_ROWS);
  try {
    return only === undefined
      ? namedRows(instances, signature)
      : { [only]: jsonTensor(dtypeOf(signature, only), instances) };
  } catch (error) {
    throw firstError(instances, signature, only) ?? error;
  }
}

const PLAIN_ROWS =
  'instances is a plain list, but expecting list of objects as multiple input tensors required as per tensorinfo_map';

function isNamed(value: JsonValue): value is JsonObject {
  return isObject(value) && !isBase64(value);
}

/** A tensor for every input, of rows that all have every input and no other. */
function namedRows(instances: readonly JsonValue[], signature: Signature): TensorMap {
  const names = Object.keys(signature.inputs);
  const rows = instances.map((row) => {
    if (isNamed(row) && hasKeys(row, names)) return row;
    throw invalidArgument('rows differ');
  });
  const columns = names.map((name) => {
    const values = rows.map((row) => row[name] as JsonValue);
    return [name, jsonTensor(dtypeOf(signature, name), values)];
  });
  return Object.fromEntries(columns);
}

function hasKeys(row: JsonObject, names: readonly string[]): boolean {
  return (
    Object.keys(row).length === names.length && names.every((name) => Object.hasOwn(row, name))
  );
}

/** The error that TensorFlow Serving comes to first: row by row, value by value (FillTensorMapFromInstancesList). */
function firstError(
  instances: readonly JsonValue[],
  signature: Signature,
  only: string | undefined,
): StatusError | undefined {
  const shapes = new Map<string, readonly number[]>();
  for (const [index, row] of instances.entries()) {
    if (isNamed(row) !== (only === undefined)) {
      const kinds = only === undefined ? 'object but got list' : 'value/list but got object';
      return invalidArgument(`Expecting ${kinds} at item ${index} of input list`);
    }
    const error =
      only === undefined
        ? namedRowError(row as JsonObject, index, signature, shapes)
        : rowError(`Failed to process element: ${index}`, only, row, signature, shapes);
    if (error) return error;
  }
  return undefined;
}

function namedRowError(
  row: JsonObject,
  index: number,
  signature: Signature,
  shapes: Map<string, readonly number[]>,
): StatusError | undefined {
  for (const [name, value] of Object.entries(row)) {
    const place = `Failed to process element: ${index} key: ${name}`;
    const error = rowError(place, name, value, signature, shapes);
    if (error) return error;
  }
  const names = Object.keys(signature.inputs);
  if (hasKeys(row, names)) return undefined;
  return invalidArgument(
    `Failed to process element: ${index} of 'instances' list. JSON object: ${shown(row)} keys must be equal to: ${names.sort().join(',')}`,
  );
}

function rowError(
  place: string,
  name: string,
  value: JsonValue,
  signature: Signature,
  shapes: Map<string, readonly number[]>,
): StatusError | undefined {
  const problem = valueError(name, value, signature, shapes.get(name));
  if (problem) {
    return invalidArgument(`${place} of 'instances' list. Error: ${statusText(problem)}`);
  }
  shapes.set(name, shapeOf(value));
  return undefined;
}

/** What is wrong with an input's value, alone or beside the shape of the rows before it. */
function valueError(
  name: string,
  value: JsonValue,
  signature: Signature,
  shape: readonly number[] | undefined,
): StatusError | undefined {
  if (!Object.hasOwn(signature.inputs, name)) {
    return invalidArgument(`JSON object: does not have named input: ${name}`);
  }
  try {
    jsonTensor(dtypeOf(signature, name), value);
  } catch (error) {
    return toStatusError(error);
  }
  const own = shapeOf(value);
  if (shape === undefined || shapeString(own) === shapeString(shape)) return undefined;
  const [size, expected] = [own, shape].map((sizes) => sizes.reduce((a, b) => a * b, 1));
  return size === expected
    ? invalidArgument(`Expecting shape ${shapeString(shape)} but got: ${shapeString(own)}`)
    : invalidArgument(`Expecting tensor size: ${expected} but got: ${size}`);
}

function readColumns(inputs: JsonValue, signature: Signature): TensorMap {
  if (!isNamed(inputs)) {
    const name = onlyInput(signature, PLAIN_COLUMN);
    return { [name]: jsonTensor(dtypeOf(signature, name), inputs) };
  }
  const columns = Object.keys(signature.inputs).map((name) => {
    if (!Object.hasOwn(inputs, name)) {
      throw invalidArgument(`Missing named input: ${name} in 'inputs' object.`);
    }
    return [name, jsonTensor(dtypeOf(signature, name), inputs[name] as JsonValue)];
  });
  return Object.fromEntries(columns);
}

const PLAIN_COLUMN =
  'inputs is a plain value/list, but expecting an object as multiple input tensors required as per tensorinfo_map';

/** The name that values without one go to. @throws StatusError INVALID_ARGUMENT if there is a choice */
function onlyInput(signature: Signature, problem: string): string {
  const [name, ...others] = Object.keys(signature.inputs);
  if (name !== undefined && others.length === 0) return name;
  throw invalidArgument(problem);
}

function dtypeOf(signature: Signature, name: string): DType {
  const spec = own(signature.inputs, name);
  if (spec?.dtype) return spec.dtype;
  throw new StatusError(
    Code.UNIMPLEMENTED,
    `Conversion of JSON Value to type: ${dataTypeStringOfEnum(spec?.dtypeEnum ?? 0)}`,
  );
}
