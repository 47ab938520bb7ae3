/** `batch pack` from S3 to S3: the worker without a model, and the names of what it packed back on the answers. */
import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { PARTS_FOLDER } from '@sagemaker-tfs/batch';
import { readTfRecords } from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../../../test/fixtures/index.ts';
import { type GeneratedS3, startGeneratedS3 } from '../../../../tools/generated-s3.ts';
import { sagemakerTfs } from '../test-support.ts';

const COUNT = 40;
const BAD = 17;
const nameOf = (index: number) => `${index < 25 ? 'a b+%' : 'ü'}/${String(index).padStart(4, '0')}`;
const bodyOf = (index: number) =>
  Buffer.from(index === BAD ? '{"instances": ["none"]}' : `{"instances": [${index}]}`);
const MODEL = fixtureModel('half_plus_two').basePath;
/** The newest version adds 3. */
const answerOf = (x: number) => x / 2 + 3;

jest.setTimeout(300_000);

const work = mkdtempSync(join(tmpdir(), 'batch-pack-'));
let s3: GeneratedS3;
beforeAll(async () => {
  const keyOf = (index: number) => `in/${nameOf(index)}`;
  s3 = await startGeneratedS3({ tiles: { count: COUNT, keyOf, bodyOf } }, 10);
});
afterAll(async () => {
  await s3?.close();
});

const md5Of = (body: Uint8Array) => createHash('md5').update(body).digest('hex');
const command = (...args: string[]) => sagemakerTfs(['batch', ...args, '--json'], s3.environment);
const pack = (output: string, ...more: string[]) =>
  command('pack', 's3://tiles/in/', '--out', `s3://out/${output}/`, '--ranges', '4', ...more);

/** Parts by their names. */
function partsOf(output: string): [name: string, body: Uint8Array][] {
  const start = `${output}/${PARTS_FOLDER}`;
  return [...(s3.stored.get('out') ?? [])]
    .filter(([key]) => key.startsWith(start))
    .map(([key, { body }]): [string, Uint8Array] => [
      key.slice(start.length),
      Uint8Array.from(body),
    ])
    .sort();
}

test('every object is a record once, whoever packed it; verify compares the names', async () => {
  const first = await pack('packed', '--share', '1/2');
  expect(first.exitCode).toBe(0);
  const some = partsOf('packed').length;
  expect((await pack('packed', '--share', '2/2')).exitCode).toBe(0);
  expect(partsOf('packed').length).toBeGreaterThan(some);
  // Again: nothing is left to do.
  const again = await pack('packed');
  expect(JSON.parse(again.stdout)).toMatchObject({ answers: COUNT, failures: 0, now: 0 });
  const records = partsOf('packed').flatMap(([, body]) =>
    Array.from(readTfRecords(body), (record) => Buffer.from(record).toString()),
  );
  const bodies = Array.from({ length: COUNT }, (_, index) => bodyOf(index).toString());
  expect(records).toEqual(bodies);
  const places = ['--input-uri', 's3://tiles/in/', '--output-uri', 's3://out/packed/'];
  const verified = await command('verify', ...places, '--redrive', join(work, 'r.manifest'));
  expect(JSON.parse(verified.stdout)).toMatchObject({ inputs: COUNT, done: COUNT, missing: 0 });
});

test('no file is larger than asked, unless one record is', async () => {
  const size = ['--format', 'length-prefixed', '--shard-size', '100B'];
  expect((await pack('small', ...size)).exitCode).toBe(0);
  const sizes = partsOf('small').map(([, body]) => body.length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
  expect(sizes.reduce((sum, one) => sum + one, 0) / sizes.length).toBeGreaterThan(50);
  expect((await pack('tiny', '--shard-size', '1B')).exitCode).toBe(0);
  expect(partsOf('tiny')).toHaveLength(COUNT);
  expect((await pack('huge', '--shard-size', '5GB')).exitCode).toBe(2);
});

test('a run over its budget ends with what it has, and continues with more', async () => {
  const first = await pack('budget', '--budget-hours', '0.000001');
  expect(first.exitCode).toBe(1);
  expect(first.stdout + first.stderr).toContain('OVER_BUDGET');
  expect(partsOf('budget').length).toBeLessThan(4);
  expect((await pack('budget', '--budget-hours', '100')).exitCode).toBe(0);
  expect(partsOf('budget')).toHaveLength(partsOf('packed').length);
  expect([...(s3.stored.get('out') ?? [])].filter(([key]) => key.includes('/hours/'))).toHaveLength(
    4,
  );
});

test('where S3 refuses every try, the last word says how often, and how to continue', async () => {
  s3.fail = (method, _, key) => (method === 'GET' && key.startsWith('in/') ? 503 : undefined);
  const { exitCode, stdout } = await sagemakerTfs(
    ['batch', 'pack', 's3://tiles/in/', '--out', 's3://out/refused/', '--json'],
    { ...s3.environment, AWS_MAX_ATTEMPTS: '2' },
  );
  s3.fail = undefined;
  expect(exitCode).toBe(1);
  expect(stdout).toContain(
    'It was tried 2 times. What is written stays. Run it again to continue.',
  );
});

describe('from an S3 inventory', () => {
  const URI = 's3://lists/daily/manifest.json';
  /** In no order, in two files; one object has been written since, one deleted, and one is no longer the current version. */
  const LISTED = Array.from({ length: COUNT - 1 }, (_, at) => (at * 7) % (COUNT - 1));
  const inventory = (keys: readonly string[], more: readonly string[] = []) => {
    const place = new Map<string, { body: Uint8Array; modified: number; metadata: object }>();
    const add = (key: string, text: string) =>
      place.set(`daily/${key}`, { body: Buffer.from(text), modified: 0, metadata: {} });
    const row = (key: string, latest = true) =>
      `"tiles","${encodeURIComponent(key)}","20","2026-01-01T00:00:00.000Z","${latest}"\n`;
    const half = keys.length >> 1;
    const files = [keys.slice(0, half), keys.slice(half)].map((some, at) => {
      const old = at === 0 ? more.map((key) => row(key, false)) : [];
      add(`${at}.csv`, [...some.map((key) => row(key)), ...old].join(''));
      const body = place.get(`daily/${at}.csv`)?.body ?? new Uint8Array();
      return { key: `daily/${at}.csv`, size: body.length, MD5checksum: md5Of(body) };
    });
    const fileSchema = 'Bucket, Key, Size, LastModifiedDate, IsLatest';
    const creationTimestamp = String(keys.length);
    add(
      'manifest.json',
      JSON.stringify({
        sourceBucket: 'tiles',
        fileFormat: 'CSV',
        creationTimestamp,
        fileSchema,
        files,
      }),
    );
    const manifest = place.get('daily/manifest.json')?.body ?? new Uint8Array();
    add('manifest.checksum', `${md5Of(manifest)}\n`);
    (s3.stored as Map<string, unknown>).set('lists', place);
  };
  const named = (numbers: readonly number[]) => numbers.map((at) => `in/${nameOf(at)}`);

  test('what it lists is packed once, by two processes, in the order of keys', async () => {
    inventory([...named(LISTED), 'in/gone', 'elsewhere/x'], named([COUNT - 1]));
    const before = { ...s3.calls };
    expect((await pack('listed', '--inventory', URI, '--share', '1/2')).exitCode).toBe(0);
    expect((await pack('listed', '--inventory', URI, '--share', '2/2')).exitCode).toBe(0);
    const records = partsOf('listed').flatMap(([, body]) =>
      Array.from(readTfRecords(body), (record) => Buffer.from(record).toString()),
    );
    expect(records).toEqual(Array.from({ length: COUNT - 1 }, (_, at) => bodyOf(at).toString()));
    const sorted = [...(s3.stored.get('out') ?? [])].filter(([key]) =>
      key.startsWith('listed/_worker/inventory/'),
    );
    // Two runs, and a file beside each.
    expect(sorted.map(([key]) => key.slice('listed/_worker/inventory/'.length)).sort()).toEqual([
      ...['00000-000.gz', '00000.json', '00001-000.gz', '00001.json'],
    ]);
    expect(s3.calls.PUT).toBeGreaterThan(before.PUT ?? 0);
    const places = ['--input-uri', 's3://tiles/in/', '--output-uri', 's3://out/listed/'];
    const redrive = join(work, 'listed.manifest');
    const verified = await command('verify', ...places, '--redrive', redrive);
    // The deleted object is listed for ever, and was dealt with.
    expect(verified.exitCode).toBe(0);
    expect(JSON.parse(verified.stdout)).toMatchObject({
      inputs: COUNT - 1,
      done: COUNT - 1,
      missing: 0,
      gone: 1,
    });
    const { stdout } = await sagemakerTfs(
      ['batch', 'pack', 's3://tiles/in/', '--out', 's3://out/listed/', '--inventory', URI],
      s3.environment,
    );
    expect(stdout).toContain(
      `${COUNT - 1} objects packed, 1 deleted meanwhile in 4 ranges; 0 of these ${COUNT} now, in `,
    );
    // Another list is another run.
    inventory(named([1, 2]));
    const other = await pack('listed', '--inventory', URI);
    expect(other.stdout + other.stderr).toContain('OTHER_RUN');
    const listing = await pack('listed');
    expect(listing.stdout + listing.stderr).toContain('OTHER_RUN');
  });

  test.each<[what: string, key: string, change: (body: Uint8Array) => Uint8Array | undefined]>([
    [
      'a data file has other bytes',
      '1.csv',
      (body) => Buffer.from(String(body).replace('20', '21')),
    ],
    ['a data file is shorter', '1.csv', (body) => body.subarray(body.indexOf(0x0a) + 1)],
    ['a data file is gone', '1.csv', () => undefined],
    ['a row has too few fields', '1.csv', () => Buffer.from('"tiles"\n')],
    ['a key is not encoded', '1.csv', (body) => Buffer.from(String(body).replace('in%2F', 'in%'))],
    ['the manifest is not that of its checksum', 'manifest.checksum', () => Buffer.from('0')],
  ])('is refused where %s', async (what, key, change) => {
    inventory(named(LISTED));
    const list = s3.stored.get('lists');
    const file = list?.get(`daily/${key}`);
    const body = file && change(file.body);
    if (body) list?.set(`daily/${key}`, { ...file, body });
    else list?.delete(`daily/${key}`);
    const output = `other-${what.replaceAll(' ', '-')}`;
    const refused = await pack(output, '--inventory', URI);
    expect(refused.exitCode).toBe(1);
    expect(refused.stdout + refused.stderr).toContain('INVENTORY_INVALID');
    expect(refused.stdout + refused.stderr).toContain(key);
    expect(refused.stdout + refused.stderr).not.toContain('Start the run again');
    expect(partsOf(output)).toEqual([]);
  });

  test('a run whose S3 fails while the inventory is sorted continues', async () => {
    inventory(named(LISTED));
    s3.fail = (_, bucket, key) => (bucket === 'lists' && key.endsWith('1.csv') ? 403 : undefined);
    const failed = await pack('again', '--inventory', URI);
    expect(failed.exitCode).toBe(1);
    expect(failed.stdout + failed.stderr).toContain('INVENTORY_NOT_READ');
    expect(partsOf('again')).toEqual([]);
    let reads = 0;
    s3.fail = (method, bucket, key) => {
      if (bucket !== 'lists' || method !== 'GET' || !key.endsWith('.csv')) return undefined;
      // The connection breaks once.
      return ++reads === 1 ? 0 : undefined;
    };
    const report = await pack('again', '--inventory', URI);
    s3.fail = undefined;
    expect(JSON.parse(report.stdout)).toMatchObject({ answers: COUNT - 1, failures: 0 });
    // The file that was sorted is not read again, the other twice.
    expect(reads).toBe(2);
  });

  test.each<[what: string, args: readonly string[], message: string]>([
    [
      'that lists another bucket',
      ['--inventory', 's3://lists/daily/other.json'],
      'lists bucket other',
    ],
    ['without sizes', ['--inventory', 's3://lists/daily/sizes.json'], 'no Size'],
    ['that is not there', ['--inventory', 's3://lists/none.json'], 'INVENTORY_NOT_READ'],
    ['that is no S3 URI', ['--inventory', 'manifest.json'], 'Give an S3 URI'],
  ])('one %s is refused', async (what, args, message) => {
    inventory(named(LISTED));
    const place = s3.stored.get('lists');
    const { body } = place?.get('daily/manifest.json') ?? { body: Buffer.of() };
    const text = Buffer.from(body).toString();
    const put = (key: string, changed: string) =>
      place?.set(`daily/${key}`, { body: Buffer.from(changed), modified: 0, metadata: {} });
    put('other.json', text.replace('"tiles"', '"other"'));
    put('sizes.json', text.replace('Size', 'ETag'));
    const { exitCode, stdout, stderr } = await pack(what.replaceAll(' ', '-'), ...args);
    expect(exitCode).toBeGreaterThan(0);
    expect(stdout + stderr).toContain(message);
  });
});

test('another framing into the same prefix is refused, and so is a model', async () => {
  const { exitCode, stdout, stderr } = await pack('packed', '--format', 'recordio');
  expect(exitCode).toBe(1);
  expect(stdout + stderr).toContain('OTHER_RUN');
  const folder = await command('pack', work, '--out', 's3://out/folder/');
  expect(folder.exitCode).toBe(2);
});

test('answers to packed objects get their names back', async () => {
  const shards = join(work, 'shards');
  await mkdir(shards);
  for (const [name, body] of partsOf('packed')) await writeFile(join(shards, name), body);
  const answers = join(work, 'answers');
  await sagemakerTfs([
    ...['batch', 'local', shards, '--out', answers, '--model', MODEL],
    ...['--content-type', 'application/json', '--split-type', 'TFRecord'],
    ...['--batch-strategy', 'SingleRecord', '--assemble-with', 'Line'],
  ]);
  const place = s3.stored.get('out');
  for (const [name] of partsOf('packed')) {
    const output = await readFile(join(answers, `${name}.out`)).catch(() => undefined);
    if (output)
      place?.set(`answers/${name}.out`, { body: output, modified: Date.now(), metadata: {} });
  }
  const file = join(work, 'answers.ndjson');
  const fetched = await command(
    ...['fetch', 's3://out/answers/', '--input-uri', `s3://out/packed/${PARTS_FOLDER}`],
    ...['--out', file],
  );
  expect(fetched.exitCode).toBe(0);
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const found = lines.map((line) => JSON.parse(line) as { key: string; output: number });
  // The file that holds a bad record has no output.
  expect(found.length).toBeGreaterThan(0);
  expect(found.length).toBeLessThan(COUNT);
  const right = new Map(Array.from({ length: COUNT }, (_, at) => [nameOf(at), answerOf(at)]));
  for (const { key, output } of found) expect([key, output]).toEqual([key, right.get(key)]);
});

test('names are found beside parts that were brought to disk; where there are none, fetch says so', async () => {
  const parts = join(work, 'disk', 'parts');
  const keys = join(work, 'disk', '_worker', 'keys');
  for (const folder of [parts, keys]) await mkdir(folder, { recursive: true });
  for (const [key, { body }] of s3.stored.get('out') ?? []) {
    if (!key.startsWith('packed/_worker/keys/')) continue;
    await writeFile(join(keys, basename(key)), body);
  }
  const file = join(work, 'disk.ndjson');
  const fetchWith = (packed: string) =>
    command('fetch', join(work, 'answers'), '--packed', packed, '--out', file);
  expect((await fetchWith(parts)).exitCode).toBe(0);
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const names = lines.map((line) => (JSON.parse(line) as { key: string }).key);
  const known = new Set(Array.from({ length: COUNT }, (_, at) => nameOf(at)));
  expect(names.filter((name) => !known.has(name))).toEqual([]);
  expect((await fetchWith(join(work, 'nowhere'))).exitCode).toBe(2);
});

test('a local job over packed files too', async () => {
  const [inputs, shards, answers] = ['files', 'local', 'outputs'].map((name) => join(work, name));
  for (let index = 0; index < 5; index++) {
    const path = join(inputs as string, nameOf(index));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bodyOf(index));
  }
  await command('pack', inputs as string, '--out', shards as string);
  await sagemakerTfs([
    ...['batch', 'local', shards as string, '--out', answers as string, '--model', MODEL],
    ...['--content-type', 'application/json', '--split-type', 'TFRecord'],
    ...['--batch-strategy', 'SingleRecord', '--assemble-with', 'Line'],
  ]);
  const file = join(work, 'local.ndjson');
  await command('fetch', answers as string, '--packed', shards as string, '--out', file);
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    Array.from({ length: 5 }, (_, at) => ({ key: nameOf(at), output: answerOf(at) })),
  );
});
