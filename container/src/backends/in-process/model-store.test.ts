/** Models that come and go in this process, with a loader that the test holds. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Servable } from '@sagemaker-tfs/libtensorflow/serving';
import type { ServedModel } from '../../models/served-model.ts';
import { ModelStore } from './model-store.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'model-store-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function model(name: string): ServedModel {
  const version = join(root, name, '1');
  mkdirSync(version, { recursive: true });
  writeFileSync(join(version, 'saved_model.pb'), '');
  return { name, basePath: join(root, name), versions: ['1'] };
}

test('a model that does not load in time keeps no other waiting, and is unloaded once it is loaded', async () => {
  let finish: () => void = () => undefined;
  const unloaded: string[] = [];
  const store = new ModelStore(async (name) => {
    if (name === 'stuck') await new Promise<void>((resolve) => (finish = resolve));
    return { unload: async () => void unloaded.push(name) } as unknown as Servable;
  });
  const [a, b, stuck] = ['a', 'b', 'stuck'].map(model) as [ServedModel, ServedModel, ServedModel];
  await store.serve([a], 50);
  await expect(store.serve([a, stuck], 50)).rejects.toThrow(
    'model "stuck" is not loaded after 0.05 s (SAGEMAKER_TFS_WAIT_TIME_SECONDS)',
  );
  expect(() => store.statuses({ name: 'stuck' })).toThrow('Could not find any versions');
  await store.serve([a, b], 50);
  expect(store.statuses({ name: 'b' })).toMatchObject([{ state: 'AVAILABLE' }]);
  await store.serve([b], 50);
  expect(unloaded).toEqual(['a']);
  finish();
  while (unloaded.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(unloaded).toEqual(['a', 'stuck']);
});
