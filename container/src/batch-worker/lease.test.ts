/** Runs that begin, end and die beside each other, over a real client of S3. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { type GeneratedS3, startGeneratedS3 } from '../../../tools/generated-s3.ts';
import { openLease, runOfMachine } from './lease.ts';
import { s3Client, storeBelow } from './store.ts';

const TIMES = { beat: 20, stale: 600, look: 10 };

let s3: GeneratedS3;
let client: S3Client;
beforeAll(async () => {
  s3 = await startGeneratedS3({});
  Object.assign(process.env, s3.environment);
  client = s3Client(4);
});
afterEach(() => {
  s3.fail = undefined;
});
afterAll(async () => {
  client.destroy();
  await s3.close();
});

let processes = 0;
/** A process of a run, which wants to write. */
function open(output: string, run: string | undefined, stopping = new AbortController().signal) {
  const store = storeBelow(client, `s3://out/${output}/`, `process-${++processes}`);
  const [onWait, onFailure] = [jest.fn(), jest.fn()];
  const options = { run, stopping, onWait, onFailure, times: TIMES };
  return { onWait, onFailure, lease: openLease(store, options) };
}
const held = async (...args: Parameters<typeof open>) => {
  const lease = await open(...args).lease;
  if (!lease) throw new Error('it was stopped');
  return lease;
};
const files = (output: string) =>
  [...(s3.stored.get('out') ?? new Map()).keys()].filter((key) => key.startsWith(`${output}/`));
const refusal = (holder: string) => ({
  code: 'ALREADY_RUNNING',
  message: expect.stringContaining(holder),
});

test('a job of AWS Batch is a run, and the children of an array are one', () => {
  expect(runOfMachine({ AWS_BATCH_JOB_ID: 'a-1' })).toBe('a-1');
  expect(runOfMachine({ AWS_BATCH_JOB_ID: 'a-1:9999' })).toBe('a-1');
  expect(runOfMachine({})).toBeUndefined();
});

test('the children of a run begin together; another run is refused while any of them works', async () => {
  const children = await Promise.all(['a', 'a', 'a', 'a'].map((run) => held('together', run)));
  for (const child of children.slice(1)) await child.close();
  const others = ['b', 'b', 'b'].map((run) => open('together', run));
  const ends = await Promise.allSettled(others.map(({ lease }) => lease));
  expect(ends).toMatchObject(ends.map(() => ({ status: 'rejected', reason: refusal('a') })));
  for (const { onWait } of others) expect(onWait.mock.calls).toEqual([['a']]);
  // It restarts, as on another instance.
  const again = await held('together', 'a');
  expect(children[0]?.lost.aborted).toBe(false);
  await Promise.all([children[0]?.close(), again.close()]);
});

test('a run that has ended frees the outputs a while later, and the next one begins by itself', async () => {
  await (await held('ended', 'a')).close();
  const next = ['b', 'b'].map((run) => open('ended', run));
  const began = performance.now();
  const leases = await Promise.all(next.map(({ lease }) => lease));
  expect(performance.now() - began).toBeGreaterThan(TIMES.stale / 2);
  for (const { onWait } of next) expect(onWait).toHaveBeenCalledWith('a');
  expect(files('ended').filter((key) => key.endsWith('.json'))).toEqual([
    'ended/_worker/lease/000000.json',
    'ended/_worker/lease/000001.json',
  ]);
  await expect(open('ended', 'c').lease).rejects.toMatchObject(refusal('b'));
  for (const lease of leases) await lease?.close();
});

test('of two runs that find an old lease, one begins', async () => {
  await (await held('raced', 'a')).close();
  await sleep(TIMES.stale);
  const two = await Promise.allSettled([open('raced', 'b').lease, open('raced', 'c').lease]);
  expect(two.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  for (const one of two) {
    if (one.status === 'fulfilled') await one.value?.close();
    else expect(one.reason).toMatchObject({ code: 'ALREADY_RUNNING' });
  }
});

test('a run that was cut off from S3 for too long ends once another one writes', async () => {
  const { lease, onFailure } = open('cut', 'a');
  const own = await lease;
  s3.fail = (method, _bucket, key) =>
    key.includes('lease/') && method === 'LIST' ? 403 : undefined;
  // However long a beat takes on a busy machine.
  while (onFailure.mock.calls.length === 0) await sleep(TIMES.beat);
  expect(own?.lost.aborted).toBe(false);
  s3.fail = undefined;
  const lost = new Promise((resolve) => own?.lost.addEventListener('abort', resolve));
  const place = 'cut/_worker/lease/000001.json';
  s3.stored
    .get('out')
    ?.set(place, { body: Buffer.from('{"run":"b"}'), modified: Date.now(), metadata: {} });
  await lost;
  expect(own?.lost.reason).toMatchObject(refusal('b'));
  await own?.close();
});

test('a look lists no lease before the newest, and a process keeps the newest of its run alive', async () => {
  const store = storeBelow(client, 's3://out/long/', 'process-long');
  const list = jest.spyOn(store, 'list');
  const [stopping, ignore] = [new AbortController().signal, () => undefined];
  const options = { run: 'a', stopping, onWait: ignore, onFailure: ignore, times: TIMES };
  const own = await openLease(store, options);
  // Another process of the run thought it had ended.
  const newest = '_worker/lease/000001';
  await store.write(`${newest}.json`, Buffer.from('{"run":"a"}'), 'application/json');
  while (!files('long').includes(`long/${newest}.alive`)) await sleep(TIMES.look);
  const before = list.mock.calls.length;
  while (list.mock.calls.length < before + 2) await sleep(TIMES.look);
  await own?.close();
  expect(own?.lost.aborted).toBe(false);
  for (const call of list.mock.calls.slice(before))
    expect(call).toEqual(['_worker/lease/', newest]);
});

test('the wait ends when the worker is to end', async () => {
  await (await held('stopped', 'a')).close();
  const stopping = new AbortController();
  const waiting = open('stopped', 'b', stopping.signal);
  setTimeout(() => stopping.abort(), 50);
  expect(await waiting.lease).toBeUndefined();
  expect(files('stopped').filter((key) => key.endsWith('.json'))).toHaveLength(1);
});

test('where the machine names no run there is no lease', async () => {
  const leases = await Promise.all([held('plain', undefined), held('plain', undefined)]);
  for (const lease of leases) await lease.close();
  expect(files('plain')).toEqual([]);
});
