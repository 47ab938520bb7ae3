/** Signatures in whose graphs values of a request set sizes, and others, in all the ways that make_models.py knows. */
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { SavedModelSession } from '../index.ts';
import { valueSizesInTurns } from './index.ts';

const fixture = (name: string) => join(__dirname, '..', '..', 'fixtures', name);

async function signaturesOf(directory: string): Promise<string[]> {
  const session = await SavedModelSession.load(directory);
  try {
    return Object.keys(session.signatures).sort();
  } finally {
    await session.close();
  }
}

test('each signature where values set a size is found, whatever lies between', async () => {
  const directory = fixture('sizes_from_values');
  const keys = await signaturesOf(directory);
  expect(keys.length).toBeGreaterThan(30);
  expect([...(await valueSizesInTurns(directory)).keys()].sort()).toEqual(keys);
});

test('none is found where shapes and the model set the sizes, or the model bounds a value', async () => {
  const directory = fixture('sizes_from_shapes');
  expect((await signaturesOf(directory)).length).toBeGreaterThan(15);
  expect(await valueSizesInTurns(directory)).toEqual(new Map());
});

test.each([
  ['half_plus_two', []],
  ['multi_signature', []],
  ['keras_functional', []],
  ['tf1_classifier', []],
  ['detection', []],
  ['default_inputs', []],
  // A loop around which a value decides; rows whose lengths are values.
  ['busy', ['serving_default']],
  ['ragged_rows', ['serving_default']],
])('%s', async (name, found) => {
  const sizes = await valueSizesInTurns(fixtureModel(name).directory);
  expect([...sizes.keys()]).toEqual(found);
});

test('an operation that is not known here counts where it gets values', async () => {
  const sizes = await valueSizesInTurns(fixtureModel('custom_op').directory);
  expect([...sizes.values()]).toContainEqual(
    expect.objectContaining({ op: 'ExampleCustomOp', isKnown: false }),
  );
});
