/**
 * The command at many keys: calls are counted, and memory is bounded. Fewer here;
 * `MANY_KEYS=10000000 npx jest many-keys` for more.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatedClient } from '../../../../tools/generated-client.ts';
import { fetchOutputs } from './fetch/fetch.ts';
import { inOrder, rangedOutputs } from './fetch/source.ts';
import { verifyOutputs } from './verify.ts';

jest.setTimeout(1_200_000);

const KEYS = Number(process.env.MANY_KEYS ?? 300_000);
const MB = 1024 ** 2;
const name = (at: number) => `${String(at).padStart(9, '0')}.jpg`;
const isBad = (at: number) => at % 1_000 === 7;
const BAD = KEYS / 1_000;

const work = mkdtempSync(join(tmpdir(), 'many-keys-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

test('verify: inputs and outputs once, and the manifest of what is missing', async () => {
  const client = generatedClient({
    data: { count: KEYS, keyOf: (at) => `in/${name(at)}` },
    out: { count: KEYS, keyOf: (at) => `answers/${name(at)}.out`, lacks: isBad },
  });
  const redriveManifest = join(work, 'redrive.manifest');
  const report = await verifyOutputs(
    client.s3,
    { inputUri: 's3://data/in/', outputUri: 's3://out/answers/', dataType: 'S3Prefix' },
    { redriveManifest, samples: 2 },
  );
  expect(report).toMatchObject({ inputs: KEYS, done: KEYS - BAD, missing: BAD, orphans: 0 });
  expect(JSON.parse(readFileSync(redriveManifest, 'utf8'))).toHaveLength(BAD + 1);
  // Both listings, the looks for ranges, and a last page for each of 2 x 64 ranges.
  expect(client.calls.LIST).toBeLessThan((2 * KEYS) / 1_000 + 300 + 130);
  expect(client.calls.GET).toBe(2);
  expect(client.grown()).toBeLessThan(40 * MB);
});

test('fetch of a worker: a GET for thousands of answers, dead letters and their manifest', async () => {
  const PER_PART = 10_000;
  const lineOf = (at: number) =>
    isBad(at)
      ? `{"key":"${name(at)}","error":{"code":"IMAGE_UNREADABLE","message":"no picture ${at}."}}\n`
      : `{"key":"${name(at)}","output":{"predictions":[${at}]}}\n`;
  const bodyOf = (part: number) =>
    Buffer.from(Array.from({ length: PER_PART }, (_, at) => lineOf(part * PER_PART + at)).join(''));
  const client = generatedClient({
    out: {
      count: KEYS / PER_PART,
      keyOf: (part) => `answers/parts/00000-${String(part).padStart(6, '0')}.ndjson`,
      bodyOf,
    },
  });
  const plan = { fingerprint: 'f', model: 'm', inputUri: 's3://data/in/', keySuffix: '', cuts: [] };
  client.stored.set('out/answers/_worker/plan.json', Buffer.from(JSON.stringify(plan)));
  const file = join(work, 'answers.ndjson');
  const source = inOrder(await rangedOutputs(client.s3, 's3://out/answers/'));
  const report = await fetchOutputs(source, {
    ...{ file, format: 'ndjson', inputPrefix: 's3://data/in/' },
  });
  const redriveManifest = `${file}.redrive.manifest`;
  expect(report).toMatchObject({
    ...{ outputs: KEYS, answers: KEYS - BAD, errors: BAD },
    deadLetters: { letters: BAD, inputs: BAD, redriveManifest },
  });
  const letters = readFileSync(`${file}.dead-letters.ndjson`, 'utf8').trim().split('\n');
  expect(letters).toHaveLength(BAD);
  expect(JSON.parse(letters.at(-1) ?? '')).toEqual({
    key: name(KEYS - 993),
    code: 'IMAGE_UNREADABLE',
    message: `no picture ${KEYS - 993}.`,
  });
  expect(client.calls).toMatchObject({ GET: KEYS / PER_PART + 1, PUT: 0 });
  expect(client.calls.LIST).toBeLessThan(10);
  expect(client.grown()).toBeLessThan(40 * MB);
});
