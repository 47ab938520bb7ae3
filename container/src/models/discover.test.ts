import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectModel } from '@sagemaker-tfs/model-packaging';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { discoverModels } from './discover.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'discover-'));
});

afterEach(() => rm(root, { recursive: true, force: true }));

async function savedModels(...directories: string[]): Promise<void> {
  for (const directory of directories) {
    await mkdir(join(root, directory), { recursive: true });
    await writeFile(join(root, directory, 'saved_model.pb'), '');
  }
}

describe('discoverModels', () => {
  test('versions directly in the model directory are the model "model"', async () => {
    await savedModels('1538687370');
    expect(await discoverModels(root)).toEqual([
      { name: 'model', basePath: root, versions: ['1538687370'] },
    ]);
  });

  test('any depth above the version, several models and versions, in the order of paths', async () => {
    await savedModels('export/servo/b/2', 'export/servo/b/10', 'a/0000007', 'code/c/1');
    expect(await discoverModels(root)).toEqual([
      { name: 'a', basePath: join(root, 'a'), versions: ['7'] },
      { name: 'b', basePath: join(root, 'export/servo/b'), versions: ['2', '10'] },
    ]);
  });

  test('packaging finds the same models in the same order; a version holds no other models', async () => {
    const places = ['a/x/1', 'a-b/1', 'm/1/old/2', 'm/2', 'm/1', 'a/1', 'B/3'];
    await savedModels(...places);
    const graph = join(fixtureModel('half_plus_two').directory, 'saved_model.pb');
    for (const place of places) await copyFile(graph, join(root, place, 'saved_model.pb'));
    const models = (await discoverModels(root)).map(({ name, versions }) => ({ name, versions }));
    const { models: packaged } = await inspectModel(root);
    expect(models).toEqual(
      packaged.map(({ name, versions }) => ({
        name,
        versions: versions.map((one) => one.version),
      })),
    );
    expect(models.map(({ name }) => name)).toEqual(['B', 'a', 'x', 'a-b', 'm']);
  });

  test('links to directories are followed, in circles never', async () => {
    const outside = await realpath(await mkdtemp(join(tmpdir(), 'discover-outside-')));
    try {
      await mkdir(join(outside, 'model/1'), { recursive: true });
      await writeFile(join(outside, 'model/1/saved_model.pb'), '');
      await savedModels('own/1');
      await symlink(join(outside, 'model'), join(root, 'linked'));
      await symlink('1', join(root, 'own/2'));
      await symlink('..', join(root, 'own/up'));
      await symlink('/', join(root, 'everything'));
      await symlink('nowhere', join(root, 'broken'));
      await symlink(root, join(outside, 'model/back'));
      expect(await discoverModels(root)).toEqual([
        { name: 'linked', basePath: join(root, 'linked'), versions: ['1'] },
        { name: 'own', basePath: join(root, 'own'), versions: ['1', '2'] },
      ]);
    } finally {
      await rm(outside, { recursive: true, force: true });
    }
  });

  test('version 0 and versions beyond 2^53 keep their digits, beyond int64 there is none', async () => {
    await savedModels('000', '9223372036854775806', '9223372036854775808');
    const [model] = await discoverModels(root);
    expect(model?.versions).toEqual(['0', '9223372036854775806']);
  });

  test('a directory with nothing in it says what is expected', async () => {
    await expect(discoverModels(root)).rejects.toThrow(/needs <version>\/saved_model.pb/);
  });

  test('a directory that is not there is named', async () => {
    const missing = join(root, 'missing');
    await expect(discoverModels(missing)).rejects.toThrow(
      `the model directory ${missing} cannot be read (ENOENT)`,
    );
  });

  test('a SavedModel without a version directory says where to move it', async () => {
    await savedModels('my-model');
    await expect(discoverModels(root)).rejects.toThrow(`Move it to ${root}/my-model/1`);
  });

  test('two models of one name are refused', async () => {
    await savedModels('x/m/1', 'y/m/1');
    await expect(discoverModels(root)).rejects.toMatchObject({ code: 'MODELS_INVALID' });
  });
});
