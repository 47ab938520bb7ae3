/** Which signatures change the model that they run on, and which need XLA. */
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { compilingSignatures, writingSignatures } from './run-traits.ts';
import { readSavedModel } from './saved-model.ts';

const FIXTURES = join(__dirname, '..', '..', '..', 'test', 'fixtures');
const EXPORTS = join(FIXTURES, 'tf1-exports');

function writingOf(directory: string): string[] {
  const [graph] = readSavedModel(directory).metaGraphs;
  return [...writingSignatures(directory, graph?.signatures ?? {})].sort();
}

test('those that assign, and not those that read', () => {
  expect(writingOf(join(EXPORTS, 'counter', '1'))).toEqual(['incr_counter_by', 'reset_counter']);
});

test.each(['half_plus_two', 'keras_functional', 'text_vocabulary', 'tf1_classifier', 'detection'])(
  'none of %s, which restores its variables and fills its tables as it is loaded',
  (name) => {
    expect(writingOf(fixtureModel(name).directory)).toEqual([]);
  },
);

function compilingOf(directory: string): string[] {
  const [graph] = readSavedModel(directory).metaGraphs;
  return [...compilingSignatures(directory, graph?.signatures ?? {})];
}

test('those that run a function with jit_compile=True, and not others of the same model', () => {
  expect(compilingOf(join(FIXTURES, 'jit-compile', 'model', '1'))).toEqual(['serving_default']);
  expect(compilingOf(fixtureModel('half_plus_two').directory)).toEqual([]);
});
