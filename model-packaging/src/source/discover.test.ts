import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { layOut } from '../archive/lay-out.ts';
import { packageModel } from '../package-model.ts';
import { useScratch, withCode } from '../testing/scratch.ts';

const scratch = useScratch();
const HANDLER = 'export async function handler(data) { return data; }\n';

/** Packages `source` to `model.tar.gz` of the scratch folder. */
const pack = (source: string) => packageModel({ source, out: scratch.path('model.tar.gz') });

const tarList = (archive: string) =>
  execFileSync('tar', ['tzf', archive], { encoding: 'utf8' }).trim().split('\n');

describe('any source', () => {
  test('a version directory without a number is version 1', async () => {
    const { manifest } = await pack(scratch.model('strings', 'hub-model'));
    expect(manifest.models).toMatchObject([{ name: 'hub-model', versions: ['1'] }]);
  });

  test('any depth of folders above the version, leading zeros dropped', async () => {
    scratch.model('strings', 'model/export/Servo/00001538687370');
    const { manifest, path } = await pack(scratch.path('model'));
    expect(manifest.models).toMatchObject([{ name: 'Servo', versions: ['1538687370'] }]);
    expect(tarList(path)).toContain('1538687370/saved_model.pb');
  });

  test('a handler in code/ comes along', async () => {
    scratch.model('strings', 'model/1');
    scratch.write('model/code/inference.ts', HANDLER);
    const { manifest } = await pack(scratch.path('model'));
    expect(manifest.handler).toBe('code/inference.mjs');
  });

  test('versions are ordered as numbers, the manifest has the signatures of the newest', async () => {
    scratch.model('strings', 'model/9');
    scratch.model('multi_signature', 'model/10');
    const { manifest } = await pack(scratch.path('model'));
    expect(manifest.models[0]?.versions).toEqual(['9', '10']);
    expect(manifest.models[0]?.signatures).toHaveProperty('linear');
  });

  test('folders beside the model that are named with digits are no versions', async () => {
    scratch.model('strings', 'project/model/1');
    scratch.write('project/logs/2026/11/train.log', 'x');
    const { manifest } = await pack(scratch.path('project'));
    expect(manifest.models).toMatchObject([{ name: 'model', versions: ['1'] }]);
  });

  test("a model of a package that a project has installed is not the project's", async () => {
    scratch.model('strings', 'project/model');
    for (const folder of ['node_modules/other/example-model', '.git/1', 'cdk.out/asset/1']) {
      scratch.model('digits', `project/${folder}`);
    }
    // What is given itself is opened, wherever it lies.
    const { manifest } = await pack(scratch.path('project/node_modules/other/example-model'));
    expect(manifest.models).toMatchObject([{ name: 'example-model' }]);
    await expect(pack(scratch.path('project'))).rejects.toThrow("its name 'model' is not a");
  });

  test('what desktops leave behind is left out', async () => {
    scratch.model('strings', 'model/1');
    scratch.write('model/.DS_Store', 'x');
    scratch.write('model/1/.DS_Store', 'x');
    const { path } = await pack(scratch.path('model'));
    expect(tarList(path).join()).not.toContain('.DS_Store');
  });
});

describe('several models that cannot be told apart by name', () => {
  /** Packages what the command in the message names, as a shell reads it. */
  async function packAsAdvised(message: string) {
    const command = message.slice(message.indexOf('sagemaker-tfs package '));
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' });
    const models = words.split('\n').flatMap((word) => {
      const [name, source] = word.split('=');
      return name && source ? [{ name, source }] : [];
    });
    return (await packageModel({ models, out: scratch.path('model.tar.gz') })).manifest.models;
  }

  test.each([
    ['without versions', ['cats', 'dogs'], 'BAD_VERSION', ['cats', 'dogs']],
    ['of one name', ['a/model/1', 'b/model/1'], 'BAD_OPTION', ['a-model', 'b-model']],
    ['with a name of its own', ['-my cats-/1', 'dogs/1'], 'BAD_OPTION', ['my-cats', 'dogs']],
  ] as const)('%s: the message has the command that names each', async (_, places, code, names) => {
    for (const place of places) scratch.model('strings', `zoo's/${place}`);
    const error = await pack(scratch.path("zoo's")).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    const models = await packAsAdvised((error as Error).message);
    expect(models.map(({ name }) => name)).toEqual(names);
  });

  test('where one is wanted', async () => {
    for (const place of ['cats/1', 'dogs/2']) scratch.model('strings', `zoo/${place}`);
    const models = [{ name: 'pets', source: scratch.path('zoo') }];
    const packing = packageModel({ models, out: scratch.path('model.tar.gz') });
    const error = await packing.catch((thrown: unknown) => thrown);
    expect((error as Error).message).toContain("several models (cats, dogs), but 'pets' names one");
    expect(await packAsAdvised((error as Error).message)).toHaveLength(2);
  });
});

test('links inside of the model are followed', async () => {
  const model = scratch.model('strings', 'model/1');
  renameSync(join(model, 'saved_model.pb'), join(model, 'real.pb'));
  symlinkSync('real.pb', join(model, 'saved_model.pb'));
  const { path } = await pack(model);
  await layOut(path, scratch.path('out'));
  const copy = readFileSync(scratch.path('out/1/saved_model.pb'));
  expect(copy.equals(readFileSync(join(model, 'real.pb')))).toBe(true);
});

test('a version that is a link out of the source is refused, one inside is followed', async () => {
  scratch.model('strings', 'real/1');
  mkdirSync(scratch.path('model'));
  symlinkSync(scratch.path('real/1'), scratch.path('model/1'));
  await expect(pack(scratch.path('model'))).rejects.toThrow(withCode('UNSAFE_PATH'));
  symlinkSync('1', scratch.path('real/2'));
  symlinkSync('1', scratch.path('real/latest'));
  symlinkSync('/', scratch.path('real/root'));
  const { manifest } = await pack(scratch.path('real'));
  expect(manifest.models[0]?.versions).toEqual(['1', '2']);
});

test('a version that is a link to a folder of another name is that version', async () => {
  scratch.model('strings', 'model/run-a');
  symlinkSync('run-a', scratch.path('model/7'));
  const { manifest } = await pack(scratch.path('model'));
  expect(manifest.models).toMatchObject([{ name: 'model', versions: ['7'] }]);
});

test.each([
  ['the model', 'models/digits'],
  ['a folder of models', 'models'],
])('a link out of the source to %s is refused', async (_, target) => {
  scratch.model('strings', 'source/strings/1');
  scratch.model('strings', 'models/digits/1');
  const link = scratch.path('source/linked');
  symlinkSync(scratch.path(target), link);
  const packing = pack(scratch.path('source'));
  await expect(packing).rejects.toThrow(withCode('UNSAFE_PATH'));
  await expect(packing).rejects.toThrow(link);
});
