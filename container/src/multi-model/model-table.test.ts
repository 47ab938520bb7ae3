/** The table of a multi-model endpoint: who waits for whom, which files are taken, and what 507 says. */

import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import pino from 'pino';
import { ServingError } from '../errors.ts';
import { NothingChanged } from '../model-server/nothing-changed.ts';
import type { ServedModel } from '../models/served-model.ts';
import { ConnectionLost } from '../transport/connection-lost.ts';
import { ModelTable } from './model-table.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'model-table-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function model(name: string): Promise<string> {
  const version = join(root, name, '1');
  await mkdir(version, { recursive: true });
  await writeFile(join(version, 'saved_model.pb'), '');
  return join(root, name);
}

/** A table whose model server cannot load models of some names; `lists` is what it was asked to serve. */
function table(
  failures: Record<string, Error> = {},
  until?: (list: string[]) => Promise<void>,
  restart?: () => Promise<void>,
) {
  const lists: string[][] = [];
  const serve = async (models: () => readonly ServedModel[]) => {
    await restart?.();
    const names = models().map(({ name }) => name);
    lists.push(names);
    for (const name of names) if (failures[name]) throw failures[name];
    await until?.(names);
  };
  const universal = { directory: root, handler: undefined, manifest: undefined, labels: undefined };
  const log = pino({ level: 'silent' });
  const onChange = () => {};
  return { models: new ModelTable({ root, universal, log, loadMs: 1000, serve, onChange }), lists };
}

test.each<[string, Error, RegExp]>([
  [
    "TensorFlow's own shortage, in the text of the reload",
    new StatusError(
      GrpcStatus.UNKNOWN,
      '1 servable(s) did not become available: {{name: big version: 1} due to error: RESOURCE_EXHAUSTED: OOM when allocating tensor}',
    ),
    /OOM when allocating tensor/,
  ],
  [
    'the same in the words of older releases',
    new StatusError(
      GrpcStatus.UNKNOWN,
      '1 servable(s) did not become available: {{{name: big version: 1} due to error: Resource exhausted: no room}, }',
    ),
    /no room/,
  ],
  [
    'a file that could not be mapped for lack of memory',
    new StatusError(
      GrpcStatus.UNKNOWN,
      '1 servable(s) did not become available: {{{name: big version: 1} due to error: UNKNOWN: /m/1/variables; Cannot allocate memory}, }',
    ),
    /Cannot allocate memory/,
  ],
  [
    "the model server's account of its resources",
    new StatusError(GrpcStatus.RESOURCE_EXHAUSTED, 'Insufficient resources'),
    /Insufficient resources/,
  ],
  [
    'a model server that was killed over it',
    new ConnectionLost('no answer'),
    /ended while it loaded model "big"/,
  ],
])('507 with the least recently used models: %s', async (_what, failure, message) => {
  const { models, lists } = table({ big: failure });
  for (const name of ['a', 'b', 'c', 'd']) await models.load(name, await model(name));
  for (const [at, name] of ['c', 'a', 'd', 'b'].entries()) models.get(name).lastUsed = 1000 * at;
  const load = models.load('big', await model('big'));
  await expect(load).rejects.toMatchObject({ code: 'OUT_OF_RESOURCES', status: 507 });
  await expect(load).rejects.toThrow(message);
  await expect(load).rejects.toThrow(/^Memory exhausted: /);
  await expect(load).rejects.toThrow(
    /Least recently used: "c" \(\d+ s ago\), "a" \(\d+ s ago\), "d" \(\d+ s ago\). DELETE/,
  );
  expect(lists.at(-1)).toEqual(
    ['a', 'b', 'big', 'c', 'd'].sort((x, y) => Number(x === 'big') - Number(y === 'big')),
  );
  expect(models.models.map(({ served }) => served.name)).toEqual(['a', 'b', 'c', 'd']);
});

test.each([
  "INVALID_ARGUMENT: NodeDef mentions attr 'RESOURCE_EXHAUSTED: out of memory'",
  "NOT_FOUND: Op type not registered 'std::bad_alloc' in binary",
  "Invalid argument: node 'a; Cannot allocate memory' has no input",
])('what the files of a model say is no lack of memory: %s', async (status) => {
  const text = `1 servable(s) did not become available: {{{name: a version: 1} due to error: ${status}}, }`;
  const { models } = table({ a: new StatusError(GrpcStatus.UNKNOWN, text) });
  await expect(models.load('a', await model('a'))).rejects.toMatchObject({ code: 'BAD_ARCHIVE' });
});

test.each([['Server Threadpool Exhausted'], ['']])(
  'a lack of threads is no lack of memory: %j',
  async (text) => {
    const { models } = table({ a: new StatusError(GrpcStatus.RESOURCE_EXHAUSTED, text) });
    await expect(models.load('a', await model('a'))).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      status: 429,
    });
  },
);

test('a model that was just loaded was used just now, however long its load waited', async () => {
  let loaded = 0;
  const { models } = table({}, async () => {
    const asked = Date.now();
    while (Date.now() === asked) await delay(1);
    loaded = Date.now();
  });
  expect((await models.load('a', await model('a'))).lastUsed).toBeGreaterThanOrEqual(loaded);
});

test('507 before the model server is asked, for a model larger than the memory left', async () => {
  const { models, lists } = table();
  const directory = await model('big');
  const variables = join(directory, '1', 'variables');
  await mkdir(variables);
  // Sparse: it takes no room on the disk.
  await writeFile(join(variables, 'variables.data-00000-of-00001'), '');
  await truncate(join(variables, 'variables.data-00000-of-00001'), 2 ** 42);
  const load = models.load('big', directory);
  await expect(load).rejects.toMatchObject({ status: 507 });
  await expect(load).rejects.toThrow(
    /^Memory exhausted: model "big" needs about \d+ MB of memory and \d+ MB are left/,
  );
  expect(lists).toEqual([]);
});

test('any other failure keeps its own status', async () => {
  const { models } = table({ bad: new StatusError(GrpcStatus.INVALID_ARGUMENT, 'no such op') });
  const load = models.load('bad', await model('bad'));
  await expect(load).rejects.toMatchObject({ status: 400, message: 'no such op' });
});

test('a model is unloaded once its requests have ended, and takes no more meanwhile', async () => {
  const { models, lists } = table();
  await models.load('a', await model('a'));
  const release = models.hold('a');
  const other = models.hold('a');
  const unloaded = models.unload('a');
  while (models.models.length > 0) await new Promise((resolve) => setImmediate(resolve));
  expect(() => models.use('a')).toThrow('not loaded');
  release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(lists).toEqual([['a']]);
  other();
  await unloaded;
  expect(lists).toEqual([['a'], []]);
});

test.each<[string, Error, boolean]>([
  ['the model server did not take', new NothingChanged('OVERLOADED', 'no thread'), true],
  ['requests keep from ending', new ServingError('REQUEST_TIMEOUT', 'in flight'), false],
])('an unload that %s', async (_what, error, isKept) => {
  let failure: Error | undefined;
  const { models } = table({}, async () => {
    if (failure) throw failure;
  });
  await models.load('a', await model('a'));
  failure = error;
  await expect(models.unload('a')).rejects.toBe(error);
  expect(models.models.map(({ served }) => served.name)).toEqual(isKept ? ['a'] : []);
  failure = undefined;
  if (isKept) await models.unload('a');
  expect(models.models).toEqual([]);
});

describe('after a restart of the model server', () => {
  /** A table that has lost "b"; a late one is there again before the model server takes the next change. */
  async function tableWithout(isLate: boolean) {
    let regain = () => {};
    const made = table({}, undefined, async () => regain());
    for (const name of ['a', 'b']) await made.models.load(name, await model(name));
    made.models.lose('b', new ServingError('MODEL_NOT_READY', 'it loads again'), isLate);
    if (isLate) regain = () => made.models.regain('b');
    return made;
  }

  test.each<[string, (models: ModelTable) => Promise<unknown>, string[]]>([
    ['another is loaded', async (models) => models.load('c', await model('c')), ['a', 'b', 'c']],
    ['another is unloaded', (models) => models.unload('a'), ['b']],
    ['the late one is loaded', async (models) => models.load('b', await model('b')), ['a', 'b']],
  ])('%s: a late model that is there by then is served on', async (_what, change, expected) => {
    const { models, lists } = await tableWithout(true);
    await change(models);
    expect(lists.at(-1)).toEqual(expected);
    expect(models.get('b').served.name).toBe('b');
  });

  test('a late model is unloaded in the model server too', async () => {
    const { models, lists } = await tableWithout(true);
    await models.unload('b');
    expect(lists.at(-1)).toEqual(['a']);
    expect(() => models.get('b')).toThrow('not loaded');
  });

  test('one that does not load any more is dropped without a change of the model server', async () => {
    const { models, lists } = await tableWithout(false);
    await models.unload('b');
    expect(lists).toEqual([['a'], ['a', 'b']]);
    expect(() => models.get('b')).toThrow('not loaded');
  });
});

test('other models load and unload while requests keep one that is being unloaded, and it is served on', async () => {
  const { models, lists } = table();
  for (const name of ['a', 'b']) await models.load(name, await model(name));
  const release = models.hold('a');
  const unloaded = models.unload('a');
  await models.load('c', await model('c'));
  await models.unload('b');
  expect(lists.slice(2)).toEqual([
    ['a', 'b', 'c'],
    ['a', 'c'],
  ]);
  release();
  await unloaded;
  expect(lists.at(-1)).toEqual(['c']);
});

test('requests for one name are done one after another', async () => {
  const { models, lists } = table();
  const directory = await model('a');
  const twice = await Promise.allSettled([
    models.load('a', directory),
    models.load('a', directory),
  ]);
  expect(twice.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  const release = models.hold('a');
  const unloaded = models.unload('a');
  const again = models.load('a', directory);
  await models.load('b', await model('b'));
  release();
  await Promise.all([unloaded, again]);
  expect(lists).toEqual([['a'], ['a', 'b'], ['b'], ['b', 'a']]);
});

test('the model server is changed by one at a time', async () => {
  let atWork = 0;
  let most = 0;
  const { models } = table({}, async () => {
    atWork += 1;
    most = Math.max(most, atWork);
    for (let turn = 0; turn < 100; turn += 1) await new Promise((next) => setImmediate(next));
    atWork -= 1;
  });
  const names = ['a', 'b', 'c', 'd'];
  const directories = await Promise.all(names.map(model));
  await Promise.all(names.map((name, at) => models.load(name, directories[at] as string)));
  await Promise.all(names.map((name) => models.unload(name)));
  expect(most).toBe(1);
});

describe('files that no model may bring', () => {
  test.each<[string, (directory: string) => Promise<void>]>([
    ['a version elsewhere', (directory) => symlink('/usr', join(directory, '7'))],
    ["another model's version", (directory) => symlink('../other/1', join(directory, '7'))],
    ["another model's code", (directory) => symlink('../other/code', join(directory, 'code'))],
    ['a file elsewhere', (directory) => symlink('/etc/passwd', join(directory, '1', 'assets'))],
    ['a link to nothing', (directory) => symlink('../later', join(directory, 'x'))],
    ['a link to a folder around it', (directory) => symlink('..', join(directory, '1', 'up'))],
    ['a link to itself', (directory) => symlink('x', join(directory, 'x'))],
    [
      'a pipe',
      async (directory) => {
        execFileSync('mkfifo', [join(directory, '1', 'variables')]);
      },
    ],
  ])('%s', async (_, spoil) => {
    const { models, lists } = table();
    await model('other');
    const directory = await model('a');
    await spoil(directory);
    const load = models.load('a', directory);
    await expect(load).rejects.toMatchObject({ code: 'BAD_ARCHIVE', status: 400 });
    expect(lists).toEqual([]);
  });

  test('more versions than are loaded', async () => {
    const { models, lists } = table();
    const directory = await model('a');
    const add = (version: number) => symlink('1', join(directory, `${version}`));
    for (let version = 2; version <= 64; version += 1) await add(version);
    expect((await models.load('a', directory)).served.versions).toHaveLength(64);
    await models.unload('a');
    await add(65);
    lists.length = 0;
    const load = models.load('a', directory);
    await expect(load).rejects.toMatchObject({ code: 'BAD_ARCHIVE', status: 400 });
    await expect(load).rejects.toThrow('the model has 65 versions');
    expect(lists).toEqual([]);
  });

  test('links inside the model are taken', async () => {
    const { models } = table();
    const directory = await model('a');
    await symlink('1', join(directory, '2'));
    await symlink(join(directory, '1', 'saved_model.pb'), join(directory, 'copy.pb'));
    const { served } = await models.load('a', directory);
    expect(served.versions).toEqual(['1', '2']);
  });

  test.each<[string, string, RegExp]>([
    ['no JSON', '{', /manifest is not JSON/],
    ['nothing', 'null', /null is not an object/],
    ['brackets without end', '['.repeat(1e6), /nested more than 64 deep/],
    ['brackets in texts', `{"${'['.repeat(99)}\\"[": 1}`, /unknown field/],
    [
      'labels of others',
      manifest({ labels: '../../other/x' }),
      /topK\.labels: must be a path inside/,
    ],
    ['labels that are not there', manifest({ labels: 'none.txt' }), /none\.txt cannot be read/],
    ['more than is parsed', ' '.repeat(2 ** 20 + 1), /1048577 bytes. 1048576 are the most/],
  ])('a manifest with %s', async (_, text, message) => {
    const { models, lists } = table();
    const directory = await model('a');
    await mkdir(join(directory, 'code'));
    await writeFile(join(directory, 'code', 'manifest.json'), text);
    const load = models.load('a', directory);
    await expect(load).rejects.toMatchObject({ code: 'BAD_ARCHIVE', status: 400 });
    await expect(load).rejects.toThrow(message);
    expect(lists).toEqual([]);
  });

  test.each([
    ['more bytes', 64 * 2 ** 20 + 1, 'a', /big\.txt has 67108865 bytes. 67108864 are the most/],
    ['more lines', 2 ** 20 + 1, '\n', /big\.txt has more than 1048576 lines/],
  ])('labels of %s than are read', async (_, bytes, of, message) => {
    const { models } = table();
    const directory = await model('a');
    await mkdir(join(directory, 'code'));
    await writeFile(join(directory, 'code', 'manifest.json'), manifest({ labels: 'big.txt' }));
    await writeFile(join(directory, 'code', 'big.txt'), Buffer.alloc(bytes, of));
    const load = models.load('a', directory);
    await expect(load).rejects.toMatchObject({ code: 'BAD_ARCHIVE', status: 400 });
    await expect(load).rejects.toThrow(message);
  });
});

function manifest(topK: Record<string, unknown>): string {
  return JSON.stringify({
    manifestVersion: 1,
    packager: { name: 'packager', version: '1.0.0' },
    fingerprint: 'a'.repeat(64),
    files: {},
    models: [{ name: 'a', versions: ['1'], signatures: {} }],
    postprocess: { topK },
  });
}

test('a model that a restarted process cannot load again is not the fault of its requests', async () => {
  const { models } = table({ a: new StatusError(GrpcStatus.NOT_FOUND, 'no variables.index') });
  models.restore([{ name: 'a', url: await model('a') }]);
  const asked = () => {
    try {
      return models.get('a');
    } catch (error) {
      return error as ServingError;
    }
  };
  let answer = asked();
  while (!/cannot/.test(String(answer))) {
    await delay(5);
    answer = asked();
  }
  expect(answer).toMatchObject({ code: 'MODEL_NOT_READY', status: 503 });
  expect(String(answer)).toMatch(
    /cannot be loaded again: no variables.index\. POST \/models tries/,
  );
  // Its load shows the fault of the archive.
  await expect(models.load('a', join(root, 'a'))).rejects.toMatchObject({ code: 'BAD_ARCHIVE' });
});
