/** A tf.Example made up from what a graph parses. */
import { create, toBinary } from '@bufbuild/protobuf';
import { isPictureInput } from '@sagemaker-tfs/manifest';
import type { Signature } from '@sagemaker-tfs/tensors';
import {
  ExampleSchema,
  type Feature,
  FeatureSchema,
  FeaturesSchema,
} from '@sagemaker-tfs/tensors/protos';
import {
  type ExampleFeature,
  type ExampleFeatures,
  readExampleFeatures,
} from '../saved-model/example-features.ts';
import { examplePng } from './png.ts';
import { PICTURE_SIDE, takesExamples } from './synthetic.ts';

/** Values of one feature at most: an example is held in memory several times over. */
const MAX_VALUES = 10_000_000;

/**
 * A serialized example with every feature that the graph parses: zeros, and for strings a picture or the text `0`.
 * @returns an empty one where the signature takes none, or the graph does not tell
 */
export function syntheticExample(directory: string, signature: Signature): Uint8Array {
  return takesExamples(signature) ? exampleOf(readExampleFeatures(directory)) : new Uint8Array(0);
}

/** The same for features that are known. */
export function exampleOf(features: ExampleFeatures): Uint8Array {
  const feature = Object.fromEntries(
    [...features].map(([name, one]) => [name, featureOf(name, one)]),
  );
  if (features.size === 0) return new Uint8Array(0);
  const all = Object.assign(create(FeaturesSchema), { feature });
  return toBinary(ExampleSchema, create(ExampleSchema, { features: all }));
}

function featureOf(name: string, { dtype, count }: ExampleFeature): Feature {
  const length = Math.min(count, MAX_VALUES);
  const filled = <T>(value: T) => new Array<T>(length).fill(value);
  if (dtype === 'string') {
    const isPicture = isPictureInput(name);
    const text = isPicture ? examplePng(PICTURE_SIDE, PICTURE_SIDE) : Buffer.from('0');
    return create(FeatureSchema, { kind: { case: 'bytesList', value: { value: filled(text) } } });
  }
  return dtype === 'int64'
    ? create(FeatureSchema, { kind: { case: 'int64List', value: { value: filled(0n) } } })
    : create(FeatureSchema, { kind: { case: 'floatList', value: { value: filled(0) } } });
}
