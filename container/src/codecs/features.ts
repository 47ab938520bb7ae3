/** Records of named features (tf.Example, SageMaker's Record) to batch tensors. */
import { PREPROCESS_DEFAULTS } from '@sagemaker-tfs/manifest';
import {
  concat,
  reshape,
  type Signature,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import type { DecodeContext } from './codec.ts';
import { fitInput } from './fit-input.ts';
import { reading, shortened } from './input-error.ts';
import { instanceShape } from './instance-shape.ts';

/** The feature that SageMaker's own algorithms read. */
const VALUES = 'values';

/**
 * A batch for each input that the first record has a feature for; features that are no input are passed
 * over. A feature of bytes for an input of numbers is an encoded image.
 * @throws ServingError 4xx naming the record
 */
export async function featuresToTensors(
  records: readonly TensorMap[],
  context: DecodeContext,
): Promise<TensorMap> {
  const { signature } = context;
  const first = records[0] ?? {};
  const featureOf = featureNames(first, signature);
  const entries = await Promise.all(
    Object.entries(featureOf).map(async ([input, feature]) => {
      const rows = records.map((record, index) => requireFeature(record, feature, index));
      return [input, await batchOf(rows, input, context)] as const;
    }),
  );
  return Object.fromEntries(entries);
}

/** The feature for each input. */
function featureNames(first: TensorMap, { key, inputs }: Signature): Record<string, string> {
  const names = Object.keys(inputs);
  const known = names.filter((name) => Object.hasOwn(first, name));
  if (known.length > 0) return Object.fromEntries(known.map((name) => [name, name]));
  if (names.length === 1 && Object.hasOwn(first, VALUES)) return { [names[0] as string]: VALUES };
  throw new ServingError(
    'UNKNOWN_INPUT',
    `record 0 has the features ${featureList(first)}, none of which is an input of signature '${key}' (${names.join(', ')})`,
  );
}

/** The first of them; there may be any number. */
function featureList(record: TensorMap): string {
  const names = Object.keys(record);
  const shown = names.slice(0, 10).map(shortened).join(', ');
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

function requireFeature(record: TensorMap, feature: string, index: number): Tensor {
  const tensor = Object.hasOwn(record, feature) ? record[feature] : undefined;
  if (tensor) return tensor;
  throw new ServingError('BAD_INPUT', `record ${index} lacks the feature '${feature}' of record 0`);
}

async function batchOf(
  rows: readonly Tensor[],
  input: string,
  context: DecodeContext,
): Promise<Tensor> {
  const spec = context.signature.inputs[input];
  if (rows[0]?.dtype === 'string' && spec?.dtype !== 'string') {
    return imageBatch(rows, input, context);
  }
  const flat = rows.map((row) => {
    const size = row.shape.reduce((product, length) => product * length, 1);
    return reshape(row, [1, size]);
  });
  const width = flat[0]?.shape[1] ?? 0;
  const odd = flat.findIndex(({ shape, dtype }) => shape[1] !== width || dtype !== flat[0]?.dtype);
  if (odd >= 0) {
    throw new ServingError(
      'BAD_INPUT',
      `record ${odd} has ${flat[odd]?.shape[1]} ${flat[odd]?.dtype} values for '${input}', record 0 has ${width} ${flat[0]?.dtype}`,
    );
  }
  const words = { rows: 'records', values: 'values' };
  const shape = instanceShape(input, spec?.shape, rows.length, width, words);
  const batch = reading(() => reshape(concat(flat), shape));
  return fitInput(batch, input, context.signature);
}

async function imageBatch(
  rows: readonly Tensor[],
  input: string,
  context: DecodeContext,
): Promise<Tensor> {
  const images = rows.map((row, index) => {
    const [image, ...others] = row.dtype === 'string' ? row.values : [];
    if (image && others.length === 0) return image;
    throw new ServingError('BAD_INPUT', `record ${index} must have one image for '${input}'`);
  });
  const preprocess = { ...PREPROCESS_DEFAULTS, ...context.preprocess, input };
  // Only then: what reads text needs no image libraries.
  const { imagesToTensors } = await import('../images/image-to-tensor.ts');
  const tensors = await imagesToTensors(
    images,
    { ...context, preprocess },
    (index) => `record ${index}, '${input}'`,
  );
  return tensors[input] as Tensor;
}
