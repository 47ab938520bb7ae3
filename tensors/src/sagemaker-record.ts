/**
 * SageMaker's protobuf-recordio: a `aialgs.data.Record` in each RecordIO record
 * (https://docs.aws.amazon.com/sagemaker/latest/dg/cdf-training.html#td-serialization).
 */
import { create, toBinary } from '@bufbuild/protobuf';
import { DTYPES } from './dtype.ts';
import { TensorError } from './errors.ts';
import { RecordSchema, type Value, ValueSchema } from './gen/sagemaker_record_pb.ts';
import { countVarints, decodeVarints64 } from './packed-varints.ts';
import { repeatedValues, type ValueWire } from './repeated-values.ts';
import { SAGEMAKER_RECORD_LIMITS, type SageMakerRecordLimits } from './sagemaker-record-limits.ts';
import { allSteps } from './steps.ts';
import {
  elementCount,
  isNumeric,
  MAX_RANK,
  type NumericTensor,
  numericTensor,
  shapeText,
  stringTensor,
  type Tensor,
  type TensorMap,
} from './tensor.ts';
import { decodeValues } from './tensor-proto-values.ts';
import { utf8Decode } from './text.ts';
import { typedArray } from './typed-array.ts';
import { forEachField, readBytes, WIRE } from './wire-reader.ts';

/** A record: named features, usually one named `values`, and perhaps labels. */
export interface SageMakerRecord {
  readonly features: TensorMap;
  readonly label: TensorMap;
}

/** Bytes that sparse vectors may still have as dense ones, beyond those that they come in. */
export interface SparseRoom {
  bytes: number;
}

/**
 * Reads a Record. Vectors without a shape have their length as shape; sparse ones (`keys`, or a shape and no values) are
 * made dense; bytes are string tensors.
 * @param room for sparse vectors; what the record takes of it is gone for those that are read with it later
 * @throws TensorError MALFORMED, SHAPE_MISMATCH, TOO_LARGE beyond the limits, naming the feature
 */
export function decodeSageMakerRecord(
  bytes: Uint8Array,
  limits: SageMakerRecordLimits = SAGEMAKER_RECORD_LIMITS,
  room: SparseRoom = { bytes: limits.maxSparseBytes },
): SageMakerRecord {
  try {
    return readRecord(bytes, limits, room);
  } catch (cause) {
    if (!(cause instanceof TensorError) || !cause.message.startsWith('protobuf')) throw cause;
    const message = `not an aialgs.data.Record message: ${cause.message}`;
    throw new TensorError('MALFORMED', message, { cause });
  }
}

function readRecord(
  bytes: Uint8Array,
  limits: SageMakerRecordLimits,
  room: SparseRoom,
): SageMakerRecord {
  const features = new Map<string, Tensor>();
  const label = new Map<string, Tensor>();
  let entries = 0;
  forEachField(bytes, (field, wireType, reader) => {
    if (wireType !== WIRE.bytes || (field !== RECORD.features && field !== RECORD.label)) {
      return false;
    }
    const map = field === RECORD.features ? features : label;
    // Those of the same name too: the last counts.
    if (entries++ === limits.maxFeatures) {
      throw new TensorError('TOO_LARGE', `more than ${limits.maxFeatures} features.`);
    }
    const entry = readBytes(reader);
    const [name, tensor] = readEntry(entry, limits, room.bytes);
    if (isNumeric(tensor)) room.bytes -= Math.max(0, tensor.bytes.byteLength - entry.byteLength);
    map.set(name, tensor);
    return true;
  });
  return { features: Object.fromEntries(features), label: Object.fromEntries(label) };
}

/**
 * Writes a Record. It holds float32, float64, int32 and bytes; scalars become vectors of one.
 * @throws TensorError UNSUPPORTED_DTYPE for other dtypes: cast them first
 */
export function encodeSageMakerRecord(features: TensorMap, label: TensorMap = {}): Uint8Array {
  return toBinary(
    RecordSchema,
    Object.assign(create(RecordSchema), { features: valuesOf(features), label: valuesOf(label) }),
  );
}

const RECORD = { features: 1, label: 2 } as const;
const ENTRY = { name: 1, value: 2 } as const;
const VALUE = { float32: 2, float64: 3, int32: 7, bytes: 9 } as const;
const VALUE_FIELDS: ReadonlySet<number> = new Set(Object.values(VALUE));
const VECTOR = { values: 1, keys: 2, shape: 3 } as const;

/** @param left bytes that sparse values may have as a dense tensor, whatever their ratio */
function readEntry(
  entry: Uint8Array,
  limits: SageMakerRecordLimits,
  left: number,
): [string, Tensor] {
  let name = '';
  let value: Uint8Array = new Uint8Array(0);
  forEachField(entry, (field, wireType, reader) => {
    if (wireType !== WIRE.bytes || (field !== ENTRY.name && field !== ENTRY.value)) return false;
    if (field === ENTRY.value) value = readBytes(reader);
    else {
      const bytes = readBytes(reader);
      if (bytes.byteLength > limits.maxNameBytes) {
        throw new TensorError('MALFORMED', `a feature's name has ${bytes.byteLength} bytes.`);
      }
      name = utf8Decode(bytes);
    }
    return true;
  });
  try {
    return [name, readValue(value, limits, left)];
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    throw new TensorError(error.code, `feature "${name}": ${error.message}`, { cause: error });
  }
}

/** The last one of the oneof counts. */
function readValue(bytes: Uint8Array, limits: SageMakerRecordLimits, left: number): Tensor {
  let field = 0;
  let content = bytes;
  forEachField(bytes, (number, wireType, reader) => {
    if (wireType !== WIRE.bytes || !VALUE_FIELDS.has(number)) return false;
    field = number;
    content = readBytes(reader);
    return true;
  });
  const most = Math.min(left, mostBytes(content.byteLength, limits));
  if (field === VALUE.float32) return readVector('float32', content, most);
  if (field === VALUE.float64) return readVector('float64', content, most);
  if (field === VALUE.int32) return readVector('int32', content, most);
  if (field === VALUE.bytes) return readStrings(content, limits);
  throw new TensorError('MALFORMED', 'it has no value.');
}

function readStrings(bytes: Uint8Array, { maxStrings }: SageMakerRecordLimits): Tensor {
  const values: Uint8Array[] = [];
  forEachField(bytes, (field, wireType, reader) => {
    if (field !== VECTOR.values || wireType !== WIRE.bytes) return false;
    if (values.length === maxStrings) {
      throw new TensorError('TOO_LARGE', `more than ${maxStrings} strings.`);
    }
    values.push(readBytes(reader));
    return true;
  });
  return stringTensor([values.length], values);
}

function readVector(
  dtype: 'float32' | 'float64' | 'int32',
  bytes: Uint8Array,
  mostBytes: number,
): Tensor {
  const single = { float32: WIRE.fixed32, float64: WIRE.fixed64, int32: WIRE.varint }[dtype];
  const packed = packedFields(bytes, {
    [VECTOR.values]: single,
    [VECTOR.keys]: WIRE.varint,
    [VECTOR.shape]: WIRE.varint,
  });
  const values = packed(VECTOR.values);
  const keys = packed(VECTOR.keys);
  const sizes = sizesOf(packed(VECTOR.shape));
  const count = dtype === 'int32' ? countVarints(values) : values.byteLength / DTYPES[dtype].size;
  const keyCount = countVarints(keys);
  const shape = sizes.length > 0 ? sizes : [count];
  const elements = elementCount(shape);
  // A sparse vector of zeros alone has no keys either.
  const isDense = keyCount === 0 && (count > 0 || elements === 0);
  if (isDense && count !== elements) {
    throw new TensorError('SHAPE_MISMATCH', `${count} values for shape ${shapeText(shape)}`);
  }
  const dense = numericTensor(dtype, [count], allSteps(decodeValues(dtype, count, values)));
  if (isDense) return { ...dense, shape };
  if (sizes.length === 0) throw new TensorError('MALFORMED', 'sparse values need a shape.');
  if (keyCount !== count) {
    throw new TensorError('MALFORMED', `${keyCount} keys for ${count} values.`);
  }
  return spread(dense, wordsOf(keys), shape, mostBytes);
}

/** Bytes that a sparse vector of `bytes` may have as a dense tensor. */
function mostBytes(bytes: number, limits: SageMakerRecordLimits): number {
  return Math.max(limits.smallSparseBytes, bytes * limits.maxSparseRatio);
}

/** Sparse values as a dense tensor. @param keys two words each */
function spread(
  values: NumericTensor,
  keys: Int32Array,
  shape: readonly number[],
  maxBytes: number,
): Tensor {
  const count = elementCount(shape);
  const { size } = DTYPES[values.dtype];
  if (count * size > maxBytes) {
    const what = `sparse values of shape ${shapeText(shape)} need ${count * size} bytes`;
    throw new TensorError('TOO_LARGE', `${what}. At most ${maxBytes} are made of them.`);
  }
  const out = new Uint8Array(count * size);
  for (let i = 0; 2 * i < keys.length; i++) {
    const low = (keys[2 * i] as number) >>> 0;
    const high = (keys[2 * i + 1] as number) >>> 0;
    if (high > 0 || low >= count) {
      const key = high * 2 ** 32 + low;
      throw new TensorError('SHAPE_MISMATCH', `key ${key} is outside shape ${shapeText(shape)}`);
    }
    for (let byte = 0; byte < size; byte++)
      out[low * size + byte] = values.bytes[i * size + byte] as number;
  }
  return numericTensor(values.dtype, shape, out);
}

/** The packed values of each field that is asked for, by its number, in one pass. */
function packedFields(
  bytes: Uint8Array,
  wires: Readonly<Record<number, ValueWire>>,
): (field: number) => Uint8Array {
  const all = Object.entries(wires).map(
    ([field, wire]) => [Number(field), repeatedValues(wire)] as const,
  );
  const byField = new Map(all);
  forEachField(
    bytes,
    (field, wireType, reader) => byField.get(field)?.take(reader, wireType) ?? false,
  );
  return (field) => byField.get(field)?.packed() ?? new Uint8Array(0);
}

/** Two little-endian words for each varint. */
function wordsOf(packed: Uint8Array): Int32Array {
  const words = new Int32Array(2 * countVarints(packed));
  decodeVarints64(packed, words, 0);
  return words;
}

/** @throws TensorError MALFORMED for more than {@link MAX_RANK} sizes */
function sizesOf(packed: Uint8Array): number[] {
  if (countVarints(packed) > MAX_RANK) {
    throw new TensorError('MALFORMED', `a shape of more than ${MAX_RANK} dimensions.`);
  }
  return Array.from(new BigInt64Array(wordsOf(packed).buffer), Number);
}

function valuesOf(tensors: TensorMap): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [name, protoValueOf(name, tensor)]),
  );
}

function protoValueOf(name: string, tensor: Tensor): Value {
  if (!isNumeric(tensor)) {
    return create(ValueSchema, { value: { case: 'bytes', value: { value: [...tensor.values] } } });
  }
  const { dtype } = tensor;
  if (dtype !== 'float32' && dtype !== 'float64' && dtype !== 'int32') {
    throw new TensorError(
      'UNSUPPORTED_DTYPE',
      `feature "${name}": a Record holds float32, float64, int32 and bytes, not ${dtype}`,
    );
  }
  const values = Array.from(typedArray({ ...tensor, dtype }));
  const value = { values, shape: tensor.shape.map(BigInt) };
  return create(ValueSchema, { value: { case: `${dtype}Tensor`, value } });
}
