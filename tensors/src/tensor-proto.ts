/**
 * TensorFlow's TensorProto (tensorflow/core/framework/tensor.proto) on the wire, without a loop over
 * elements wherever the wire format has them as they are in memory.
 */
import { booleans } from './booleans.ts';
import { DTYPES, type DType, dtypeOfEnum, enumName } from './dtype.ts';
import { TensorError } from './errors.ts';
import { type RepeatedValues, repeatedValues, type ValueWire } from './repeated-values.ts';
import { allSteps, type Steps } from './steps.ts';
import { elementCount, isNumeric, MAX_RANK, type Tensor } from './tensor.ts';
import { decodeStrings, decodeValues, tooManyStrings } from './tensor-proto-values.ts';
import { fieldSteps, forEachField, readBytes, readInt64, readVarint, WIRE } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

const FIELD = { dtype: 1, shape: 2, content: 4, stringVal: 8 } as const;
const SHAPE_FIELD = { dim: 2, unknownRank: 3 } as const;

/** The repeated field that holds a dtype's values where `tensor_content` is not used: `float_val`, `int_val`, ... */
export const TENSOR_VALUE_FIELD: Readonly<Record<DType, number>> = {
  float16: 13,
  bfloat16: 13,
  float32: 5,
  float64: 6,
  int8: 7,
  int16: 7,
  int32: 7,
  uint8: 7,
  uint16: 7,
  string: 8,
  int64: 10,
  bool: 11,
  uint32: 16,
  uint64: 17,
};

/** How one value of a field of numbers lies on the wire; those that are not here are varints. */
const FIXED_WIRE: Readonly<Record<number, ValueWire>> = { 5: WIRE.fixed32, 6: WIRE.fixed64 };
const NUMBER_FIELDS: ReadonlySet<number> = new Set(
  Object.values(TENSOR_VALUE_FIELD).filter((field) => field !== FIELD.stringVal),
);

const STEP_STRINGS = 8_192;

/** What one pass over the message finds. */
interface Fields {
  dtype: number;
  shape: number[];
  content: Uint8Array | undefined;
  /** By field number. */
  numbers: Map<number, RepeatedValues>;
  strings: Uint8Array[];
}

/** What a TensorProto may make its reader allocate. */
export interface TensorProtoLimits {
  /** Default: no limit. */
  readonly maxStrings?: number;
}

/**
 * Reads a TensorProto. Numeric `tensor_content`, `float_val` and `double_val` become views on `bytes`;
 * fields of varints are decoded. As TensorFlow does: no values at all are zeros, fewer values than
 * elements repeat the last one, and values beyond the shape are passed over; a shape of unknown rank is that of its sizes.
 * @throws TensorError UNSUPPORTED_DTYPE; MALFORMED for broken bytes or an unknown size; SHAPE_MISMATCH where
 *   `tensor_content` does not fill the shape; TOO_LARGE beyond the limits
 */
export function decodeTensorProto(bytes: Uint8Array, limits: TensorProtoLimits = {}): Tensor {
  return allSteps(tensorProtoSteps(bytes, limits));
}

/** {@link decodeTensorProto} in steps of some thousand strings or integers. */
export function* tensorProtoSteps(
  bytes: Uint8Array,
  limits: TensorProtoLimits = {},
): Steps<Tensor> {
  const { maxStrings = Number.POSITIVE_INFINITY } = limits;
  const fields = yield* readFields(bytes, maxStrings);
  const dtype = dtypeOfEnum(fields.dtype);
  if (!dtype) {
    throw new TensorError(
      'UNSUPPORTED_DTYPE',
      `tensors of ${enumName(fields.dtype)} are not supported.`,
    );
  }
  if (dtype === 'string') {
    return yield* decodeStrings(fields.shape, fields.content, fields.strings, maxStrings);
  }
  const count = elementCount(fields.shape);
  const size = count * DTYPES[dtype].size;
  if (fields.content) {
    if (fields.content.byteLength !== size) {
      throw new TensorError(
        'SHAPE_MISMATCH',
        `tensor_content of ${dtype} [${fields.shape.join(', ')}] has ${fields.content.byteLength} bytes, not ${size}`,
      );
    }
    const bytes = dtype === 'bool' ? booleans(fields.content) : fields.content;
    return { dtype, shape: fields.shape, bytes };
  }
  const packed = fields.numbers.get(TENSOR_VALUE_FIELD[dtype])?.packed() ?? NO_VALUES;
  return { dtype, shape: fields.shape, bytes: yield* decodeValues(dtype, count, packed) };
}

const NO_VALUES = new Uint8Array(0);

function* readFields(bytes: Uint8Array, maxStrings: number): Steps<Fields> {
  const fields: Fields = {
    dtype: 0,
    shape: [],
    content: undefined,
    numbers: new Map(),
    strings: [],
  };
  yield* fieldSteps(bytes, (field, wireType, reader) => {
    if (field === FIELD.dtype && wireType === WIRE.varint) {
      fields.dtype = readVarint(reader);
    } else if (field === FIELD.shape && wireType === WIRE.bytes) {
      readShape(readBytes(reader), fields.shape);
    } else if (field === FIELD.content && wireType === WIRE.bytes) {
      const content = readBytes(reader);
      if (content.byteLength > 0) fields.content = content;
    } else if (NUMBER_FIELDS.has(field)) {
      return numbersOf(fields, field).take(reader, wireType);
    } else if (field === FIELD.stringVal && wireType === WIRE.bytes) {
      if (fields.strings.length >= maxStrings) throw tooManyStrings(maxStrings);
      fields.strings.push(readBytes(reader));
    } else {
      return false;
    }
    return true;
  });
  return fields;
}

function numbersOf({ numbers }: Fields, field: number): RepeatedValues {
  const known = numbers.get(field);
  if (known) return known;
  const values = repeatedValues(FIXED_WIRE[field] ?? WIRE.varint);
  numbers.set(field, values);
  return values;
}

/** Adds the sizes to `shape`. */
function readShape(bytes: Uint8Array, shape: number[]): void {
  forEachField(bytes, (field, wireType, reader) => {
    if (field === SHAPE_FIELD.dim && wireType === WIRE.bytes) {
      const size = readDimSize(readBytes(reader));
      if (size < 0)
        throw new TensorError('MALFORMED', `TensorProto has a dimension of size ${size}`);
      shape.push(size);
      if (shape.length > MAX_RANK) {
        throw new TensorError('MALFORMED', `TensorProto has more than ${MAX_RANK} dimensions.`);
      }
      return true;
    }
    if (field === SHAPE_FIELD.unknownRank && wireType === WIRE.varint) {
      readVarint(reader);
      return true;
    }
    return false;
  });
}

function readDimSize(bytes: Uint8Array): number {
  let size = 0;
  forEachField(bytes, (field, wireType, reader) => {
    if (field !== 1 || wireType !== WIRE.varint) return false;
    size = Number(readInt64(reader));
    return true;
  });
  return size;
}

/**
 * Writes a TensorProto as chunks: a small header, then the tensor's own bytes, not copied. Numbers travel
 * as `tensor_content`, strings as `string_val`.
 */
export function encodeTensorProto(tensor: Tensor): Uint8Array[] {
  const writer = new WireWriter();
  allSteps(writeTensorProto(writer, tensor));
  return writer.finish();
}

/** Writes the fields of a TensorProto, last to first, into a message being written; strings in steps. */
export function* writeTensorProto(writer: WireWriter, tensor: Tensor): Steps<void> {
  const { shape } = tensor;
  if (isNumeric(tensor)) {
    if (tensor.bytes.byteLength > 0) writer.bytesField(FIELD.content, tensor.bytes);
  } else {
    for (let i = tensor.values.length - 1; i >= 0; i--) {
      writer.bytesField(FIELD.stringVal, tensor.values[i] as Uint8Array);
      if (i % STEP_STRINGS === STEP_STRINGS - 1) yield;
    }
  }
  writer.messageField(FIELD.shape, () => {
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      writer.messageField(SHAPE_FIELD.dim, () => writer.numberField(1, shape[axis] as number));
    }
  });
  writer.numberField(FIELD.dtype, DTYPES[tensor.dtype].enumValue);
}
