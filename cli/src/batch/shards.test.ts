import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PACK_FORMATS } from '@sagemaker-tfs/batch';
import { packFolder, unpackShards } from './shards.ts';
import { ROOT, sagemakerTfs } from './test-support.ts';

const SAMPLES = join(ROOT, 'examples/tiles/samples');

let work: string;
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'shards-'));
});
afterEach(() => rm(work, { recursive: true, force: true }));

const shardsIn = async (directory: string) =>
  (await readdir(directory)).sort().map((name) => join(directory, name));

test.each(PACK_FORMATS)(
  '%s: what is packed comes back byte for byte, under its name',
  async (format) => {
    const names = await readdir(SAMPLES);
    const report = await packFolder(SAMPLES, join(work, 'shards'), { format, shardBytes: 50_000 });
    expect(report.records).toBe(names.length);
    const shards = await shardsIn(join(work, 'shards'));
    expect(shards.length).toBe(report.shards);
    expect(shards.length).toBeGreaterThan(1);
    await unpackShards(shards, join(work, 'back'));
    expect((await readdir(join(work, 'back'))).sort()).toEqual([...names].sort());
    for (const name of names) {
      expect(await readFile(join(work, 'back', name))).toEqual(await readFile(join(SAMPLES, name)));
    }
  },
);

test('records are in the order of their keys, as the rows of a fetch, whatever the disk lists', async () => {
  // A folder stands for the keys below it; U+FF5A comes before U+1F600 in UTF-8, behind it in UTF-16.
  const keys = ['B', 'a-b', 'a/x', 'a0', 'z', '\u{ff5a}', '\u{1f600}'];
  await mkdir(join(work, 'in/a'), { recursive: true });
  for (const key of keys.toReversed()) await writeFile(join(work, 'in', key), key);
  await packFolder(join(work, 'in'), join(work, 'shards'), {
    format: 'length-prefixed',
    shardBytes: 1e9,
  });
  const names = await readFile(join(work, 'shards.keys/shard-000000.ndjson'), 'utf8');
  expect(names.trimEnd().split('\n')).toEqual(keys.map((key) => JSON.stringify(key)));
  const [shard = ''] = await shardsIn(join(work, 'shards'));
  const bytes = keys.map((key) => Buffer.from(key));
  const framed = bytes.flatMap((one) => [Buffer.from([0, 0, 0, one.length]), one]);
  expect(await readFile(shard)).toEqual(Buffer.concat(framed));
});

test('a link is refused: the names would not lie beside the folder that it leads to', async () => {
  await mkdir(join(work, 'volume'));
  await symlink(join(work, 'volume'), join(work, 'shards'));
  const packing = packFolder(SAMPLES, `${work}/shards/`, {
    format: 'tfrecord',
    shardBytes: 50_000,
  });
  await expect(packing).rejects.toMatchObject({ code: 'USAGE' });
  expect(await readlink(join(work, 'shards'))).toBe(join(work, 'volume'));
});

test('without the names, a shard unpacks into numbered files', async () => {
  await packFolder(SAMPLES, join(work, 'shards'), { format: 'tfrecord', shardBytes: 1e9 });
  await rm(join(work, 'shards.keys/shard-000000.ndjson'));
  await unpackShards(await shardsIn(join(work, 'shards')), join(work, 'back'));
  expect(await readdir(join(work, 'back'))).toContain('shard-000000-000000');
});

test('a damaged shard names the record; files before it are there', async () => {
  await packFolder(SAMPLES, join(work, 'shards'), { format: 'tfrecord', shardBytes: 1e9 });
  const [shard = ''] = await shardsIn(join(work, 'shards'));
  const bytes = await readFile(shard);
  bytes.writeUInt8((bytes[bytes.length - 10] ?? 0) ^ 1, bytes.length - 10);
  await writeFile(shard, bytes);
  await expect(unpackShards([shard], join(work, 'back'))).rejects.toThrow(/TFRecord record \d+/);
});

test('what fails leaves no file open', async () => {
  const openFiles = async () => {
    const links = await readdir('/proc/self/fd');
    const paths = await Promise.all(
      links.map((link) => readlink(join('/proc/self/fd', link)).catch(() => '')),
    );
    return paths.filter((path) => path.startsWith(work));
  };
  const pack = { format: 'tfrecord', shardBytes: 1e9 } as const;
  const onRecord = () => {
    throw new Error('the disk is full');
  };
  await expect(packFolder(SAMPLES, join(work, 'no'), { ...pack, onRecord })).rejects.toThrow(
    'full',
  );
  expect(await openFiles()).toEqual([]);
  await packFolder(SAMPLES, join(work, 'shards'), pack);
  const [shard = ''] = await shardsIn(join(work, 'shards'));
  const bytes = await readFile(shard);
  bytes.writeUInt8((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1);
  await writeFile(shard, bytes);
  // The list of names is longer than what is read of it at once.
  await appendFile(join(work, 'shards.keys/shard-000000.ndjson'), '"name"\n'.repeat(100_000));
  await expect(unpackShards([shard], join(work, 'back'))).rejects.toThrow('record');
  expect(await openFiles()).toEqual([]);
});

test('a record whose name leads out of the folder is refused', async () => {
  await packFolder(SAMPLES, join(work, 'shards'), { format: 'recordio', shardBytes: 1e9 });
  await writeFile(join(work, 'shards.keys/shard-000000.ndjson'), '"../out"\n');
  const [shard = ''] = await shardsIn(join(work, 'shards'));
  await expect(unpackShards([shard], join(work, 'back'))).rejects.toMatchObject({
    code: 'UNSAFE_PATH',
  });
});

test.each([
  ['a name twice', ['"a"', '"a"', '"b"'], 'USAGE'],
  ['two spellings of a name', ['"a"', '"./a"', '"b"'], 'USAGE'],
  ['an object', ['"a"', '{"a":1}', '"b"'], 'USAGE'],
  ['a number', ['"a"', '5', '"b"'], 'USAGE'],
  ['no JSON', ['"a"', 'b', '"c"'], 'USAGE'],
  ['no name', ['"a"', '""', '"b"'], 'USAGE'],
  ['NUL', ['"a"', '"\\u0000"', '"b"'], 'USAGE'],
  ['a line break', ['"a"', '"b\\nc"', '"d"'], 'USAGE'],
  ['a way out at the end', ['"a"', '"b"', '"../c"'], 'UNSAFE_PATH'],
])('a list of names with %s is refused before anything is written', async (_, lines, code) => {
  const [shard, list] = await threeRecords();
  await writeFile(list, `${lines.join('\n')}\n`);
  await expect(unpackShards([shard], join(work, 'back'))).rejects.toMatchObject({ code });
  expect(await readdir(work)).not.toContain('back');
});

test.each([
  ['fewer', ['"a"', '"b"']],
  ['more', ['"a"', '"b"', '"c"', '"d"']],
])('%s names than records are an error', async (than, lines) => {
  const [shard, list] = await threeRecords();
  await writeFile(list, `${lines.join('\n')}\n`);
  await expect(unpackShards([shard], join(work, 'back'))).rejects.toThrow(`${than} names`);
});

test('a link in the target that leads out of it is not followed, one that stays is', async () => {
  const [shard, list] = await threeRecords();
  await mkdir(join(work, 'back/in'), { recursive: true });
  await mkdir(join(work, 'far'));
  await writeFile(join(work, 'far/file'), 'kept');
  await symlink(join(work, 'far'), join(work, 'back/ln'));
  await symlink(join(work, 'far/file'), join(work, 'back/file'));
  await symlink('in', join(work, 'back/near'));
  for (const name of ['ln/x', 'ln/x/y', 'file']) {
    await writeFile(list, `"a"\n"near/b"\n${JSON.stringify(name)}\n`);
    const unpacking = unpackShards([shard], join(work, 'back'));
    await expect(unpacking).rejects.toMatchObject({ code: 'UNSAFE_PATH' });
  }
  expect(await readdir(join(work, 'far'))).toEqual(['file']);
  expect(await readFile(join(work, 'far/file'), 'utf8')).toBe('kept');
  expect(await readdir(join(work, 'back/in'))).toEqual(['b']);
});

/** @returns a shard of three records, and its list of names */
async function threeRecords(): Promise<[shard: string, list: string]> {
  await mkdir(join(work, 'in'));
  for (const name of ['a', 'b', 'c']) await writeFile(join(work, 'in', name), name);
  const pack = { format: 'tfrecord', shardBytes: 1e9 } as const;
  await packFolder(join(work, 'in'), join(work, 'shards'), pack);
  const [shard = ''] = await shardsIn(join(work, 'shards'));
  return [shard, join(work, 'shards.keys/shard-000000.ndjson')];
}

test('a file where a folder is to be is an error of the output, with its code', async () => {
  await writeFile(join(work, 'file'), '');
  const refused = { code: 'OUTPUT_FAILED' };
  await expect(
    packFolder(SAMPLES, join(work, 'file/shards'), { format: 'recordio', shardBytes: 1e9 }),
  ).rejects.toMatchObject(refused);
  await packFolder(SAMPLES, join(work, 'shards'), { format: 'recordio', shardBytes: 1e9 });
  const shards = await shardsIn(join(work, 'shards'));
  await expect(unpackShards(shards, join(work, 'file'))).rejects.toMatchObject(refused);
});

test('the command packs with a size of its own, and refuses a folder with shards in it', async () => {
  const out = join(work, 'shards');
  const pack = ['batch', 'pack', SAMPLES, '--out', out, '--shard-size', '100KB', '--json'];
  const first = await sagemakerTfs(pack);
  expect(JSON.parse(first.stdout)).toMatchObject({ failures: [] });
  const second = await sagemakerTfs(pack);
  expect(second.exitCode).toBe(2);
  expect(JSON.parse(second.stdout)).toMatchObject({ code: 'OUTPUT_EXISTS' });
  await mkdir(join(work, 'empty'));
  const none = await sagemakerTfs(['batch', 'pack', join(work, 'empty'), '--out', join(work, 'x')]);
  expect(none.exitCode).toBe(2);
});

test('an empty file, and one that a link outside leads to, are in no shard and are named', async () => {
  const inputs = join(work, 'inputs');
  await mkdir(inputs);
  await writeFile(join(inputs, 'a'), 'a');
  await writeFile(join(inputs, 'b'), '');
  await writeFile(join(work, 'far'), 'far');
  await symlink(join(work, 'far'), join(inputs, 'c'));
  const pack = { format: 'tfrecord', shardBytes: 1_000 } as const;
  const empty = { key: 'b', message: expect.stringContaining('empty') };
  expect(await packFolder(inputs, join(work, 'shards'), pack)).toMatchObject({
    records: 1,
    failures: [empty, { key: 'c', message: expect.stringContaining('--follow-links') }],
  });
  const followed = await packFolder(inputs, join(work, 'more'), { ...pack, followLinks: true });
  expect(followed).toMatchObject({ records: 2, failures: [empty] });
});
