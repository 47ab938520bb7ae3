import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { readExampleFeatures } from './example-features.ts';

test('ParseExample before V2, V2, and no parser', () => {
  const features = (name: string) =>
    Object.fromEntries(readExampleFeatures(fixtureModel(name).directory));
  expect(features('tf1_classifier')).toEqual({
    size: { dtype: 'float32', count: 2 },
    count: { dtype: 'int64', count: 1 },
    color: { dtype: 'string', count: 1 },
  });
  expect(features('half_plus_two')).toEqual({
    x: { dtype: 'float32', count: 1 },
    x2: { dtype: 'float32', count: 1 },
  });
  expect(features('shapes')).toEqual({});
});

test('a model of TensorFlow 1', () => {
  const directory = join(__dirname, '../../../test/fixtures/tf1-exports/half_plus_three/1');
  expect(Object.fromEntries(readExampleFeatures(directory))).toEqual({
    x: { dtype: 'float32', count: 1 },
  });
});
