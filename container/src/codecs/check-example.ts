/**
 * Whether bytes are a serialized tf.Example (tensorflow/core/example/example.proto), by the rules of the C++ reader:
 * TensorFlow Serving answers a request that it cannot read with an error without a text. Nothing is kept of what is read.
 */
import { isUtf8 } from 'node:buffer';
import { TensorError } from '@sagemaker-tfs/tensors';
import { forEachField, readBytes, WIRE } from '@sagemaker-tfs/tensors/wire-reader';
import type { ExampleLimits } from './tf-example.ts';

type OnBytes = (content: Uint8Array, field: number) => void;

/** @throws TensorError MALFORMED, or TOO_LARGE for one of too many features or strings */
export function checkExample(bytes: Uint8Array, { maxFeatures, maxStrings }: ExampleLimits): void {
  const countMessage = counter('messages of features', maxFeatures);
  const countFeature = counter('features', maxFeatures);
  const countList = counter('lists of features', maxFeatures);
  const countString = counter('strings', maxStrings);
  const checkLists: OnBytes = (list, kind) => {
    countList();
    if (kind === BYTES_LIST) forEachBytes(list, [VALUES], countString);
    else if (kind === FLOAT_LIST) forEachBytes(list, [VALUES], checkFloats, WIRE.fixed32);
    else forEachBytes(list, [VALUES], checkVarints, WIRE.varint);
  };
  forEachBytes(bytes, [FEATURES], (features) => {
    countMessage();
    forEachBytes(features, [ENTRY], (entry) => {
      countFeature();
      forEachField(entry, (field, wireType, reader) => {
        if (wireType !== WIRE.bytes) throw malformed(`field ${field} is of wire type ${wireType}`);
        const content = readBytes(reader);
        if (field === FEATURE) forEachBytes(content, LISTS, checkLists);
        else if (field !== KEY) throw malformed(`a feature has a field ${field}`);
        else if (!isUtf8(content)) throw malformed('the name of a feature is not UTF-8.');
        return true;
      });
    });
  });
}

/** Field numbers of Example, Features, its map's entries, Feature and its lists. */
const FEATURES = 1;
const ENTRY = 1;
const KEY = 1;
const FEATURE = 2;
const BYTES_LIST = 1;
const FLOAT_LIST = 2;
const INT64_LIST = 3;
const LISTS = [BYTES_LIST, FLOAT_LIST, INT64_LIST];
const VALUES = 1;

/** @param single wire type of a value by itself, which is passed over. Readers differ about any other: it is refused. */
function forEachBytes(
  bytes: Uint8Array,
  fields: readonly number[],
  onBytes: OnBytes,
  single?: number,
): void {
  forEachField(bytes, (field, wireType, reader) => {
    if (!fields.includes(field) || wireType === single) return false;
    if (wireType !== WIRE.bytes) throw malformed(`field ${field} is of wire type ${wireType}`);
    onBytes(readBytes(reader), field);
    return true;
  });
}

/** Floats that are packed; single ones are fields of a fixed size. */
function checkFloats(run: Uint8Array): void {
  if (run.byteLength % 4 > 0) throw malformed('a float is cut short.');
}

function checkVarints(run: Uint8Array): void {
  let length = 0;
  for (let at = 0; at < run.length; at++) {
    length = (run[at] as number) < 0x80 ? 0 : length + 1;
    if (length === LONGEST_VARINT) throw malformed('an integer of more than 10 bytes.');
  }
  if (length > 0) throw malformed('an integer is cut short.');
}

const LONGEST_VARINT = 10;

function counter(what: string, most: number): () => void {
  let count = 0;
  return () => {
    if (count++ === most) throw new TensorError('TOO_LARGE', `more than ${most} ${what}`);
  };
}

function malformed(message: string): TensorError {
  return new TensorError('MALFORMED', message);
}
