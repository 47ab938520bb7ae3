/** Planning a large listing: several ranges at once, continued where time runs out, and no more listings than it takes. */
import { S3Client } from '@aws-sdk/client-s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import { type GeneratedS3, startGeneratedS3 } from '../../../tools/generated-s3.ts';
import { type PlanPosition, type PlanResult, planShards } from './plan.ts';

const COUNT = 120_000;
const PAGE = 500;
const PER_SHARD = 7_000;
/** Ranges of very different sizes, names that are the start of others, and some that are no inputs. */
const keyOf = (index: number) => {
  const number = String(index).padStart(7, '0');
  if (index < 100_000) return `in/big/${number}.jpg`;
  if (index < 110_000) return `in/big0/${number}${index % 100 === 0 ? '' : '.jpg'}`;
  return `in/é/${number}.jpg`;
};
const isInput = (index: number) => keyOf(index).endsWith('.jpg');
const INPUTS = Array.from({ length: COUNT }, (_, index) => index).filter(isInput).length;
/** Listings of everything once, and of the rest of each range again. */
const PAGES = COUNT / PAGE;

const settings = {
  inputUri: 's3://data/in/',
  dataType: 'S3Prefix',
  inventoryUri: '',
  keySuffix: '.jpg',
  outputUri: 's3://data/out/',
  objectsPerShard: PER_SHARD,
  runId: 'run',
} as TransformSettings;

let s3: GeneratedS3;
let client: S3Client;
beforeEach(async () => {
  const bodyOf = () => Buffer.from('x');
  s3 = await startGeneratedS3({ data: { count: COUNT, keyOf, bodyOf } }, PAGE);
  client = new S3Client({
    ...{ endpoint: s3.url, forcePathStyle: true, region: 'us-east-1' },
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
});
afterEach(async () => {
  client.destroy();
  await s3.close();
});

/** Keys of the planned manifests, in the order of the manifests. */
function planned(): string[][] {
  const objects = [...(s3.stored.get('data') ?? [])]
    .filter(([key]) => key.includes('/planned/'))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return objects.map(([, { body }]) => {
    const [head, ...keys] = JSON.parse(Buffer.from(body).toString()) as [object, ...string[]];
    expect(head).toEqual({ prefix: 's3://data/in/' });
    return keys;
  });
}

function expectAll(result: PlanResult): void {
  expect(result).toMatchObject({ planned: true, inputs: INPUTS });
  const shards = planned();
  const keys = shards.flat();
  expect(keys).toHaveLength(INPUTS);
  expect(new Set(keys).size).toBe(INPUTS);
  // The small first one, and no more than if all had been listed in one stream.
  expect(shards[0]).toHaveLength(1_000);
  expect(shards).toHaveLength(1 + Math.ceil((INPUTS - 1_000) / PER_SHARD));
  for (const shard of shards) {
    expect(shard.length).toBeLessThanOrEqual(PER_SHARD);
    expect([...shard].sort()).toEqual(shard);
  }
}

test('ranges are listed at the same time, and each key is in one shard', async () => {
  const load = { now: 0, most: 0 };
  const send = client.send.bind(client) as (command: never) => Promise<unknown>;
  jest.spyOn(client, 'send').mockImplementation((async (command: never) => {
    load.most = Math.max(load.most, ++load.now);
    return send(command).finally(() => load.now--);
  }) as never);
  expectAll(await planShards(client, settings, undefined, () => false));
  expect(load.most).toBeGreaterThan(8);
  // Everything once, what is left of at most 64 ranges again, the first pages, and the looks for ranges.
  expect(s3.calls.LIST).toBeLessThan(PAGES + 64 * (PER_SHARD / PAGE + 1) + 50 + 300);
});

test('time that runs out again and again: it continues where it was', async () => {
  let position: PlanPosition | undefined;
  let result: PlanResult;
  let calls = 0;
  do {
    let pages = 0;
    result = await planShards(client, settings, position, () => ++pages > 20);
    // As the state machine hands it on.
    position = JSON.parse(JSON.stringify(result.position ?? null)) ?? undefined;
    calls++;
  } while (!result.planned);
  expect(calls).toBeGreaterThan(5);
  expectAll(result);
});

test('positions fit into a state of the machine', async () => {
  // Late only where ranges are listed: the first pages alone make four shards.
  const { position } = await planShards(client, settings, undefined, () => (s3.calls.PUT ?? 0) > 5);
  const { ranges = [] } = position ?? {};
  expect(JSON.stringify(position).length).toBeLessThan(64 * (3 * 1_024 + 100));
  expect(ranges.length).toBeGreaterThan(1);
  expect(ranges.length).toBeLessThanOrEqual(64);
});
