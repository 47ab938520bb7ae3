/** Records of named features (tf.Example, SageMaker's Record) to batch tensors. */
import {
  byteLength,
  elementCount,
  numericTensor,
  own,
  stringTensor,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { instanceShape } from '../models/instance-shape.ts';
import { eachInTurns } from '../waiting/in-turns.ts';
import { type DecodeContext, type HeldPictures, type ReadRequest, recordName } from './codec.ts';
import { fitLargeInput } from './fit-thread.ts';
import { withPictures } from './held-pictures.ts';
import { reading, shortened } from './input-error.ts';

/** The feature that SageMaker's own algorithms read. */
const VALUES = 'values';

/** Takes records one by one; the first decides which features are read, their types and sizes. */
export interface FeatureBatch {
  /** @throws ServingError BAD_INPUT naming the record, where it lacks a feature or has another size of it */
  add(record: TensorMap, index: number): void;
  /** A batch for each input, or its pictures. @throws ServingError 4xx */
  read(): Promise<Pick<ReadRequest, 'inputs' | 'pictures'>>;
}

/**
 * A batch for each input that the first record has a feature for; features that are no input are passed
 * over. A feature of bytes for an input of numbers is an encoded image.
 * @throws ServingError UNKNOWN_INPUT, or BAD_INPUT where the first record is no instance of the signature
 */
export function featureBatch(first: TensorMap, context: DecodeContext): FeatureBatch {
  const columns = Object.entries(featureNames(first, context)).map(([input, feature]) => ({
    feature,
    column: columnOf(first, feature, input, context),
  }));
  const left = Object.keys(context.signature.inputs).filter((name) =>
    columns.every(({ column }) => column.input !== name),
  );
  return {
    add(record, index) {
      refuseLater(record, left, index, context);
      for (const { feature, column } of columns) {
        column.add(requireFeature(record, feature, index, context), index);
      }
    },
    async read() {
      const inputs: [string, Tensor][] = [];
      const pictures: HeldPictures[] = [];
      for (const { column } of columns) {
        const batch = await column.batch();
        if ('images' in batch) pictures.push(batch);
        else inputs.push([column.input, batch]);
      }
      return { inputs: Object.fromEntries(inputs), pictures };
    },
  };
}

/** The batches of records that are all there. @throws ServingError as {@link FeatureBatch} */
export async function featuresToTensors(
  records: readonly TensorMap[],
  context: DecodeContext,
): Promise<TensorMap> {
  const batch = featureBatch(records[0] ?? {}, context);
  await eachInTurns(records, (record, index) => batch.add(record, index), context);
  const { inputs } = await withPictures({ ...(await batch.read()), form: 'row' }, context);
  return inputs;
}

/** The feature for each input. */
function featureNames(first: TensorMap, context: DecodeContext): Record<string, string> {
  const { key, inputs } = context.signature;
  const names = Object.keys(inputs);
  const known = names.filter((name) => Object.hasOwn(first, name));
  if (known.length > 0) return Object.fromEntries(known.map((name) => [name, name]));
  if (names.length === 1 && Object.hasOwn(first, VALUES)) return { [names[0] as string]: VALUES };
  throw new ServingError(
    'UNKNOWN_INPUT',
    `${recordName(context, 0)} has the features ${featureList(first)}, but none is an input of signature '${key}' (${names.join(', ')}).`,
  );
}

/** The first of them; there may be any number. */
function featureList(record: TensorMap): string {
  const names = Object.keys(record);
  const shown = names.slice(0, 10).map(shortened).join(', ');
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

function requireFeature(
  record: TensorMap,
  feature: string,
  index: number,
  context: DecodeContext,
): Tensor {
  const tensor = own(record, feature);
  if (tensor) return tensor;
  throw new ServingError(
    'BAD_INPUT',
    `${recordName(context, index)} lacks the feature '${feature}' of ${recordName(context, 0)}.`,
  );
}

/** An input that the first record leaves to its default has that default in every record. @throws ServingError BAD_INPUT */
function refuseLater(
  record: TensorMap,
  left: readonly string[],
  index: number,
  context: DecodeContext,
): void {
  const later = left.find((name) => Object.hasOwn(record, name));
  if (later === undefined) return;
  throw new ServingError(
    'BAD_INPUT',
    `${recordName(context, index)} has the feature '${later}', which ${recordName(context, 0)} lacks. All records of a request must have it, or none.`,
  );
}

/** What all records have for one input. */
interface Column {
  readonly input: string;
  add(row: Tensor, index: number): void;
  batch(): Promise<Tensor | HeldPictures>;
}

function columnOf(
  record: TensorMap,
  feature: string,
  input: string,
  context: DecodeContext,
): Column {
  const first = requireFeature(record, feature, 0, context);
  const isImage = first.dtype === 'string' && context.signature.inputs[input]?.dtype !== 'string';
  return isImage ? imageColumn(input, context) : valueColumn(first, input, context);
}

const WORDS = { rows: 'records', values: 'values' };

function valueColumn(first: Tensor, input: string, context: DecodeContext): Column {
  const shape = context.signature.inputs[input]?.shape;
  const width = elementCount(first.shape);
  // Of the one record that is known it is the instance that must fit, not their number.
  const count = Math.max(1, shape?.[0] ?? 1);
  reading(() => instanceShape(input, shape, count, width, WORDS), recordName(context, 0));
  const rows: Tensor[] = [];
  return {
    input,
    add(row, index) {
      const size = elementCount(row.shape);
      if (size === width && row.dtype === first.dtype) {
        rows.push(row);
        return;
      }
      throw new ServingError(
        'BAD_INPUT',
        `${recordName(context, index)} has ${size} ${row.dtype} values for '${input}', ${recordName(context, 0)} has ${width} ${first.dtype}`,
      );
    },
    async batch() {
      const batchShape = instanceShape(input, shape, rows.length, width, WORDS);
      const batch = await joined(rows, first, batchShape, context);
      return fitLargeInput(batch, input, context);
    },
  };
}

/** Rows of one type and size as one tensor. */
async function joined(
  rows: readonly Tensor[],
  first: Tensor,
  shape: readonly number[],
  { signal }: DecodeContext,
): Promise<Tensor> {
  if (first.dtype === 'string') {
    const values: Uint8Array[] = [];
    const add = (row: Tensor) => {
      for (const value of row.dtype === 'string' ? row.values : []) values.push(value);
    };
    await eachInTurns(rows, add, { signal, bytesOf: byteLength });
    return stringTensor(shape, values);
  }
  const size = byteLength(first);
  const bytes = new Uint8Array(rows.length * size);
  const add = (row: Tensor, index: number) => {
    if (row.dtype !== 'string') bytes.set(row.bytes, index * size);
  };
  await eachInTurns(rows, add, { signal, bytesOf: byteLength });
  return numericTensor(first.dtype, shape, bytes);
}

function imageColumn(input: string, context: DecodeContext): Column {
  const images: Uint8Array[] = [];
  return {
    input,
    add(row, index) {
      const [image, ...others] = row.dtype === 'string' ? row.values : [];
      if (!image || others.length > 0) {
        const message = `${recordName(context, index)} must have one image for '${input}'.`;
        throw new ServingError('BAD_INPUT', message);
      }
      images.push(image);
    },
    batch: async () => ({ input, images }),
  };
}
