import { formatS3Uri, parseManifest } from '@sagemaker-tfs/batch';
import { type GeneratedS3, startGeneratedS3 } from '../../../../tools/generated-s3.ts';
import { sagemakerTfs } from '../test-support.ts';
import { chooseEvenly } from './sample.ts';

const COUNT = 5_000;
const keyOf = (at: number) => `in/${at < COUNT / 2 ? 'a' : 'b'}/${String(at).padStart(6, '0')}.jpg`;

let s3: GeneratedS3;
beforeAll(async () => {
  s3 = await startGeneratedS3({
    tiles: { count: COUNT, keyOf, bodyOf: (at) => Buffer.from(String(at)) },
  });
});
afterAll(() => s3?.close());

const sample = (...args: string[]) =>
  sagemakerTfs(['batch', 'sample', '--json', ...args], s3.environment);

test('a manifest of inputs from all over the prefix, none twice, with few listings', async () => {
  const { LIST: before = 0 } = s3.calls;
  const out = formatS3Uri({ bucket: 'out', key: 'sample.manifest' });
  const { exitCode, stdout } = await sample(
    ...['--input-uri', 's3://tiles/in/', '--out', out, '--count', '50', '--key-suffix', '.jpg'],
  );
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ inputs: 50, manifest: out });
  expect((s3.calls.LIST ?? 0) - before).toBeLessThan(400);
  const body = s3.stored.get('out')?.get('sample.manifest')?.body ?? new Uint8Array();
  const { prefix, keys, duplicates } = await parseManifest(Buffer.from(body).toString(), out);
  expect({ prefix, duplicates }).toEqual({ prefix: 's3://tiles/in/', duplicates: [] });
  const all = new Set(Array.from({ length: COUNT }, (_, at) => keyOf(at).slice('in/'.length)));
  expect(keys).toHaveLength(50);
  expect(keys.filter((key) => !all.has(key))).toEqual([]);
  expect(keys).toEqual([...keys].sort());
  expect(new Set(keys.map((key) => key[0]))).toEqual(new Set(['a', 'b']));
});

test('no inputs, and a name that no run would take for a manifest, are refused', async () => {
  const empty = await sample('--input-uri', 's3://tiles/none/', '--out', 's3://out/x.manifest');
  expect(empty.exitCode).toBe(2);
  const named = await sample('--input-uri', 's3://tiles/in/', '--out', 's3://out/x.json');
  expect(named.exitCode).toBe(2);
});

test('a manifest among the inputs, which would not count, is refused for that', async () => {
  const { exitCode, stdout } = await sample(
    ...['--input-uri', 's3://tiles/in/a/', '--out', 's3://tiles/in/a/x.manifest'],
  );
  expect([exitCode, JSON.parse(stdout).error]).toEqual([
    2,
    expect.stringContaining('lies beside the inputs of s3://tiles/in/a/'),
  ]);
});

test.each([
  ['in the folder above', 's3://tiles/none/', 's3://tiles/x.manifest', []],
  ['beside', 's3://tiles/none/', 's3://tiles/none/x.manifest', []],
  ['above, and a suffix', 's3://tiles/in/', 's3://tiles/x.manifest', ['--key-suffix', '.png']],
  [
    'beside, and a suffix',
    's3://tiles/in/a/',
    's3://tiles/in/a/x.manifest',
    ['--key-suffix', '.png'],
  ],
])('where nothing is there, that is what is said, with --out %s', async (_, inputs, out, more) => {
  const { exitCode, stdout } = await sample('--input-uri', inputs, '--out', out, ...more);
  expect([exitCode, JSON.parse(stdout)]).toEqual([
    2,
    expect.objectContaining({
      code: 'INPUT_EMPTY',
      error: expect.stringContaining(`${inputs} holds no inputs`),
    }),
  ]);
});

test('the manifest of the inputs is not replaced by its sample', async () => {
  const out = 's3://out/full.manifest';
  const full = ['--input-uri', 's3://tiles/in/', '--out', out, '--count', '20'];
  expect((await sample(...full)).exitCode).toBe(0);
  const body = () => String(s3.stored.get('out')?.get('full.manifest')?.body);
  const before = body();
  const { exitCode, stdout } = await sample('--input-uri', out, '--out', out, '--count', '5');
  expect([exitCode, JSON.parse(stdout).error]).toEqual([
    2,
    expect.stringContaining('is the manifest of the inputs'),
  ]);
  expect(body()).toBe(before);
});

test('each range has its turn; what is left of one goes to the others', () => {
  const ranges = [['a'], [], ['b1', 'b2', 'b3'], ['c1', 'c2']];
  expect(chooseEvenly(ranges, 3).map((key) => key[0])).toEqual(['a', 'b', 'c']);
  expect(chooseEvenly(ranges, 100).sort()).toEqual(['a', 'b1', 'b2', 'b3', 'c1', 'c2']);
});
