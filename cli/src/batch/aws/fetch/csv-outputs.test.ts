/** Outputs in CSV, as `batch local --accept text/csv` writes them: what a cell looks like does not decide what it is. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { fixtureModel } from '../../../../../test/fixtures/index.ts';
import { sagemakerTfs } from '../../test-support.ts';

jest.setTimeout(120_000);

/** Texts that are JSON, would be if their backslashes were read, or have more than one line. */
const TEXTS = ['7', 'true', '{"a": 1}', 'C:\\new', 'two\nlines', 'say "so"', 'a,b', ''];
const KEYS = ['all.jsonl', 'one.jsonl'];

let work: string;
beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'csv-outputs-'));
  mkdirSync(join(work, 'in'));
  const lines = TEXTS.map((text) => JSON.stringify(text)).join('\n');
  writeFileSync(join(work, 'in', 'all.jsonl'), lines);
  writeFileSync(join(work, 'in', 'one.jsonl'), '"7"');
  const { exitCode, stderr } = await sagemakerTfs([
    ...['batch', 'local', join(work, 'in'), '--out', join(work, 'out')],
    ...['--model', fixtureModel('strings').basePath, '--content-type', 'application/jsonlines'],
    ...[
      '--accept',
      'text/csv',
      '--custom-attributes',
      'tfs-signature=bytes,tfs-outputs=echo_bytes',
    ],
  ]);
  expect([exitCode, stderr]).toEqual([0, expect.anything()]);
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

async function fetched(name: string, ...more: string[]): Promise<string> {
  const file = join(work, name);
  const { exitCode } = await sagemakerTfs([
    ...['batch', 'fetch', join(work, 'out'), '--out', file, ...more],
  ]);
  expect(exitCode).toBe(0);
  return file;
}

const ROWS = [
  ...TEXTS.map((output, record) => ({ key: KEYS[0], record, output })),
  { key: KEYS[1], output: '7' },
];

test('every text comes back as it was, a row each', async () => {
  const lines = readFileSync(await fetched('r.ndjson'), 'utf8')
    .trimEnd()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(ROWS);
  const file = await asyncBufferFromFile(await fetched('r.parquet'));
  const rows = (await parquetReadObjects({ file })) as { prediction: string }[];
  expect(rows.map(({ prediction }) => prediction)).toEqual(ROWS.map(({ output }) => output));
});
