/** `batch fetch --part-keys` against an S3 of generated outputs: killed, refused, shared among processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { type GeneratedS3, startGeneratedS3 } from '../../../../../tools/generated-s3.ts';
import { ROOT, sagemakerTfs } from '../../test-support.ts';

jest.setTimeout(180_000);

const COUNT = 1_500;
/** Names that part at several places, one that is the start of others, and other objects between them. */
const keyOf = (index: number) => {
  const name = `out/${['a b+', 'b%2', 'ü'][Math.floor(index / 500)]}/${String(index).padStart(5, '0')}`;
  return index % 10 === 9 ? `${name}.manifest` : `${name}.jpg.out`;
};
const OUTPUTS = COUNT - COUNT / 10;
/** Late outputs have a field that the first thousand outputs lack. */
const bodyOf = (index: number) =>
  Buffer.from(JSON.stringify({ at: index, ...(index > 1_200 && { late: index % 7 }) }));

const work = mkdtempSync(join(tmpdir(), 'fetch-parts-'));
let s3: GeneratedS3;
let whole: string[];
beforeAll(async () => {
  s3 = await startGeneratedS3({ data: { count: COUNT, keyOf, bodyOf } }, 100);
  const file = join(work, 'whole.ndjson');
  await sagemakerTfs(['batch', 'fetch', 's3://data/out/', '--out', file], s3.environment);
  whole = linesOf([file]).sort();
});
afterEach(() => {
  s3.fail = undefined;
});
afterAll(async () => {
  await s3?.close();
  rmSync(work, { recursive: true, force: true });
});

const linesOf = (files: readonly string[]) =>
  files.flatMap((file) => readFileSync(file, 'utf8').split('\n').filter(Boolean));

/** Files of a folder that are no state. */
const filesOf = (folder: string, end = '.ndjson') =>
  readdirSync(folder)
    .filter((name) => name.endsWith(end))
    .sort()
    .map((name) => join(folder, name));

const lineOf = (folder: string, ...more: string[]) => [
  ...['batch', 'fetch', 's3://data/out/', '--out', folder, '--part-keys', '50', '--json', ...more],
];
const fetchInto = (folder: string, ...more: string[]) =>
  sagemakerTfs(lineOf(folder, ...more), s3.environment);

const COMPLETE = { outputs: OUTPUTS, answers: OUTPUTS, errors: 0, complete: true };

test('the parts hold each answer of the single file once, none more outputs than it may', async () => {
  expect(whole).toHaveLength(OUTPUTS);
  const folder = join(work, 'plain');
  const before = s3.calls.GET ?? 0;
  const { exitCode, stdout } = await fetchInto(folder);
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, COMPLETE]);
  const files = filesOf(folder);
  expect(JSON.parse(stdout)).toMatchObject({ files: files.length });
  expect(readFileSync(join(folder, '_fetch/table.sql'), 'utf8')).toContain('`output` string');
  expect(linesOf(files).sort()).toEqual(whole);
  expect(Math.max(...files.map((file) => linesOf([file]).length))).toBe(50);
  // Several ranges, each output read once.
  expect(new Set(files.map((file) => file.split('/').at(-1)?.split('-')[0])).size).toBeGreaterThan(
    20,
  );
  expect((s3.calls.GET ?? 0) - before).toBe(OUTPUTS);

  const again = s3.calls.GET ?? 0;
  expect(JSON.parse((await fetchInto(folder)).stdout)).toMatchObject(COMPLETE);
  expect(s3.calls.GET ?? 0).toBe(again);
});

test('killed at any moment, it continues: nothing is lost or there twice, and little is read again', async () => {
  const folder = join(work, 'killed');
  const before = s3.calls.GET ?? 0;
  const kills = 4;
  for (let kill = 1; kill <= kills; kill++) {
    const child = spawn(
      process.execPath,
      [join(ROOT, 'cli/bin/sagemaker-tfs.js'), ...lineOf(folder)],
      { env: { ...process.env, ...s3.environment }, stdio: 'ignore' },
    );
    // After a number of reads, not of seconds: the machine may be slow.
    const most = (s3.calls.GET ?? 0) + 100 + 37 * kill;
    s3.fail = () => {
      if ((s3.calls.GET ?? 0) >= most) child.kill('SIGKILL');
      return undefined;
    };
    await once(child, 'close');
  }
  s3.fail = undefined;
  const { stdout } = await fetchInto(folder);
  expect(JSON.parse(stdout)).toMatchObject(COMPLETE);
  expect(linesOf(filesOf(folder)).sort()).toEqual(whole);
  // Each kill costs the unfinished part of at most 16 ranges, and what is read ahead.
  expect((s3.calls.GET ?? 0) - before).toBeLessThan(OUTPUTS + kills * 16 * (50 + 16));
});

test('an S3 that refuses every third read, and breaks off others, changes nothing', async () => {
  let reads = 0;
  s3.fail = (method) => {
    if (method !== 'GET') return undefined;
    reads++;
    return reads % 3 === 0 ? 503 : reads % 50 === 0 ? 0 : undefined;
  };
  const folder = join(work, 'refused');
  expect((await fetchInto(folder)).exitCode).toBe(0);
  expect(linesOf(filesOf(folder)).sort()).toEqual(whole);
});

test('shares write into the same folder at the same time', async () => {
  const folder = join(work, 'shares');
  const ended = await Promise.all(
    ['1/3', '2/3', '3/3'].map((share) => fetchInto(folder, '--share', share)),
  );
  expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  expect(JSON.parse((await fetchInto(folder, '--share', '2/3')).stdout)).toMatchObject(COMPLETE);
  expect(linesOf(filesOf(folder)).sort()).toEqual(whole);
});

test('one share alone says that it is not all', async () => {
  const { stdout } = await fetchInto(join(work, 'one'), '--share', '1/3');
  const report = JSON.parse(stdout) as { outputs: number; complete: boolean };
  expect(report.complete).toBe(false);
  expect(report.outputs).toBeLessThan(OUTPUTS);
});

test('all files of a table have the same columns; what is not among them is in `other`', async () => {
  const csv = join(work, 'csv');
  await fetchInto(csv, '--format', 'csv');
  const heads = filesOf(csv, '.csv').map((file) => linesOf([file])[0]);
  expect(new Set(heads)).toEqual(new Set(['key,record,at,other']));
  const parquet = join(work, 'parquet');
  await fetchInto(parquet, '--format', 'parquet');
  const rows: Record<string, unknown>[] = [];
  for (const file of filesOf(parquet, '.parquet')) {
    rows.push(...(await parquetReadObjects({ file: await asyncBufferFromFile(file) })));
  }
  rows.sort((a, b) => Number(a.at) - Number(b.at));
  expect(rows.map(({ at }) => at)).toEqual(
    Array.from({ length: COUNT }, (_, index) => index).filter((index) => index % 10 !== 9),
  );
  expect(rows.find(({ at }) => at === 1_201)).toMatchObject({
    other: JSON.stringify({ late: 1_201 % 7 }),
  });
});

test('a folder with anything else, or with another fetch, is left alone', async () => {
  const other = join(work, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'mine.txt'), '');
  const { exitCode, stdout } = await fetchInto(other);
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([2, { code: 'OUTPUT_EXISTS' }]);
  expect(readdirSync(other)).toEqual(['mine.txt']);

  const folder = join(work, 'one');
  const changed = await fetchInto(folder, '--format', 'csv');
  expect(JSON.parse(changed.stdout)).toMatchObject({ code: 'OUTPUT_EXISTS' });
  expect((await fetchInto(folder, '--share', '4/3')).exitCode).toBe(2);
  const none = [
    'batch',
    'fetch',
    's3://data/none/',
    '--out',
    join(work, 'none'),
    '--part-keys',
    '1',
  ];
  expect((await sagemakerTfs(none, s3.environment)).stderr).toContain('there are no outputs');
});
