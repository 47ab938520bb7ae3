/**
 * Serializes tensors as tf.Example messages (tensorflow/core/example/example.proto, feature.proto). By hand, since
 * answers hold millions of floats: a packed float_list is the tensor's own bytes.
 */
import {
  cast,
  elementCount,
  isNumeric,
  type Tensor,
  type TensorMap,
  typedArray,
} from '@sagemaker-tfs/tensors';
import { encodeVarints, writeVarint } from '@sagemaker-tfs/tensors/packed-varints';

/** Field numbers of `Feature`'s oneof. */
const FEATURE = { bytesList: 1, floatList: 2, int64List: 3 } as const;
const LENGTH_DELIMITED = 2;

/** The list of one feature: its field in `Feature`, and the contents of its own fields, all number 1. */
interface ValueList {
  readonly name: Uint8Array;
  /** Undefined for a feature of no kind. */
  readonly kind: number | undefined;
  readonly values: readonly Uint8Array[];
  /** Bytes of the list message. */
  readonly length: number;
}

/**
 * A feature for each tensor, flattened: floats as float_list (float64 loses digits), integers and bool as
 * int64_list (uint64 as the int64 of the same bits), strings as bytes_list.
 * @param options.kindOfEmpty whether a tensor without elements is an empty list of its kind; else it is a feature of no
 *   kind, which `parse_example` takes for one left out. Default: true
 */
export function encodeExample(
  tensors: TensorMap,
  { kindOfEmpty = true }: { readonly kindOfEmpty?: boolean } = {},
): Uint8Array {
  const lists = Object.entries(tensors).map(([name, tensor]) => {
    return valueList(name, tensor, kindOfEmpty);
  });
  const features = lists.reduce((sum, list) => sum + fieldLength(entryLength(list)), 0);
  const out = Buffer.allocUnsafe(fieldLength(features));
  let at = writeHeader(out, 0, 1, features);
  for (const list of lists) {
    at = writeHeader(out, at, 1, entryLength(list));
    at = writeField(out, at, 1, list.name);
    at = writeHeader(out, at, 2, featureLength(list));
    if (list.kind === undefined) continue;
    at = writeHeader(out, at, list.kind, list.length);
    for (const value of list.values) at = writeField(out, at, 1, value);
  }
  return out;
}

function valueList(name: string, tensor: Tensor, kindOfEmpty: boolean): ValueList {
  if (!kindOfEmpty && elementCount(tensor.shape) === 0) {
    return { kind: undefined, values: [], length: 0, name: Buffer.from(name) };
  }
  const { kind, values } = valuesOf(tensor);
  const length = values.reduce((sum, { byteLength }) => sum + fieldLength(byteLength), 0);
  return { name: Buffer.from(name), kind, values, length };
}

function valuesOf(tensor: Tensor): Pick<ValueList, 'kind' | 'values'> {
  if (!isNumeric(tensor)) return { kind: FEATURE.bytesList, values: tensor.values };
  if (tensor.dtype.includes('float')) {
    return { kind: FEATURE.floatList, values: [cast(tensor, 'float32').bytes] };
  }
  const int64 = typedArray({ ...cast(tensor, 'int64'), dtype: 'int64' });
  return { kind: FEATURE.int64List, values: [encodeVarints(int64)] };
}

/** A map entry: the name, and the `Feature` that holds the list. */
function entryLength(list: ValueList): number {
  return fieldLength(list.name.byteLength) + fieldLength(featureLength(list));
}

function featureLength({ kind, length }: ValueList): number {
  return kind === undefined ? 0 : fieldLength(length);
}

/** Bytes of a length-delimited field: tag, length, content. */
function fieldLength(content: number): number {
  let length = 2;
  for (let rest = content; rest > 127; rest = Math.floor(rest / 128)) length += 1;
  return length + content;
}

function writeHeader(out: Uint8Array, at: number, number: number, length: number): number {
  out[at] = (number << 3) | LENGTH_DELIMITED;
  return writeVarint(out, at + 1, length, 0);
}

function writeField(out: Uint8Array, at: number, number: number, content: Uint8Array): number {
  const start = writeHeader(out, at, number, content.byteLength);
  out.set(content, start);
  return start + content.byteLength;
}
