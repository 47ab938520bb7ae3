import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { chooseModels, readEnvironment } from '@sagemaker-tfs/container';
import { parseManifest } from '@sagemaker-tfs/manifest';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { layOut } from './archive/lay-out.ts';
import { writeBakedImage } from './baked-image/baked-image.ts';
import { type PackageOptions, packageModel } from './package-model.ts';
import { useScratch, withCode } from './testing/scratch.ts';

const scratch = useScratch();
const HANDLER = 'export async function handler(data) { return data; }\n';

/** Packages `source` to `model.tar.gz` of the scratch folder. */
function pack(source: string, options: Partial<PackageOptions> = {}) {
  return packageModel({ source, out: scratch.path('model.tar.gz'), ...options });
}

const tarList = (archive: string) =>
  execFileSync('tar', ['tzf', archive], { encoding: 'utf8' }).trim().split('\n');

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** What Python's tarfile reads: name, size, mode, owner, time. */
function pythonList(archive: string) {
  const script =
    'import json,sys,tarfile\nprint(json.dumps([[m.name,m.size,m.mode,m.uid,m.gid,m.mtime] for m in tarfile.open(sys.argv[1])]))';
  return JSON.parse(execFileSync('python3', ['-c', script, archive], { encoding: 'utf8' }));
}

describe('an archive', () => {
  test('holds the versions, the handler and a manifest', async () => {
    const handler = scratch.write('inference.ts', HANDLER);
    const { path, manifest } = await pack(fixtureModel('half_plus_two').basePath, { handler });
    const listed = tarList(path);
    expect(listed).toEqual([...listed].sort());
    expect(listed).toEqual(
      expect.arrayContaining([
        '1/saved_model.pb',
        '2/saved_model.pb',
        'code/inference.mjs',
        'code/inference.mjs.map',
        'code/manifest.json',
      ]),
    );
    expect(manifest.models).toMatchObject([{ name: 'half_plus_two', versions: ['1', '2'] }]);
    expect(manifest.handler).toBe('code/inference.mjs');
  });

  test('is what tar, Python and this package read', async () => {
    const source = fixtureModel('text_vocabulary').directory;
    const { path } = await pack(source);
    const [first] = pythonList(path);
    expect(first).toEqual([first[0], first[1], 0o644, 0, 0, 315532800]);
    expect(pythonList(path).map(([name]: [string]) => name)).toEqual(tarList(path));
    mkdirSync(scratch.path('tar'));
    execFileSync('tar', ['xzf', path, '-C', scratch.path('tar')]);
    await layOut(path, scratch.path('ours'));
    execFileSync('diff', ['-r', scratch.path('tar'), scratch.path('ours')]);
    execFileSync('diff', ['-r', scratch.path('ours', '1'), source]);
  });

  test('has another fingerprint when a declaration changes what is answered', async () => {
    const scaled = (scale: number) =>
      pack(fixtureModel('image_uint8').directory, { preprocess: { scale } });
    const prints = [await scaled(1), await scaled(0.5), await scaled(0.5)].map(
      (p) => p.fingerprint,
    );
    expect(prints[0]).not.toBe(prints[1]);
    expect(prints[1]).toBe(prints[2]);
  });

  test('has a manifest that tells every file, the signatures and the fingerprint', async () => {
    const { path, manifest, fingerprint } = await pack(fixtureModel('multi_signature').directory);
    const { directory } = await layOut(path, scratch.path('out'));
    const read = parseManifest(readFileSync(join(directory, 'code/manifest.json'), 'utf8'));
    expect(read).toEqual(manifest);
    expect(Object.keys(read.files)).toEqual(
      tarList(path).filter((name) => name !== 'code/manifest.json'),
    );
    for (const [name, { sha256: digest, bytes }] of Object.entries(read.files)) {
      const content = readFileSync(join(directory, name));
      expect([sha256(content), content.length]).toEqual([digest, bytes]);
    }
    expect(fingerprint).toBe(read.fingerprint);
    expect(read.models[0]?.signatures.linear?.outputs.y).toMatchObject({ dtype: 'float32' });
  });

  test('holds several models below their names', async () => {
    const models = [
      { name: 'first', source: fixtureModel('half_plus_two').basePath, versions: ['2'] },
      { name: 'second', source: fixtureModel('strings').directory },
    ];
    const out = scratch.path('model.tar.gz');
    const { path, manifest } = await packageModel({ models, out });
    expect(tarList(path)).toEqual(
      expect.arrayContaining(['first/2/saved_model.pb', 'second/1/saved_model.pb']),
    );
    expect(tarList(path).some((name) => name.startsWith('first/1/'))).toBe(false);
    expect(manifest.models.map(({ name }) => name)).toEqual(['first', 'second']);
  });

  test('the first of several models is the default, for the runtime and when packaged again', async () => {
    const source = fixtureModel('half_plus_two').basePath;
    const packed = async (name: string, names: readonly string[]) => {
      const models = names.map((model) => ({ name: model, source, versions: ['2'] }));
      return packageModel({ models, out: scratch.path(name) });
    };
    const names = ['w', 'o', 'ident'];
    const first = await packed('first.tar.gz', names);
    const again = await packageModel({ source: first.path, out: scratch.path('again.tar.gz') });
    expect(again.manifest.models.map(({ name }) => name)).toEqual(names);
    expect(again.fingerprint).toBe(first.fingerprint);
    const other = await packed('other.tar.gz', ['o', 'w', 'ident']);
    expect(other.fingerprint).not.toBe(first.fingerprint);
    const { directory } = await layOut(first.path, scratch.path('laid-out'));
    const { environment } = readEnvironment({ SAGEMAKER_TFS_MODEL_DIR: directory });
    const { models, defaultModel } = await chooseModels(environment);
    expect([defaultModel, ...models.map(({ name }) => name)]).toEqual(['w', ...names]);
  });

  test('keeps long and non-ASCII names', async () => {
    const model = scratch.model('strings', 'model/1');
    const long = `assets/${'long-folder-name/'.repeat(12)}${'x'.repeat(120)}.txt`;
    scratch.write(`model/1/${long}`, 'long');
    scratch.write('model/1/assets/Größe-日本.txt', 'wide');
    const { path } = await pack(join(model, '..'));
    expect(pythonList(path).map(([name]: [string]) => name)).toEqual(
      expect.arrayContaining([`1/${long}`, '1/assets/Größe-日本.txt']),
    );
    await layOut(path, scratch.path('out'));
    expect(readFileSync(scratch.path('out', '1', long), 'utf8')).toBe('long');
  });

  test('holds files larger than a compressed chunk', async () => {
    const model = scratch.model('digits', 'model/1');
    const noise = Buffer.alloc(3_500_000);
    for (let i = 0; i < noise.length; i += 4) noise.writeInt32LE((i * 2654435761) | 0, i);
    scratch.write('model/1/assets.extra/noise.bin', noise);
    const { path } = await pack(model);
    await layOut(path, scratch.path('out'));
    expect(readFileSync(scratch.path('out/1/assets.extra/noise.bin')).equals(noise)).toBe(true);
    expect(gunzipSync(readFileSync(path)).length % 512).toBe(0);
  });
});

describe('the same input', () => {
  test('gives the same bytes, wherever it lies and whenever it was written', async () => {
    const handler = scratch.write('a/inference.ts', HANDLER);
    const first = await pack(scratch.model('keras_functional', 'a/7'), { handler });
    const moved = scratch.model('keras_functional', 'elsewhere/deeper/a/7');
    utimesSync(join(moved, 'saved_model.pb'), 1, 1);
    const again = await packageModel({
      source: moved,
      handler: scratch.write('elsewhere/handlers/inference.ts', HANDLER),
      out: scratch.path('again.tar.gz'),
    });
    expect(again.sha256).toBe(first.sha256);
    expect(sha256(readFileSync(again.path))).toBe(first.sha256);
    expect(readFileSync(again.path).equals(readFileSync(first.path))).toBe(true);
  });

  test('gives the same archive, readable to all, where only its owner may read the files', async () => {
    const packed = async (umask: number, folder: string) => {
      const before = process.umask(umask);
      try {
        return await packageModel({
          source: scratch.model('keras_functional', `${folder}/m/7`),
          handler: scratch.write(`${folder}/inference.ts`, HANDLER),
          out: scratch.path(`${folder}.tar.gz`),
        });
      } finally {
        process.umask(before);
      }
    };
    const open = await packed(0o022, 'open');
    const closed = await packed(0o077, 'closed');
    expect(statSync(scratch.path('closed/inference.ts')).mode & 0o777).toBe(0o600);
    expect(closed.sha256).toBe(open.sha256);
    const modes: number[] = pythonList(closed.path).map(
      ([, , mode]: [string, number, number]) => mode,
    );
    expect(modes.filter((mode) => (mode & 0o044) !== 0o044)).toEqual([]);
  });

  test('is not packed again', async () => {
    const source = scratch.model('strings', 'strings/1');
    const first = await pack(source);
    const { mtimeNs, ino } = statSync(first.path, { bigint: true });
    const second = await pack(source);
    expect(second).toEqual({ ...first, unchanged: true });
    expect(statSync(first.path, { bigint: true })).toMatchObject({ mtimeNs, ino });
  });

  test('is packed again where model, handler, level or archive changed', async () => {
    const source = scratch.model('strings', 'strings/1');
    const handler = scratch.write('inference.ts', HANDLER);
    const first = await pack(source, { handler });
    const expectRepacked = async (options: Partial<PackageOptions> = { handler }) =>
      expect((await pack(source, options)).unchanged).toBe(false);
    await expectRepacked({ handler, level: 1 });
    await expectRepacked({ handler });
    scratch.write('inference.ts', HANDLER.replace('data;', 'data ?? 1;'));
    await expectRepacked();
    scratch.write('strings/1/assets.extra/more.txt', 'more');
    await expectRepacked();
    truncateSync(first.path, statSync(first.path).size - 1);
    await expectRepacked();
    const bytes = readFileSync(first.path);
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    writeFileSync(first.path, bytes);
    await expectRepacked();
  });
});

describe('the output appears only when it is complete', () => {
  test('a failure leaves the old archive and nothing else', async () => {
    const source = scratch.model('strings', 'source/strings/1');
    const out = scratch.path('out', 'model.tar.gz');
    const { sha256: before } = await pack(source, { out });
    scratch.write('source/strings/1/saved_model.pb', 'broken');
    await expect(pack(source, { out })).rejects.toThrow(withCode('CORRUPT_FILE'));
    expect(readdirSync(scratch.path('out'))).toEqual(['model.tar.gz']);
    expect(sha256(readFileSync(out))).toBe(before);
  });

  test('a file that changes while it is packed', async () => {
    const source = scratch.model('digits', 'source/digits/1');
    const data = join(source, 'variables', 'variables.data-00000-of-00001');
    let changed = false;
    const onProgress = ({ step, done, total }: { step: string; done: number; total: number }) => {
      if (step !== 'read' || done < total || changed) return;
      changed = true;
      const bytes = readFileSync(data);
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      writeFileSync(data, bytes);
    };
    const out = scratch.path('out', 'model.tar.gz');
    await expect(pack(source, { out, onProgress })).rejects.toThrow(withCode('FILE_CHANGED'));
    expect(changed).toBe(true);
    expect(readdirSync(scratch.path('out'))).toEqual([]);
  });

  test('a file that grows while it is packed', async () => {
    const source = scratch.model('digits', 'source/digits/1');
    const data = join(source, 'variables', 'variables.data-00000-of-00001');
    const onProgress = ({ step, done, total }: { step: string; done: number; total: number }) => {
      if (step === 'read' && done === total) appendFileSync(data, 'more');
    };
    await expect(pack(source, { onProgress })).rejects.toThrow(data);
  });

  test('stopping by signal', async () => {
    const controller = new AbortController();
    const out = scratch.path('out', 'model.tar.gz');
    const source = fixtureModel('digits').directory;
    const onProgress = () => controller.abort();
    const packing = pack(source, { out, onProgress, signal: controller.signal });
    await expect(packing).rejects.toThrow(withCode('ABORTED'));
    expect(existsSync(scratch.path('out')) ? readdirSync(scratch.path('out')) : []).toEqual([]);
  });

  test('an output that cannot be written', async () => {
    scratch.write('file', '');
    const source = fixtureModel('strings').directory;
    const blocked = pack(source, { out: scratch.path('file', 'model.tar.gz') });
    await expect(blocked).rejects.toThrow(withCode('OUTPUT_FAILED'));
    const directory = pack(source, { out: scratch.path() });
    await expect(directory).rejects.toThrow(withCode('BAD_OPTION'));
  });

  test.each([
    ['x.zip', 'x.tar.gz'],
    ['x.tar', 'x.tar.gz'],
    ['x.tar.bz2', 'x.tar.gz'],
    ['x.v1.ZIP', 'x.v1.tar.gz'],
  ])('%s is refused: the archive would be of another format', async (name, advised) => {
    const packing = pack(fixtureModel('strings').directory, { out: scratch.path(name) });
    await expect(packing).rejects.toMatchObject({
      code: 'BAD_OPTION',
      message: expect.stringContaining(`Name it ${scratch.path(advised)}.`),
    });
    expect(existsSync(scratch.path(name))).toBe(false);
  });

  test('an output inside the model would become a part of it', async () => {
    const source = scratch.model('strings', 'source/strings/1');
    const before = readdirSync(source);
    const inside = expect.stringContaining(`lies inside the model directory ${source}`);
    const packing = pack(source, { out: join(source, 'model.tar.gz') });
    await expect(packing).rejects.toMatchObject({ code: 'BAD_OPTION', message: inside });
    const layingOut = layOut({ source }, join(source, 'assets', 'out'));
    await expect(layingOut).rejects.toMatchObject({ code: 'BAD_OPTION', message: inside });
    expect(readdirSync(source)).toEqual(before);
  });

  test('an output that is a pipe or a device, which a file would replace', async () => {
    const pipe = scratch.path('pipe');
    execFileSync('mkfifo', [pipe]);
    const packing = pack(fixtureModel('strings').directory, { out: pipe });
    await expect(packing).rejects.toThrow(withCode('BAD_OPTION'));
    await expect(packing).rejects.toThrow(
      `the output ${pipe} is a device, pipe, socket or open file of a process`,
    );
    expect(statSync(pipe).isFIFO()).toBe(true);
  });
});

test('a link is written through to what it leads to', async () => {
  const link = scratch.path('latest.tar.gz');
  symlinkSync(scratch.write('v1.tar.gz', 'old'), link);
  const { path } = await pack(fixtureModel('strings').directory, { out: link });
  expect(path).toBe(scratch.path('v1.tar.gz'));
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
});

test('an archive is not put in place of the file that a process has open, as behind /dev/stdout', async () => {
  const link = scratch.path('stdout');
  symlinkSync('/proc/self/fd/0', link);
  for (const out of [link, '/dev/fd/0']) {
    const packing = pack(fixtureModel('strings').directory, { out });
    await expect(packing).rejects.toThrow(withCode('BAD_OPTION'));
  }
});

test('a folder is put in place of the one that a link leads to', async () => {
  mkdirSync(scratch.path('volume'));
  const link = scratch.path('folder');
  symlinkSync(scratch.path('volume'), link);
  const { directory } = await layOut({ source: fixtureModel('strings').directory }, link);
  expect(directory).toBe(scratch.path('volume'));
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
});

test('an archive that does not pass its check leaves what was there', async () => {
  const out = scratch.write('out/model.tar.gz', 'the archive of yesterday');
  const check = () => Promise.reject(new Error('it does not load'));
  const packing = pack(fixtureModel('strings').directory, { out, check });
  await expect(packing).rejects.toThrow('it does not load');
  expect(readdirSync(scratch.path('out'))).toEqual(['model.tar.gz']);
  expect(readFileSync(out, 'utf8')).toBe('the archive of yesterday');
});

test('an interruption during the check leaves nothing behind', async () => {
  const out = scratch.path('out', 'model.tar.gz');
  const controller = new AbortController();
  const check = () => {
    setImmediate(() => controller.abort());
    return new Promise<never>(() => {});
  };
  const { signal } = controller;
  const packing = pack(fixtureModel('strings').directory, { out, check, signal });
  await expect(packing).rejects.toThrow(withCode('ABORTED'));
  expect(readdirSync(scratch.path('out'))).toEqual([]);
});

describe('declarations', () => {
  test('go into the manifest, label files into code/', async () => {
    const labels = scratch.write('data/labels.txt', 'a\nb\nc\n');
    const { manifest, path } = await pack(fixtureModel('image_nchw').directory, {
      preprocess: { mean: 0.5, std: 0.5 },
      postprocess: { outputs: ['mean_color'], topK: { k: 1, labels } },
    });
    expect(manifest.preprocess).toMatchObject({ mean: 0.5, resize: 'stretch' });
    expect(manifest.postprocess?.topK?.labels).toBe('labels.txt');
    expect(tarList(path)).toContain('code/labels.txt');
  });

  test.each([
    ['too few', 'a\nb\n', '2 labels'],
    ['too many', 'a\nb\nc\nd', '4 labels'],
    ['one', 'a', '1 label'],
    ['none', '', '0 labels'],
  ])('labels, %s for the classes, are refused', async (_, text, count) => {
    const labels = scratch.write('data/labels.txt', text);
    const packing = pack(fixtureModel('image_nchw').directory, {
      postprocess: { outputs: ['mean_color'], topK: { k: 1, labels } },
    });
    await expect(packing).rejects.toThrow(withCode('BAD_DECLARATION'));
    await expect(packing).rejects.toThrow(
      `postprocess.topK.labels: ${labels} has ${count} for the 3 classes of output 'mean_color'.`,
    );
  });

  test.each([
    ['bytes', Buffer.alloc(64 * 2 ** 20 + 1, 'a'), 'has 67108865 bytes'],
    ['lines', Buffer.alloc(2 ** 20 + 1, '\n'), 'has more than 1048576 lines'],
  ])('labels of more %s than the runtime reads are refused', async (_, bytes, message) => {
    const labels = scratch.write('data/labels.txt', bytes);
    const packing = pack(fixtureModel('image_nchw').directory, {
      postprocess: { boxes: { boxes: 'b', scores: 's', classes: 'c', labels } },
    });
    await expect(packing).rejects.toThrow(withCode('BAD_DECLARATION'));
    await expect(packing).rejects.toThrow(`${labels} ${message}`);
  });

  test('that do not fit the signature are refused', async () => {
    const packing = pack(fixtureModel('image_nchw').directory, {
      preprocess: { channels: 'gray' },
    });
    await expect(packing).rejects.toThrow(withCode('BAD_DECLARATION'));
    await expect(packing).rejects.toThrow(/^preprocess\.channels: /);
  });
});

test('an uncompressed layout holds the same files as the archive', async () => {
  const source = fixtureModel('digits').directory;
  const handler = scratch.write('inference.ts', HANDLER);
  const { path, manifest } = await pack(source, { handler });
  await layOut(path, scratch.path('unpacked'));
  const laid = await layOut({ source, handler }, scratch.path('laid'));
  expect(laid.manifest).toEqual(manifest);
  execFileSync('diff', ['-r', scratch.path('unpacked'), scratch.path('laid')]);
});

test('a layout that fails its check does not appear', async () => {
  const checked: string[] = [];
  const check = async (directory: string) => {
    checked.push(...readdirSync(directory));
    throw new Error('it does not work');
  };
  const source = fixtureModel('strings').directory;
  const out = scratch.path('laid');
  await expect(layOut({ source }, out, { check })).rejects.toThrow('it does not work');
  const baked = writeBakedImage({ source, out, baseImage: 'serving', check });
  await expect(baked).rejects.toThrow('it does not work');
  expect(checked).toEqual(['1', 'code', '1', 'code']);
  expect(readdirSync(scratch.path('.'))).toEqual([]);
});

test('a layout never goes into a folder that holds something', async () => {
  const file = scratch.write('taken/file', 'mine');
  const laying = layOut({ source: fixtureModel('strings').directory }, scratch.path('taken'));
  await expect(laying).rejects.toThrow(withCode('BAD_OPTION'));
  expect(readFileSync(file, 'utf8')).toBe('mine');
});
