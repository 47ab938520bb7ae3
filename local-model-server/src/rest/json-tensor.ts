/** Tensors from the nested lists of request bodies, with TensorFlow Serving's errors (util/json_tensor.cc). */
import { dataTypeString, invalidArgument, StatusError } from '@sagemaker-tfs/libtensorflow/serving';
import {
  cast,
  type DType,
  FloatLiteral,
  type NumericDType,
  numericTensor,
  type Tensor,
  TensorError,
  tensorFromJson,
} from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import { withoutDenormals } from './denormals.ts';
import {
  decodeBase64,
  isArray,
  isBase64,
  isObject,
  type JsonValue,
  shown,
  typeName,
} from './json-values.ts';

/**
 * The tensor of a value: nested lists are dimensions, everything else is a scalar.
 * @throws StatusError INVALID_ARGUMENT, naming the value that does not fit
 */
export function jsonTensor(dtype: DType, value: JsonValue): Tensor {
  if (UNREAD.has(dtype)) return unread(dtype, value);
  try {
    return withoutDenormals(tensorFromJson(dtype, dtype === 'string' ? decoded(value) : value));
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    const shape = shapeOf(value);
    const problem = misfit(dtype, value, shape, 0);
    if (problem) throw problem;
    if (dtype === 'string' || dtype === 'bool') throw error;
    return wrapped(dtype, shape, value);
  }
}

/** TensorFlow Serving's REST API reads no numbers of these dtypes (AddValueToTensor in util/json_tensor.cc). */
const UNREAD: ReadonlySet<DType> = new Set<DType>(['float16', 'bfloat16', 'uint16']);

/** A tensor without elements: any element is refused. */
function unread(dtype: DType, value: JsonValue): Tensor {
  const shape = shapeOf(value);
  const problem = misfit(dtype, value, shape, 0);
  if (problem) throw problem;
  return tensorFromJson(dtype, value);
}

/** The value with the bytes of its base64 objects. */
function decoded(value: JsonValue): unknown {
  if (isArray(value)) return value.map(decoded);
  return isBase64(value) ? decodeBase64(value) : value;
}

function leaves(value: JsonValue): readonly JsonValue[] {
  return isArray(value) ? value.flatMap(leaves) : [value];
}

/** The shape that the first element at every level has. */
export function shapeOf(value: JsonValue): number[] {
  return isArray(value)
    ? [value.length, ...(value.length > 0 ? shapeOf(value[0] as JsonValue) : [])]
    : [];
}

/** The error for the first value, in reading order, that is not of the dtype or not in its place. */
function misfit(
  dtype: DType,
  value: JsonValue,
  shape: readonly number[],
  level: number,
): StatusError | undefined {
  if (!isArray(value)) {
    if (level !== shape.length) {
      return invalidArgument(
        `JSON Value: ${shown(value)} found at incorrect level: ${level + 1} in the JSON DOM. Expected at level: ${shape.length}`,
      );
    }
    if (UNREAD.has(dtype) && !isObject(value)) return unimplemented(dtype, value);
    return isOf(dtype, value) ? undefined : typeError(dtype, value);
  }
  if (level >= shape.length) {
    return invalidArgument(
      `Encountered list at unexpected level: ${level} expected < ${shape.length}`,
    );
  }
  if (value.length !== shape[level]) {
    return invalidArgument(
      `Encountered list at unexpected size: ${value.length} at level: ${level} expected size: ${shape[level]}`,
    );
  }
  for (const element of value) {
    const error = misfit(dtype, element, shape, level + 1);
    if (error) return error;
  }
  return undefined;
}

/** What RapidJSON's IsInt, IsInt64, IsUint and IsUint64 take; small integers are read as 32 bits. */
const INTEGERS: Partial<Record<DType, readonly [bigint, bigint]>> = {
  int8: [-(2n ** 31n), 2n ** 31n - 1n],
  int16: [-(2n ** 31n), 2n ** 31n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint8: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

function isOf(dtype: DType, value: JsonValue): boolean {
  if (dtype === 'string') return typeof value === 'string' || isDecodable(value);
  if (dtype === 'bool') return typeof value === 'boolean';
  const range = INTEGERS[dtype];
  if (!range) return ['number', 'bigint'].includes(typeof value) || value instanceof FloatLiteral;
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) return false;
  const integer = BigInt(value as number | bigint);
  return integer >= range[0] && integer <= range[1];
}

/** Numbers as C++ casts them: floats beyond the range are infinite, integers wrap. */
function wrapped(dtype: NumericDType, shape: readonly number[], value: JsonValue): Tensor {
  const numbers = leaves(value).map((element) =>
    element instanceof FloatLiteral ? element.value : (element as number | bigint),
  );
  const tensor = dtype.includes('float')
    ? numericTensor('float64', shape, Float64Array.from(numbers, Number))
    : numericTensor('int64', shape, BigInt64Array.from(numbers, BigInt));
  return withoutDenormals(cast(tensor, dtype));
}

function isDecodable(value: JsonValue): boolean {
  try {
    return isBase64(value) && decodeBase64(value).length >= 0;
  } catch {
    return false;
  }
}

function unimplemented(dtype: DType, value: JsonValue): StatusError {
  return new StatusError(
    Code.UNIMPLEMENTED,
    `Conversion of JSON Value: ${shown(value)} to type: ${dataTypeString(dtype)}`,
  );
}

function typeError(dtype: DType, value: JsonValue): StatusError {
  if (dtype === 'string' && isObject(value)) {
    if (isBase64(value)) return invalidArgument('Unable to base64 decode');
    return invalidArgument(`JSON Value: ${shown(value)} not formatted correctly for base64 data`);
  }
  return invalidArgument(
    `JSON Value: ${shown(value)} Type: ${typeName(value)} is not of expected type: ${dataTypeString(dtype)}`,
  );
}
