/**
 * The function at many keys: calls are counted, and memory is bounded. A million here;
 * `MANY_KEYS=10000000 npx jest many-keys` for more.
 */
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import { generatedClient } from '../../../tools/generated-client.ts';
import { findPending, type PendingPosition, type PendingResult } from './pending.ts';
import { type PlanPosition, type PlanResult, planShards } from './plan.ts';
import { summarizeRun } from './summary.ts';

jest.setTimeout(300_000);

const KEYS = Number(process.env.MANY_KEYS ?? 1_000_000);
/** In shards that are counted: each is listed twice. */
const COUNTED = Number(process.env.MANY_KEYS ?? 300_000);
const PER_SHARD = 100_000;
const MB = 1024 ** 2;
const name = (at: number) => `${String(at).padStart(9, '0')}.jpg`;
const inputs = { count: KEYS, keyOf: (at: number) => `in/${name(at)}` };

const settings = {
  inputUri: 's3://data/in/',
  dataType: 'S3Prefix',
  inventoryUri: '',
  keySuffix: '',
  outputUri: 's3://out/answers/',
  objectsPerShard: PER_SHARD,
  minutesPerShard: 0,
  runId: 'run',
  existing: 'skip',
  maxPayloadInMB: 1,
  splitType: 'None',
  budgetInstanceHours: 0,
} as TransformSettings;
const since = { origin: 0, run: 0 };

/** Keys in a manifest, without keeping them. */
function linesIn(body: Uint8Array): number {
  let lines = 0;
  for (let at = body.indexOf(10); at >= 0; at = body.indexOf(10, at + 1)) lines++;
  return lines - 3;
}

test('planning: every key once, a listing a page, and memory for the shards that are open', async () => {
  let [keys, manifests] = [0, 0];
  const client = generatedClient(
    { data: inputs },
    {
      take(path, body) {
        if (!path.includes('/planned/')) return false;
        keys += linesIn(body);
        manifests++;
        return true;
      },
    },
  );
  let position: PlanPosition | undefined;
  let result: PlanResult;
  let calls = 0;
  do {
    // Time that runs out after about a fifth of the pages.
    const before = client.calls.LIST;
    const isLate = () => client.calls.LIST - before > KEYS / 5_000;
    result = await planShards(client.s3, settings, position, isLate);
    ({ position } = result);
    calls++;
  } while (!result.planned);
  expect(result.inputs).toBe(KEYS);
  expect(keys).toBe(KEYS);
  expect(manifests).toBeLessThan(KEYS / PER_SHARD + 3);
  expect(calls).toBeGreaterThan(2);
  // Each page once; what is left of each of 16 ranges again, in each call and at the end; 400 looks for ranges.
  const pages = KEYS / 1_000;
  expect(client.calls.LIST).toBeLessThan(pages + 400 + (calls + 1) * 16 * (PER_SHARD / 1_000));
  // Two million keys at most.
  expect(client.grown()).toBeLessThan(400 * MB);
});

test('the shards of a run, one after the other: pending, dead letters, summary', async () => {
  const isBad = (at: number) => at % 1_000 === 7;
  const lines: string[] = [];
  for (let at = 7; at < COUNTED; at += 1_000) {
    const text = `{"error":"no picture ${at}.","code":"IMAGE_UNREADABLE"}`;
    lines.push(`data/in/${name(at)}: ClientError: 400`, `data/in/${name(at)}: ${text}`);
  }
  const client = generatedClient({
    data: inputs,
    out: { ...inputs, keyOf: (at) => `answers/${name(at)}.out`, lacks: isBad },
  });
  const shards = COUNTED / PER_SHARD;
  const manifest = (shard: number) =>
    `answers/_shards/run/planned/${String(shard).padStart(6, '0')}.manifest`;
  let [done, missing] = [0, 0];
  for (let shard = 0; shard < shards; shard++) {
    const keys = Array.from({ length: PER_SHARD }, (_, at) => name(shard * PER_SHARD + at));
    const text = JSON.stringify([{ prefix: 's3://data/in/' }, ...keys]).replaceAll(',', ',\n');
    client.stored.set(`out/${manifest(shard)}`, Buffer.from(text));
    const before = client.calls.LIST;
    let position: PendingPosition | undefined;
    let result: PendingResult;
    do {
      let groups = 0;
      const request = { settings, since, shard: manifest(shard), last: true, reason: 'it failed' };
      result = await findPending(
        client.s3,
        { ...request, spent: { TransformJobName: 'j' }, ...(position && { position }) },
        () => ++groups > 6,
        async () => ({ lines }),
      );
      ({ position } = result);
    } while (!result.counted);
    done += result.done;
    missing += result.missing;
    // Inputs and outputs a thousand a call, and some looks.
    expect(client.calls.LIST - before).toBeLessThan((2.5 * PER_SHARD) / 1_000);
    const letters = client.stored.get(
      `out/answers/_shards/run/dead-letters/${String(shard).padStart(6, '0')}.ndjson`,
    );
    const [first = ''] = Buffer.from(letters ?? [])
      .toString()
      .split('\n');
    const at = shard * PER_SHARD + 7;
    expect(JSON.parse(first)).toEqual({
      ...{ key: name(at), code: 'IMAGE_UNREADABLE', status: 400, reason: `no picture ${at}.` },
    });
    client.stored.set(`out/${manifest(shard)}`, new Uint8Array());
  }
  expect([done, missing]).toEqual([COUNTED - COUNTED / 1_000, COUNTED / 1_000]);
  const summary = await summarizeRun(client.s3, { settings, since });
  expect(summary).toMatchObject({ counted: true, inputs: COUNTED, done, missing });
  expect(client.grown()).toBeLessThan(150 * MB);
});
