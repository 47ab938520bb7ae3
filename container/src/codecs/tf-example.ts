/**
 * Reads tf.Example messages (tensorflow/core/example/example.proto, feature.proto) as tensors by feature. By
 * hand, since requests hold millions of values: floats and bytes are views, and memory grows with the bytes.
 */
import {
  numericTensor,
  stringTensor,
  type Tensor,
  TensorError,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { countVarints, decodeVarints64 } from '@sagemaker-tfs/tensors/packed-varints';
import { repeatedValues, type ValueWire } from '@sagemaker-tfs/tensors/repeated-values';
import { forEachField, readBytes, readString, WIRE } from '@sagemaker-tfs/tensors/wire-reader';
import type { DecodeLimits } from '../decode-limits.ts';

/** What an example may make its reader allocate. */
export type ExampleLimits = Pick<DecodeLimits, 'maxFeatures' | 'maxStrings'>;

/** A feature without a list: TensorFlow takes it for one that is missing, which it does not do with an empty list. */
export const NO_LIST: Tensor = numericTensor('float32', [0], new Float32Array(0));

/**
 * The features of a serialized tf.Example as vectors: float32, int64, string or {@link NO_LIST}.
 * @returns undefined if the bytes are none, or one without features
 * @throws TensorError TOO_LARGE for one of too many features or strings
 */
export function decodeExample(bytes: Uint8Array, limits: ExampleLimits): TensorMap | undefined {
  const { maxFeatures } = limits;
  try {
    const features = new Map<string, Tensor>();
    let messages = 0;
    let entries = 0;
    forEachMessage(bytes, 1, (message) => {
      // Writers make one; each costs as much to read as a feature.
      if (messages++ === maxFeatures) throw tooMany('messages of features', maxFeatures);
      forEachMessage(message, 1, (entry) => {
        if (entries++ === maxFeatures) throw tooMany('features', maxFeatures);
        const [name, tensor] = readEntry(entry, limits);
        features.set(name, tensor);
      });
    });
    return features.size > 0 ? Object.fromEntries(features) : undefined;
  } catch (error) {
    if (error instanceof TensorError && error.code !== 'TOO_LARGE') return undefined;
    throw error;
  }
}

function forEachMessage(
  bytes: Uint8Array,
  number: number,
  onMessage: (content: Uint8Array) => void,
): void {
  forEachField(bytes, (field, wireType, reader) => {
    if (field !== number || wireType !== WIRE.bytes) return false;
    onMessage(readBytes(reader));
    return true;
  });
}

/** A map entry: the name, and the `Feature`. */
function readEntry(entry: Uint8Array, limits: ExampleLimits): [string, Tensor] {
  let name = '';
  let tensor: Tensor = NO_LIST;
  forEachField(entry, (field, wireType, reader) => {
    if (wireType !== WIRE.bytes || (field !== 1 && field !== 2)) return false;
    if (field === 1) name = readString(reader);
    else tensor = readFeature(readBytes(reader), tensor, limits);
    return true;
  });
  return [name, tensor];
}

/** The last list of the oneof counts, as in every protobuf reader. */
function readFeature(
  feature: Uint8Array,
  otherwise: Tensor,
  { maxStrings }: ExampleLimits,
): Tensor {
  let tensor = otherwise;
  const lists = {
    1: (list: Uint8Array) => readBytesList(list, maxStrings),
    2: readFloatList,
    3: readInt64List,
  };
  forEachField(feature, (field, wireType, reader) => {
    if (wireType !== WIRE.bytes || !(field in lists)) return false;
    tensor = lists[field as keyof typeof lists](readBytes(reader));
    return true;
  });
  return tensor;
}

function readBytesList(list: Uint8Array, maxStrings: number): Tensor {
  const values: Uint8Array[] = [];
  forEachMessage(list, 1, (value) => {
    if (values.length === maxStrings) throw tooMany('strings in a feature', maxStrings);
    values.push(value);
  });
  return stringTensor([values.length], values);
}

function readFloatList(list: Uint8Array): Tensor {
  const packed = packedValues(list, WIRE.fixed32);
  return numericTensor('float32', [packed.byteLength / 4], packed);
}

function readInt64List(list: Uint8Array): Tensor {
  const packed = packedValues(list, WIRE.varint);
  const count = countVarints(packed);
  const words = new Int32Array(count * 2);
  decodeVarints64(packed, words, 0);
  return numericTensor('int64', [count], new BigInt64Array(words.buffer));
}

/** The values of a list: packed, as all writers do it, or a field a value. */
function packedValues(list: Uint8Array, single: ValueWire): Uint8Array {
  const values = repeatedValues(single);
  forEachField(list, (field, wireType, reader) => field === 1 && values.take(reader, wireType));
  return values.packed();
}

function tooMany(what: string, limit: number): TensorError {
  return new TensorError('TOO_LARGE', `more than ${limit} ${what}`);
}
