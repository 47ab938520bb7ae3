/** Outputs of inputs without records: no row is theirs, in any format, and they are counted apart. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { sagemakerTfs } from '../../test-support.ts';
import { fetchInParts } from './in-parts.ts';
import { folderOutputs, type OutputObject } from './source.ts';

let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'empty-outputs-'));
  mkdirSync(join(work, 'out'));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

/** `a` and `z` are empty; `b` has no predictions, which is an answer; `c` has one. */
function putOutputs(names: readonly string[]) {
  const texts: Record<string, string> = {
    a: '',
    b: '{"predictions": []}',
    c: '{"predictions": [{"x": 1}]}',
    z: '\n',
  };
  for (const name of names) writeFileSync(join(work, 'out', `${name}.out`), texts[name] ?? '');
}

async function fetched(format: string): Promise<{ file: string; report: unknown; text: string }> {
  const file = join(work, `all.${format}`);
  const args = ['batch', 'fetch', join(work, 'out'), '--out', file];
  const { exitCode, stdout } = await sagemakerTfs([...args, '--json']);
  expect(exitCode).toBe(0);
  const { stdout: text } = await sagemakerTfs(args);
  return { file, report: JSON.parse(stdout), text };
}

async function rowsIn(file: string): Promise<unknown[]> {
  if (file.endsWith('.parquet')) {
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file) });
    return rows.map((row) => (row as { key: string }).key);
  }
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return file.endsWith('.csv')
    ? lines.slice(1).map((line) => line.split(',')[0])
    : lines.map((line) => (JSON.parse(line) as { key: string }).key);
}

test.each([
  ['ndjson', ['b', 'c']],
  ['csv', ['c']],
  ['parquet', ['c']],
])('%s has no row of them, and the report counts them', async (format, keys) => {
  putOutputs(['a', 'b', 'c', 'z']);
  const { file, report, text } = await fetched(format);
  expect(report).toMatchObject({ outputs: 4, answers: 2, errors: 0, empty: 2 });
  expect(text).toContain('2 answers of 4 outputs');
  expect(text).toContain('2 outputs are empty, and have no row');
  expect(await rowsIn(file)).toEqual(keys);
});

test.each(['ndjson', 'csv', 'parquet'])('%s of nothing else has no rows', async (format) => {
  putOutputs(['a', 'z']);
  const { file, report } = await fetched(format);
  expect(report).toMatchObject({ outputs: 2, answers: 0, empty: 2 });
  expect(await rowsIn(file)).toEqual([]);
});

test.each(['ndjson', 'parquet'] as const)('files in parts count them too: %s', async (format) => {
  putOutputs(['a', 'b', 'c', 'z']);
  const open = async function* (_: unknown, after = ''): AsyncGenerator<OutputObject> {
    for await (const object of folderOutputs(join(work, 'out')).objects) {
      if (object.key > after) yield object;
    }
  };
  const whole = { prefix: '' };
  const folder = join(work, 'parts');
  const report = await fetchInParts(
    { open, whole, ranges: async () => [whole], rangesAtOnce: 1, reads: 1, smallerParts: '' },
    { from: 's3://bucket/out/', folder, format, partKeys: 1, share: { index: 0, of: 1 } },
  );
  expect(report).toMatchObject({ outputs: 4, answers: 2, empty: 2, files: 4, complete: true });
});
