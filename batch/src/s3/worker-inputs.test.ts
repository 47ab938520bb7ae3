/** Inputs cut into ranges: never more than asked for, and each key in one. */
import { S3Client } from '@aws-sdk/client-s3';
import { type GeneratedS3, startGeneratedS3 } from '../../../tools/generated-s3.ts';
import { compareKeys } from '../key-order.ts';
import { rangesOf } from '../worker-run.ts';
import { openInputs } from './worker-inputs.ts';

const COUNT = 3_000;
const keyOf = (at: number) => `in/tile-${String(at).padStart(6, '0')}.png`;

let stand: GeneratedS3;
let s3: S3Client;
beforeAll(async () => {
  stand = await startGeneratedS3({ data: { count: COUNT, keyOf, bodyOf: () => Buffer.of(0) } });
  s3 = clientOf(stand);
});
afterAll(async () => {
  s3.destroy();
  await stand.close();
});

function clientOf({ url: endpoint }: GeneratedS3): S3Client {
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  return new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials });
}

test.each([1, 2, 3, 4, 7, 16, 64, 65, 1_000])('%i ranges or fewer', async (ranges) => {
  const inputs = await openInputs(s3, {
    inputUri: 's3://data/in/',
    outputUri: 's3://data/out/',
  });
  const cuts = await inputs.cuts(ranges);
  expect(cuts.length).toBeLessThan(ranges);
  expect(cuts).toEqual([...new Set(cuts)].sort(compareKeys));
  // The keys part by their digits, so these can be had, and none is empty or far larger than the others.
  if (ranges > 64) return;
  const sizes = rangesOf({ cuts }).map(
    ({ after = '', upTo }) =>
      Array.from({ length: COUNT }, (_, at) => keyOf(at)).filter(
        (key) => key > after && (upTo === undefined || key <= upTo),
      ).length,
  );
  expect(sizes.length).toBe(ranges);
  expect(Math.min(...sizes)).toBeGreaterThan(0);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(COUNT);
  expect(Math.max(...sizes)).toBeLessThanOrEqual((2.5 * COUNT) / ranges + 100);
});

test('keys that other keys begin with', async () => {
  const names = Array.from({ length: 2_000 }, (_, at) => `in/${at}`).sort(compareKeys);
  const numbers = { count: names.length, keyOf: (at: number) => names[at] as string };
  const other = await startGeneratedS3({ data: { ...numbers, bodyOf: () => Buffer.of(0) } });
  const client = clientOf(other);
  try {
    const inputs = await openInputs(client, {
      inputUri: 's3://data/in/',
      outputUri: 's3://data/out/',
    });
    const cuts = await inputs.cuts(8);
    expect([cuts.length > 3, cuts.length < 8]).toEqual([true, true]);
    expect(cuts).toEqual([...new Set(cuts)].sort(compareKeys));
  } finally {
    client.destroy();
    await other.close();
  }
});
