/** The media type of a run's inputs, where the app does not name it. */
import { resolve } from 'node:path';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import type { Stack } from 'aws-cdk-lib/core';
import {
  BatchTransform,
  BatchWorker,
  type IModel,
  ModelData,
  TensorFlowModel,
} from '../../lib/index.ts';
import { testModel, testStack } from '../support/stacks.ts';

const FIXTURES = resolve('test/fixtures/models');
const bucketOf = (stack: Stack): IBucket => Bucket.fromBucketName(stack, 'Bucket', 'data');
const places = (stack: Stack) => {
  const bucket = bucketOf(stack);
  return { input: { bucket, prefix: 'in/' }, output: { bucket, prefix: 'out/' } };
};

type MakeModel = (stack: Stack) => IModel;
const packaged =
  (directory: string): MakeModel =>
  (stack) =>
    testModel(stack, { modelData: ModelData.fromDirectory(directory) });

const MODELS: [what: string, model: MakeModel, expected: string | RegExp][] = [
  ['of pixels', packaged(resolve('examples/digits/model')), 'application/x-image'],
  ['of encoded pictures', packaged(resolve('examples/tiles/model')), 'application/x-image'],
  [
    'of numbers',
    packaged(`${FIXTURES}/half_plus_two`),
    /\/(Batch|Worker): contentType: the model takes 'x' \(float32 \[-1, 1\]\), which may come in several formats\. Set contentType, for example 'text\/csv'/,
  ],
  [
    'of columns',
    packaged(resolve('examples/tabular/model')),
    /contentType: the model takes 'district' \(string \[-1\]\), 'kilometers'/,
  ],
  ['of texts', packaged(`${FIXTURES}/strings`), /contentType: the model takes /],
  [
    'that is there already',
    (stack) => TensorFlowModel.fromModelName(stack, 'Model', 'm'),
    /contentType: nothing here shows what the model takes\. Set contentType/,
  ],
];

test.each(MODELS)('a batch transform of a model %s', (_, model, expected) => {
  const stack = testStack({ bundle: true });
  const make = () =>
    new BatchTransform(stack, 'Batch', { model: model(stack), ...places(stack) }).defaults;
  if (expected instanceof RegExp) expect(make).toThrow(expected);
  else expect(make().contentType).toBe(expected);
});

test('a worker decides it in the same way, and what is given stays', () => {
  const worker = (id: string, props: { contentType?: string }, directory: string) => {
    const stack = testStack({ bundle: true });
    return new BatchWorker(stack, id, {
      model: packaged(directory)(stack) as TensorFlowModel,
      vpc: new Vpc(stack, 'Vpc'),
      ...places(stack),
      ...props,
    });
  };
  expect(() => worker('Worker', {}, `${FIXTURES}/half_plus_two`)).toThrow(/contentType: the model/);
  worker('Worker', { contentType: 'text/csv' }, `${FIXTURES}/half_plus_two`);
  worker('Worker', {}, resolve('examples/digits/model'));
});
