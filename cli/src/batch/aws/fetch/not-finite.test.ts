/** NaN and infinities, which the runtime writes bare, cost no row, key or error of a fetch, nor -0 its sign. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answerLine, answersOf, parseAnswerLine } from '@sagemaker-tfs/batch';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { fetchOutputs } from './fetch.ts';
import { folderOutputs } from './source.ts';
import type { FileFormat } from './write-file.ts';

const OUTPUTS = {
  'a.csv.out':
    '{"predictions":[[1.0,2.0],[3.0,NaN],{"error":"no number"},[-Infinity,9007199254740993]]}',
  'b.csv.out': '{"predictions":[[5.0,6.0]]}',
  'c.out': '{"predictions":[1.0,NaN,Infinity,-Infinity,2.0]}\n{"predictions":[3.0]}\n',
};
const NUMBERS = [1, Number.NaN, Infinity, -Infinity, 2, 3];
const KEYS = [...Array<string>(4).fill('a.csv'), 'b.csv', ...Array<string>(6).fill('c')];
const LISTS = ['[1,2]', '[3,NaN]', '[-Infinity,9007199254740993]', '[5,6]'];
const ERROR = { key: 'a.csv', record: 2, message: 'no number' };

let work: string;
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'not-finite-'));
  await mkdir(join(work, 'out'));
  for (const [name, body] of Object.entries(OUTPUTS)) {
    await writeFile(join(work, 'out', name), body);
  }
});
afterAll(() => rm(work, { recursive: true, force: true }));

async function fetched(format: FileFormat, packed?: readonly string[]) {
  const file = join(work, `r.${format}`);
  const names = packed && { prefix: undefined, of: async () => packed };
  const { outputs, deadLetters } = await fetchOutputs(
    folderOutputs(join(work, 'out'), { packed: names }),
    {
      file,
      format,
    },
  );
  return { file, outputs, letters: deadLetters?.letters };
}

async function parquetOf(file: string) {
  return (await parquetReadObjects({ file: await asyncBufferFromFile(file) })) as {
    key: string;
    prediction: string | null;
    error: string | null;
  }[];
}

test('a row for each element, in every format, and its errors as dead letters', async () => {
  const ndjson = await fetched('ndjson');
  expect(ndjson).toMatchObject({ outputs: 3, letters: 1 });
  const lines = (await readFile(ndjson.file, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => parseAnswerLine(line)?.key)).toEqual(['a.csv', 'b.csv', 'c', 'c']);
  expect(lines[0]).toBe(`{"key":"a.csv","output":${OUTPUTS['a.csv.out']}}`);
  const letters = await readFile(`${ndjson.file}.dead-letters.ndjson`, 'utf8');
  expect(JSON.parse(letters)).toEqual(ERROR);

  const rows = await parquetOf((await fetched('parquet')).file);
  expect(rows.map(({ key }) => key)).toEqual(KEYS);
  expect(rows.flatMap(({ prediction }) => prediction ?? [])).toEqual([
    ...LISTS,
    ...NUMBERS.map(String),
  ]);
  const csv = await readFile((await fetched('csv')).file, 'utf8');
  expect(csv.trimEnd().split('\n')).toHaveLength(1 + KEYS.length);
  expect(csv).toContain('a.csv,1,"[3,NaN]",');
});

test('a column of numbers holds them as numbers', async () => {
  const file = join(work, 'numbers.parquet');
  const folder = join(work, 'numbers');
  await mkdir(folder);
  await writeFile(join(folder, 'c.out'), OUTPUTS['c.out']);
  await fetchOutputs(folderOutputs(folder), { file, format: 'parquet' });
  expect((await parquetOf(file)).map(({ prediction }) => prediction)).toEqual(NUMBERS);
});

test('-0 keeps its sign, in a column of numbers and in one of texts', async () => {
  const folder = join(work, 'negative');
  await mkdir(folder);
  await writeFile(join(folder, 'z.out'), '{"predictions":[{"x":-0.0,"y":-0.0},{"x":1.5,"y":"a"}]}');
  const file = join(work, 'negative.csv');
  await fetchOutputs(folderOutputs(folder), { file, format: 'csv' });
  expect(await readFile(file, 'utf8')).toBe('key,record,x,y,other\nz,0,-0,-0,\nz,1,1.5,a,\n');
});

test('a packed file whose answer has one is still a row for each name', async () => {
  const folder = join(work, 'packed');
  await mkdir(folder);
  await writeFile(join(folder, 'shard-0.tfrecord.out'), OUTPUTS['a.csv.out']);
  const names = ['w', 'x', 'y', 'z'];
  const packed = { prefix: undefined, of: async () => names };
  const file = join(work, 'packed.ndjson');
  await fetchOutputs(folderOutputs(folder, { packed }), { file, format: 'ndjson' });
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => parseAnswerLine(line)?.key)).toEqual(names);
});

test('lines of a worker are read as they were written', () => {
  for (const body of ['{"outputs":[NaN]}', 'NaN', '[1,-Infinity]']) {
    const [answer] = answersOf('k', Buffer.from(body));
    expect(answer?.json).toBe(body);
    expect(parseAnswerLine(answerLine(answer ?? { key: '', json: '' }).trimEnd())).toEqual(answer);
  }
});
