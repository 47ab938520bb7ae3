/** Bodies of many records, each an instance: what a record holds is found out from the first. */
import {
  byteLength,
  DTYPES,
  type Signature,
  stringTensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { IMAGE_FORMATS, imageFormat } from '../images/image-format.ts';
import { instanceShape } from '../models/instance-shape.ts';
import { eachInTurns } from '../waiting/in-turns.ts';
import { type DecodeContext, type ReadRequest, recordName } from './codec.ts';
import { type FeatureBatch, featureBatch } from './features.ts';
import { inputError } from './input-error.ts';
import { decodeExample } from './tf-example.ts';

/** What a record takes in memory besides its bytes: a body of empty records must not multiply. */
const RECORD_BYTES = 128;

/** Takes the records of a body as they are split off, and makes the tensors when all are there. */
export interface RecordReader {
  /** @returns bytes made of it beside its own @throws ServingError 4xx naming the record */
  add(record: Uint8Array, index: number): number;
  read(): Promise<ReadRequest> | ReadRequest;
}

/**
 * Splits a body and has each record read at once, in turns of the event loop: the first that does not fit ends it.
 * @param readerFor how records are read, by the first
 * @throws ServingError BAD_INPUT naming the record and its place, or if there is none; REQUEST_TOO_LARGE for more
 *   records than the limits and the signature leave room for
 */
export async function readBody(
  records: Iterable<Uint8Array>,
  context: DecodeContext,
  readerFor: (first: Uint8Array) => RecordReader,
): Promise<ReadRequest> {
  const most = mostRecords(context);
  let reader: RecordReader | undefined;
  let made = 0;
  const add = (record: Uint8Array, index: number) => {
    if (index >= most) throw tooMany(index);
    reader ??= readerFor(record);
    made = reader.add(record, index);
  };
  const { signal } = context;
  try {
    await eachInTurns(records, add, { signal, bytesOf: ({ byteLength }) => byteLength + made });
  } catch (error) {
    throw inputError(error);
  }
  if (reader) return reader.read();
  throw new ServingError('BAD_INPUT', 'the body is empty. Send at least one record.');
}

/** Records that have room in the tensors of one request. */
function mostRecords({ signature, limits }: DecodeContext): number {
  const bytes = Math.max(RECORD_BYTES, leastInstanceBytes(signature));
  return Math.floor(Math.min(limits.maxStrings, Math.max(1, limits.maxDecodedBytes / bytes)));
}

/** Bytes of an instance of the only input, open sizes counted as 1. */
function leastInstanceBytes({ inputs }: Signature): number {
  const [input, ...others] = Object.values(inputs);
  if (!input?.dtype || input.dtype === 'string' || others.length > 0) return 0;
  const sizes = (input.shape ?? []).slice(1).map((size) => Math.max(1, size));
  return sizes.reduce((product, size) => product * size, DTYPES[input.dtype].size);
}

function tooMany(most: number): ServingError {
  return new ServingError(
    'REQUEST_TOO_LARGE',
    `more than ${most} records in a request. Send fewer at a time.`,
  );
}

/**
 * Reads records: images, or tf.Examples whose features are named after inputs. For a signature whose only input
 * is a DT_STRING, records that are neither are the strings.
 * @throws ServingError as {@link readBody}
 */
export function readRecords(
  records: Iterable<Uint8Array>,
  context: DecodeContext,
): Promise<ReadRequest> {
  const text = onlyStringInput(context);
  return readBody(records, context, (first) => {
    const isImage = imageFormat(first) !== undefined;
    if (text === undefined) return isImage ? imageRecords() : exampleRecords(context);
    const example = isImage ? undefined : decodeExample(first, context.limits);
    const isExample = example !== undefined && Object.hasOwn(example, text);
    return isExample ? exampleRecords(context) : stringRecords(text, context);
  });
}

/** Every record as the string of one instance. */
export function stringRecords(input: string, context: DecodeContext): RecordReader {
  const records: Uint8Array[] = [];
  return {
    add: (record) => keep(records, record),
    read: () => ({ inputs: stringsToTensors(records, input, context), form: 'row' }),
  };
}

function imageRecords(): RecordReader {
  const images: Uint8Array[] = [];
  return {
    add: (record) => keep(images, record),
    read: () => ({ inputs: {}, form: 'row', pictures: [{ input: undefined, images }] }),
  };
}

/** Nothing is made of a record that is kept as it lies. */
function keep(records: Uint8Array[], record: Uint8Array): number {
  records.push(record);
  return 0;
}

function exampleRecords(context: DecodeContext): RecordReader {
  return featureRecords(context, (record, index) => {
    const decoded = decodeExample(record, context.limits);
    if (decoded) return decoded;
    const kind = index === 0 ? `neither an image (${IMAGE_FORMATS}) nor` : 'not';
    const message = `${recordName(context, index)} is ${kind} a tf.Example with features.`;
    throw new ServingError('BAD_INPUT', message);
  });
}

/** Records of named features, as `read` has them. */
export function featureRecords(
  context: DecodeContext,
  read: (record: Uint8Array, index: number) => TensorMap,
): RecordReader {
  let batch: FeatureBatch | undefined;
  return {
    add(record, index) {
      const features = read(record, index);
      batch ??= featureBatch(features, context);
      batch.add(features, index);
      return Object.values(features).reduce((sum, tensor) => sum + byteLength(tensor), 0);
    },
    read: async () => ({ inputs: {}, form: 'row', ...(await batch?.read()) }),
  };
}

/** The only input where it is a DT_STRING. */
export function onlyStringInput({ signature }: DecodeContext): string | undefined {
  const [input, ...others] = Object.entries(signature.inputs);
  return input && others.length === 0 && input[1].dtype === 'string' ? input[0] : undefined;
}

/** Every record as the string of one instance. */
export function stringsToTensors(
  records: readonly Uint8Array[],
  input: string,
  { signature }: DecodeContext,
): TensorMap {
  const words = { rows: 'records', values: 'value' };
  const shape = instanceShape(input, signature.inputs[input]?.shape, records.length, 1, words);
  return { [input]: stringTensor(shape, records) };
}
