/** Errors instead of answers, as the runtime itself writes them, listed by key on `batch fetch`. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { answersOf } from '@sagemaker-tfs/batch';
import { encodeNpz } from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../../../../test/fixtures/index.ts';
import { type GeneratedS3, startGeneratedS3 } from '../../../../../tools/generated-s3.ts';
import { sagemakerTfs } from '../../test-support.ts';
import { type DeadLetter, deadLettersOf } from './dead-letters.ts';

jest.setTimeout(180_000);

const ANSWERS_BAD = { SAGEMAKER_TFS_BAD_RECORD: 'answer' };
const MODEL = fixtureModel('half_plus_two').basePath;
/** JSON lines; the bad records are 1 of `a`, 0 and 3 of `c d`, and all of `e`. */
const INPUTS: Readonly<Record<string, string>> = {
  'a.jsonl': '1\n"one"\n3\n',
  'b.jsonl': '1\n2\n',
  'c d.jsonl': '"zero"\n1\n2\n"three"\n4\n',
  'e.jsonl': '"x"\n"y"\n',
};
const BAD: readonly (readonly [key: string, record: number])[] = [
  ...([['a.jsonl', 1]] as const),
  ...([['c d.jsonl', 0]] as const),
  ...([['c d.jsonl', 3]] as const),
  ...([['e.jsonl', 0]] as const),
  ...([['e.jsonl', 1]] as const),
];

const mask = (bytes: readonly number[]) =>
  ({ dtype: 'bool', shape: [bytes.length], bytes: Uint8Array.from(bytes) }) as const;

let work: string;
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'dead-letters-'));
  await mkdir(join(work, 'in'));
  for (const [name, body] of Object.entries(INPUTS)) await writeFile(join(work, 'in', name), body);
});
afterAll(() => rm(work, { recursive: true, force: true }));

/** Runs a local job over the inputs. @returns its folder */
async function outputs(name: string, ...more: string[]): Promise<string> {
  const out = join(work, name);
  const { exitCode } = await sagemakerTfs(
    [
      ...['batch', 'local', join(work, 'in'), '--out', out, '--model', MODEL],
      ...['--content-type', 'application/jsonlines', ...more],
    ],
    ANSWERS_BAD,
  );
  expect(exitCode).toBe(0);
  return out;
}

async function lettersOf(file: string): Promise<DeadLetter[]> {
  const text = await readFile(file, 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as DeadLetter);
}

const places = (letters: readonly DeadLetter[]) => letters.map(({ key, record }) => [key, record]);

test.each([
  ['a request for each file, as JSON', []],
  ['as CSV', ['--accept', 'text/csv']],
  [
    'several requests for each file',
    ['--split-type', 'Line', '--batch-strategy', 'MultiRecord', '--assemble-with', 'Line'],
  ],
])('%s', async (name, more) => {
  const file = join(work, `${name}.ndjson`);
  const { exitCode, stdout } = await sagemakerTfs([
    ...['batch', 'fetch', await outputs(name, ...more), '--out', file, '--json'],
  ]);
  expect(exitCode).toBe(0);
  const path = `${file}.dead-letters.ndjson`;
  expect(JSON.parse(stdout)).toMatchObject({
    // Where the inputs of a folder lie is not known.
    deadLetters: { letters: BAD.length, inputs: 3, files: [path] },
  });
  const letters = await lettersOf(path);
  expect(places(letters)).toEqual(BAD);
  for (const { message } of letters) expect(message).toMatch(/number|string/i);
});

test('of npz the mask says which, in the order of the records of several inputs', async () => {
  const out = await outputs('npz', '--accept', 'application/x-npz');
  const file = join(work, 'npz.ndjson');
  await sagemakerTfs(['batch', 'fetch', out, '--out', file]);
  const letters = await lettersOf(`${file}.dead-letters.ndjson`);
  expect(places(letters)).toEqual(BAD);
  expect(letters[0]?.message).toMatch(/no room for the reason/);
});

test.each([
  ['an archive without a mask', encodeNpz({ y: mask([1]) })],
  ['an output of that name', encodeNpz({ error: { ...mask([1, 0]), dtype: 'uint8' } as const })],
  ['a mask of two sizes', encodeNpz({ error: { ...mask([1, 0]), shape: [2, 1] } })],
  ['what only begins as an archive', [Buffer.from('PK\x03\x04 \xff error.npy', 'latin1')]],
])('%s has no letters', (_, chunks) => {
  expect(deadLettersOf(answersOf('a', Buffer.concat(chunks)))).toEqual([]);
});

describe('on S3', () => {
  let s3: GeneratedS3;
  beforeAll(async () => {
    const out = await outputs('for-s3');
    const names = (await readdir(out)).filter((name) => name.endsWith('.out')).sort();
    const bodies = await Promise.all(names.map((name) => readFile(join(out, name))));
    s3 = await startGeneratedS3({
      data: {
        count: names.length,
        keyOf: (at) => `out/${names[at]}`,
        bodyOf: (at) => bodies[at] as Buffer,
      },
      clean: {
        ...{ count: 1, keyOf: () => 'out/b.jsonl.out' },
        bodyOf: () => bodies[names.indexOf('b.jsonl.out')] as Buffer,
      },
    });
  });
  afterAll(() => s3?.close());

  const fetchFrom = (out: string, ...more: string[]) =>
    sagemakerTfs(
      [
        ...['batch', 'fetch', 's3://data/out/', '--out', out, '--json'],
        ...['--input-uri', 's3://data/in/', ...more],
      ],
      s3.environment,
    );
  const MANIFEST = [{ prefix: 's3://data/in/' }, 'a.jsonl', 'c d.jsonl', 'e.jsonl'];

  test('a manifest lists exactly the inputs with errors', async () => {
    const file = join(work, 'one.ndjson');
    const { stdout } = await fetchFrom(file);
    const redriveManifest = `${file}.redrive.manifest`;
    expect(JSON.parse(stdout)).toMatchObject({ deadLetters: { inputs: 3, redriveManifest } });
    expect(JSON.parse(await readFile(redriveManifest, 'utf8'))).toEqual(MANIFEST);
  });

  test('the same in parts, also if the command is run again', async () => {
    const folder = join(work, 'parts');
    for (let time = 0; time < 2; time++) {
      const { stdout } = await fetchFrom(folder, '--part-keys', '1');
      const { deadLetters } = JSON.parse(stdout) as { deadLetters: { files: string[] } };
      expect(deadLetters).toMatchObject({ letters: BAD.length, inputs: 3 });
      const letters = await Promise.all(deadLetters.files.map(lettersOf));
      expect(places(letters.flat()).sort()).toEqual([...BAD].sort());
      const manifest = await readFile(join(folder, '_dead-letters', 'redrive.manifest'), 'utf8');
      expect(JSON.parse(manifest)).toEqual(MANIFEST);
    }
  });

  test('a later fetch without errors leaves no old list', async () => {
    const file = join(work, 'clean.ndjson');
    await writeFile(`${file}.dead-letters.ndjson`, '{"key": "old", "message": "old"}\n');
    await writeFile(`${file}.redrive.manifest`, '[{"prefix": "s3://data/in/"}, "old"]');
    const { exitCode, stdout } = await sagemakerTfs(
      ['batch', 'fetch', 's3://clean/out/', '--out', file, '--json'],
      s3.environment,
    );
    expect([exitCode, JSON.parse(stdout)]).toEqual([
      0,
      { outputs: 1, answers: 1, errors: 0, empty: 0, file },
    ]);
    const names = (await readdir(work)).filter((name) => name.startsWith('clean.'));
    expect(names).toEqual(['clean.ndjson']);
  });
});

test('outputs of a folder come in the order of their keys', async () => {
  const names = ['b', 'a', 'a-1', 'a/z', 'a/10', 'a/9', 'Z', 'é', '\u{1f600}', '\uff5a'];
  const folder = join(work, 'unsorted');
  for (const name of names) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, `${name}.out`), '1');
  }
  const file = join(work, 'sorted.ndjson');
  await sagemakerTfs(['batch', 'fetch', folder, '--out', file, '--json']);
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const sorted = names.map((name) => Buffer.from(`${name}.out`)).sort(Buffer.compare);
  expect(lines.map((line) => `${JSON.parse(line).key}.out`)).toEqual(sorted.map(String));
});

test('a folder that is not there is looked for nowhere else', async () => {
  const from = join(work, 'nowhere');
  const { exitCode, stderr } = await sagemakerTfs(['batch', 'fetch', from, '--out', 'x.csv']);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`there is no folder ${from}`)]);
});

test.each<[what: string, json: string]>([
  ['a field of that name beside others', '{"error": "none", "class": 3}'],
  ['a number', '{"predictions": [{"error": 0.25}]}'],
  ['text', '"no error"'],
  ['a cell of CSV', JSON.stringify('1,"{""error"":1}"\n')],
])('no error: %s', (_, json) => {
  expect(deadLettersOf([{ key: 'a', json }])).toEqual([]);
});
