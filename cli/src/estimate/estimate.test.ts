import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sagemakerTfs } from '../batch/test-support.ts';
import { workerCalls } from './calls.ts';
import { estimate } from './estimate.ts';
import { readPrices } from './prices.ts';
import { CHANGES, sensitivityOf } from './sensitivity.ts';
import { PACKING_TYPE, WAYS, type Way, type Workload } from './workload.ts';

const work: Workload = {
  images: 3_600_000,
  inputBytes: 1024 ** 2,
  outputBytes: 0,
  secondsPerImage: 0.01,
  instanceCount: 2,
  imagesPerObject: 1_000,
  packedPerSecond: 1_000,
  objectsPerJob: 0,
  concurrentJobs: 2,
  startMinutes: 6,
  endpointUse: 0.5,
  failed: 0,
  months: 1,
  kms: 'none',
  logBytes: 0,
  nat: false,
};

test('hours and dollars add up', async () => {
  const prices = await readPrices();
  const batch = estimate('batch', work, 'ml.x', 3, prices);
  // 3.6 million images at 0.01 s are 10 instance hours: 5 for each of two, and 6 minutes to start.
  expect(batch).toMatchObject({ hours: 5.1, jobs: 1, costs: { data: 0, keys: 0, packing: 0 } });
  expect(batch.costs.instances).toBeCloseTo(5.1 * 2 * 3);
  const { s3, hostingDataGB } = prices;
  const lists = (3_600 / 1_000) * s3.listRequests1000;
  const gets = 3_600 * s3.getRequests1000;
  expect(batch.costs.requests).toBeCloseTo(gets + 3_600 * s3.putRequests1000 + lists);
  // Whoever reads the answers lists and reads each.
  expect(batch.costs.fetch).toBeCloseTo(gets + lists);
  const endpoint = estimate('endpoint', work, 'ml.x', 3, prices);
  expect(endpoint).toMatchObject({ hours: 10.1, jobs: 0, costs: { fetch: 0 } });
  expect(endpoint.costs.data).toBeCloseTo((3_600_000 / 1024) * hostingDataGB);
  expect(endpoint.costPerMillion).toBeCloseTo(endpoint.cost / 3.6);
  for (const { cost, costs } of [batch, endpoint]) {
    expect(cost).toBeCloseTo(Object.values(costs).reduce((sum, part) => sum + part, 0));
  }
});

test('packed files cost fewer requests, and the packing; more jobs cost more starts', async () => {
  const prices = await readPrices();
  const single = estimate('batch', work, 'ml.x', 3, prices);
  const packed = estimate('packed', work, 'ml.x', 3, prices);
  // Packing reads and lists each image, and writes the files and beside each one of its keys.
  const { s3 } = prices;
  const reading = 3_600 * (s3.getRequests1000 + s3.listRequests1000 / 1_000);
  const files = 2 * 3.6 * s3.putRequests1000;
  expect(packed.costs.requests).toBeCloseTo(single.costs.requests / 1_000 + reading + files, 4);
  // An hour of one instance without a GPU packs 3.6 million.
  expect(packed.costs.packing).toBeCloseTo(prices.instanceHour[PACKING_TYPE] ?? 0);
  const unknown = estimate('packed', work, 'ml.x', 3, { ...prices, instanceHour: {} });
  expect(unknown.costs.packing).toBeCloseTo(3);
  expect(packed.costs.fetch).toBeCloseTo(single.costs.fetch / 1_000);
  expect(packed.costs.instances).toBe(single.costs.instances);
  const jobs = estimate('batch', { ...work, objectsPerJob: 1_000_000 }, 'ml.x', 3, prices);
  // Two at once: half the time for the same money.
  expect(jobs).toMatchObject({ jobs: 4, hours: 2.7 });
  expect(jobs.costs.instances).toBeCloseTo(5.4 * 2 * 3);
  const alone = { ...work, objectsPerJob: 1_000_000, concurrentJobs: 1 };
  expect(estimate('batch', alone, 'ml.x', 3, prices)).toMatchObject({ hours: 5.4 });
});

test('a worker reads each image, and writes thousands of answers at once', async () => {
  const prices = await readPrices();
  const worker = estimate('worker', work, 'ml.x', 3, prices);
  const batch = estimate('batch', work, 'ml.x', 3, prices);
  expect(worker).toMatchObject({ hours: 5.1, jobs: 0, costs: { data: 0 } });
  expect(worker.costs.instances).toBe(batch.costs.instances);
  // 64 ranges of 56,250 keys are six parts each, and each part is two objects.
  const parts = 64 * 6 * 2;
  const { s3 } = prices;
  const lists = (2 * 3_600 * s3.listRequests1000) / 1_000;
  const puts = ((parts + 64) / 1_000) * s3.putRequests1000;
  expect(worker.costs.requests).toBeCloseTo(3_600 * s3.getRequests1000 + puts + lists, 6);
  const read = parts * s3.getRequests1000 + (parts / 1_000) * s3.listRequests1000;
  expect(worker.costs.fetch).toBeCloseTo(read / 1_000, 6);
});

test('keys, NAT, storage and failures are paid for where they are', async () => {
  const prices = { ...(await readPrices()), kmsRequests10000: 0.03, natGB: 0.045 };
  const costs = (way: Way, more: Partial<Workload>) =>
    estimate(way, { ...work, ...more }, 'ml.x', 3, prices).costs;
  // A GET and a PUT of the run and a GET of the answer, for each image.
  expect(costs('batch', { kms: 'object' }).keys).toBeCloseTo(1_080 * 0.03);
  // A bucket's key saves at most 99 of 100 calls.
  expect(costs('batch', { kms: 'bucket' }).keys).toBeCloseTo(10.8 * 0.03);
  expect(costs('batch', { kms: 'none' }).keys).toBe(0);
  const { ingestedGB = 0, storedGBMonth = 0 } = prices.logs ?? {};
  const logged = (3_600_000 * 360) / 1024 ** 3;
  const line = { logBytes: 360, months: 3 };
  for (const way of ['batch', 'packed', 'endpoint', 'async'] as const) {
    expect(costs(way, line).logs).toBeCloseTo(logged * (ingestedGB + 3 * storedGBMonth));
    expect(costs(way, {}).logs).toBe(0);
  }
  expect(costs('worker', line).logs).toBe(0);
  expect(costs('worker', { nat: true }).data).toBeCloseTo((3_600_000 / 1_024) * 0.045);
  const stored = { outputBytes: 1024 ** 2, months: 2 };
  const months = (3_600_000 / 1_024) * 2 * prices.s3.storageGBMonth;
  expect(costs('batch', stored).storage).toBeCloseTo(months);
  expect(costs('packed', stored).storage).toBeCloseTo(2 * months);
  // 36,000 images are 360 s, behind a start of 6 minutes where no endpoint stands.
  const asked = 36 * (prices.s3.getRequests1000 + prices.s3.putRequests1000);
  expect(costs('batch', { failed: 0.01 }).again).toBeCloseTo(0.2 * 3 + asked);
  expect(costs('endpoint', { failed: 0.01 }).again).toBeCloseTo(0.1 * 3 + asked);
  const { natGB: _, ...without } = prices;
  expect(() => estimate('worker', { ...work, nat: true }, 'ml.x', 3, without)).toThrow(/no natGB/);
  const { logs: __, ...unlogged } = prices;
  expect(() => estimate('batch', { ...work, logBytes: 1 }, 'ml.x', 3, unlogged)).toThrow(/no logs/);
});

test("each change alone; spot instances are a worker's", async () => {
  const prices = await readPrices();
  for (const way of WAYS) {
    const one = estimate(way, work, 'ml.x', 3, prices);
    const changed = sensitivityOf(one, work, 3, prices);
    const names = CHANGES.map(({ name }) => name).filter((name) => name !== 'spot');
    expect(Object.keys(changed)).toEqual(way === 'worker' ? [...names, 'spot'] : names);
    const { slower = 0, faster = 0, failing = 0, spot } = changed;
    expect((slower + faster) / 2).toBeCloseTo(one.cost);
    expect(failing).toBeGreaterThan(one.cost);
    if (spot) expect(spot).toBeCloseTo(one.cost - 0.6 * one.costs.instances);
  }
});

test("a worker's calls are within 10% of those that `npm run axe:worker` counted", () => {
  // 300,000 pictures; docs/reliability.md has the run.
  const { gets, puts } = workerCalls(300_000);
  expect(Math.abs(gets / 300_764 - 1)).toBeLessThan(0.1);
  expect(Math.abs(puts / 201 - 1)).toBeLessThan(0.1);
});

describe('the command', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'estimate-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));
  const run = (...args: string[]) => sagemakerTfs(['estimate', '--json', ...args]);

  test('takes a measurement of batch local', async () => {
    const file = join(directory, 'measured.json');
    await writeFile(file, JSON.stringify({ done: 500, seconds: 5 }));
    const { stdout } = await run('--images', '100', '--measured', file);
    const { workload, bases } = JSON.parse(stdout);
    expect(workload.secondsPerImage).toBe(0.01);
    expect(bases).toContainEqual({ what: '0.01 s an image', from: 'measured' });
    expect(bases).toContainEqual({ what: '8 minutes to start', from: 'assumed' });
    await writeFile(file, JSON.stringify({ ranges: 65, done: 65, now: 400, seconds: 8 }));
    const worker = await run('--images', '100', '--measured', file);
    expect(JSON.parse(worker.stdout).workload.secondsPerImage).toBe(0.02);
    for (const nothing of [{}, { ranges: 65, done: 65, now: 0, seconds: 0.4 }]) {
      await writeFile(file, JSON.stringify(nothing));
      expect((await run('--images', '100', '--measured', file)).exitCode).toBe(2);
    }
  });

  test('prices every type that a batch job tries, where none is named', async () => {
    const { stdout } = await run('--images', '100', '--seconds-per-image', '1');
    const { estimates } = JSON.parse(stdout) as { estimates: { instanceType: string }[] };
    expect([...new Set(estimates.map(({ instanceType }) => instanceType))]).toEqual([
      'ml.p3.2xlarge',
      'ml.g5.2xlarge',
      'ml.g4dn.xlarge',
    ]);
  });

  test('takes a price file, and says which price is missing', async () => {
    const file = join(directory, 'prices.json');
    const prices = { ...(await readPrices()), instanceHour: { 'ml.c5.large': 9 } };
    await writeFile(file, JSON.stringify(prices));
    const args = ['--images', '3600', '--seconds-per-image', '1', '--prices', file];
    const known = await run(...args, '--instance-type', 'ml.c5.large', '--instance-count', '1');
    const [batch] = JSON.parse(known.stdout).estimates;
    expect(batch.costs.instances / batch.hours).toBeCloseTo(9);
    expect((await run(...args)).stdout).toContain('PRICE_UNKNOWN');
    await writeFile(file, '{"instanceHour": "cheap"}');
    const wrong = (await run(...args)).stdout;
    expect(wrong).toContain('PRICES_INVALID');
    expect(wrong).toContain("instanceHour: 'cheap' is not an object");
  });

  test('asks the Price List API, each way under its own usage type', async () => {
    const sold = (usagetype: string, USD: string) =>
      JSON.stringify({
        product: { attributes: { usagetype } },
        terms: { OnDemand: { term: { priceDimensions: { hour: { pricePerUnit: { USD } } } } } },
      });
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      const PriceList = [
        sold('EUW1-Host:ml.g5.xlarge', '2.0'),
        sold('EUW1-Tsform:ml.g5.xlarge', '1.5'),
        sold('EUW1-Train:ml.g5.xlarge', '7.0'),
      ];
      response.end(JSON.stringify({ PriceList }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { stdout } = await sagemakerTfs(
      [
        ...['estimate', '--json', '--images', '3600', '--seconds-per-image', '1', '--live-prices'],
        ...['--region', 'eu-west-1', '--instance-type', 'ml.g5.xlarge'],
      ],
      { AWS_ENDPOINT_URL_PRICING: url, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
    );
    server.close();
    const { estimates } = JSON.parse(stdout) as {
      estimates: {
        way: string;
        hours: number;
        instanceCount: number;
        costs: { instances: number };
      }[];
    };
    const hourly = estimates.map(({ way, hours, instanceCount, costs }) => [
      way,
      Number((costs.instances / hours / instanceCount).toFixed(3)),
    ]);
    expect(hourly).toEqual([
      ['batch', 1.5],
      ['packed', 1.5],
      ['endpoint', 2],
    ]);
  });
});
