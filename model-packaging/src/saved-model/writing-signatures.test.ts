/** Which signatures change the model that they run on. */
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { readSavedModel } from './saved-model.ts';
import { writingSignatures } from './writing-signatures.ts';

const EXPORTS = join(__dirname, '..', '..', '..', 'test', 'fixtures', 'tf1-exports');

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
