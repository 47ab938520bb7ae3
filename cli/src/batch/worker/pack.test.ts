/** `batch pack` from S3 to S3: the worker without a model, and the names of what it packed back on the answers. */
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
