/** `batch fetch --join`: answers beside what else is known of their inputs. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { parquetWriteFile } from 'hyparquet-writer';
import { generatedClient } from '../../../../../tools/generated-client.ts';
import { fetchOutputs } from './fetch.ts';
import { fetchInParts } from './in-parts.ts';
import { readMetadata } from './metadata.ts';
import { folderOutputs, rangedOutputs } from './source.ts';
import type { FileFormat } from './write-file.ts';

const work = mkdtempSync(join(tmpdir(), 'fetch-join-'));
const outputs = join(work, 'outputs');
beforeAll(() => {
  mkdirSync(outputs);
  writeFileSync(join(outputs, 'a.jpg.out'), '{"predictions":[{"digit":7},{"digit":8}]}');
  writeFileSync(join(outputs, 'b.jpg.out'), '{"predictions":[{"digit":1}]}');
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(work, name);
  writeFileSync(path, text);
  return path;
}

async function fetched(metadata: string, on: string, format: FileFormat) {
  const path = join(work, `answers.${format}`);
  const found = { file: path, format, metadata: await readMetadata(metadata, on) };
  await fetchOutputs(folderOutputs(outputs), found);
  return path;
}

const CSV = 'path,site,zip,height,digit\na.jpg,"north, 1",007,1.5,4\nc.jpg,x,008,2,5\n';
const EXPECTED = [
  { key: 'a.jpg', record: 0, digit: 7, site: 'north, 1', zip: '007', height: 1.5, input_digit: 4 },
  { key: 'a.jpg', record: 1, digit: 8, site: 'north, 1', zip: '007', height: 1.5, input_digit: 4 },
  { key: 'b.jpg', record: 0, digit: 1, site: null, zip: null, height: null, input_digit: null },
].map((row) => ({ ...row, other: null }));

const parquetRows = async (path: string) =>
  parquetReadObjects({ file: await asyncBufferFromFile(path) });

test('CSV, JSON Lines and Parquet give the same rows', async () => {
  const rows = [
    { path: 'a.jpg', site: 'north, 1', zip: '007', height: 1.5, digit: 4 },
    { path: 'c.jpg', site: 'x', zip: '008', height: 2, digit: 5 },
  ];
  const parquet = join(work, 'known.parquet');
  const names = ['path', 'site', 'zip', 'height', 'digit'] as const;
  const columnData = names.map((name) => ({ name, data: rows.map((row) => row[name]) }));
  parquetWriteFile({ filename: parquet, columnData });
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  for (const known of [file('known.csv', CSV), file('known.jsonl', lines), parquet]) {
    expect(await parquetRows(await fetched(known, 'path', 'parquet'))).toEqual(EXPECTED);
  }
});

test('a text that JSON Lines hold as it is may have what readline takes for the end of a line', async () => {
  const site = 'a\u2028b\u2029c\u0085d';
  const known = file('odd.jsonl', `${JSON.stringify({ path: 'b.jpg', site })}\r\n`);
  const lines = readFileSync(await fetched(known, 'path', 'ndjson'), 'utf8')
    .trim()
    .split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ key: 'b.jpg', input: { site } });
});

test('a line of NDJSON has the row beside the answer; CSV has it behind', async () => {
  const known = file('known.csv', CSV);
  const [first = '', last = ''] = readFileSync(await fetched(known, 'path', 'ndjson'), 'utf8')
    .trim()
    .split('\n');
  expect(JSON.parse(first)).toEqual({
    key: 'a.jpg',
    output: { predictions: [{ digit: 7 }, { digit: 8 }] },
    input: { site: 'north, 1', zip: '007', height: 1.5, digit: 4 },
  });
  expect(JSON.parse(last)).toEqual({ key: 'b.jpg', output: { predictions: [{ digit: 1 }] } });
  expect(
    readFileSync(await fetched(known, 'path', 'csv'), 'utf8')
      .split('\n')
      .slice(0, 2),
  ).toEqual([
    'key,record,digit,other,site,zip,height,input_digit',
    'a.jpg,0,7,,"north, 1",007,1.5,4',
  ]);
});

test('in parts: all have the columns, so has the statement for Athena, and other metadata is refused', async () => {
  const { s3 } = generatedClient({
    out: {
      count: 4,
      keyOf: (at) => `o/${at}.jpg.out`,
      bodyOf: (at) => Buffer.from(`{"digit":${at}}`),
    },
  });
  const folder = join(work, 'parts');
  const fetch = async (text: string) =>
    fetchInParts(await rangedOutputs(s3, 's3://out/o/'), {
      ...{ from: 's3://out/o/', folder, format: 'parquet', partKeys: 2 },
      share: { index: 0, of: 1 },
      metadata: await readMetadata(file('parts.csv', text), 'key'),
    });
  const known = 'key,site\n0.jpg,n\n3.jpg,s\n';
  expect(await fetch(known)).toMatchObject({ complete: true, files: 2 });
  const rows = [...(await parquetRows(join(folder, '00000-000000.parquet')))];
  rows.push(...(await parquetRows(join(folder, '00000-000001.parquet'))));
  expect(rows.map(({ digit, site }) => [digit, site])).toEqual([
    [0, 'n'],
    [1, null],
    [2, null],
    [3, 's'],
  ]);
  expect(readFileSync(join(folder, '_fetch/table.sql'), 'utf8')).toContain('`site` string');
  await expect(fetch(known.replace('n', 'm'))).rejects.toThrow('with another --join');
});

test.each<[what: string, name: string, text: string, message: RegExp]>([
  ['a key twice', 'a.csv', 'path,x\na,1\na,2\n', /names the key a twice/],
  ['no such column', 'b.csv', 'key,x\na,1\n', /no 'path'.*--on/],
  ['another ending', 'c.txt', '', /does not read .*c\.txt/],
  ['no JSON', 'd.ndjson', '{"path":"a"}\nno\n', /line 2 of .*d\.ndjson/],
  ['an array in a line', 'e.jsonl', '[1]\n', /line 1 of .*e\.jsonl is no JSON object/],
  ['no Parquet', 'f.parquet', 'PAR1 and no more', /cannot read .*f\.parquet/],
])('%s is refused', async (_, name, text, message) => {
  await expect(readMetadata(file(name, text), 'path')).rejects.toThrow(message);
});

test('a file that is not there is refused', async () => {
  for (const name of ['no.csv', 'no.jsonl', 'no.parquet']) {
    await expect(readMetadata(join(work, name), 'key')).rejects.toThrow(/cannot read .*no\./);
  }
});
