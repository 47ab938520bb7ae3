/** Models that have lost their variables are refused; those that have none are not. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { checkVariables } from './check-variables.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'check-variables-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function withoutVariables(name: string, version: string) {
  const directory = join(root, name, version);
  await cp(join(fixtureModel(name).basePath, version), directory, { recursive: true });
  await rm(join(directory, 'variables'), { recursive: true, force: true });
  return { basePath: join(root, name), versions: [version] };
}

test.each([
  ['keras_functional', '1'],
  ['tf1_classifier', '1'],
  ['half_plus_two', '1'],
  ['half_plus_two', '2'],
])('%s/%s without its variables', async (name, version) => {
  const model = await withoutVariables(name, version);
  await expect(checkVariables([model])).rejects.toMatchObject({
    code: 'MODELS_INVALID',
    message: expect.stringContaining(
      `${join(root, name, version, 'variables', 'variables.index')} is missing`,
    ),
  });
});

test.each(['object_names', 'tf1_vocabulary', 'sparse_input', 'strings', 'busy', 'image_uint8'])(
  '%s needs no variables',
  async (name) => {
    const model = await withoutVariables(name, '1');
    await expect(checkVariables([model])).resolves.toBeUndefined();
  },
);
