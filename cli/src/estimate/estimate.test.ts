import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sagemakerTfs } from '../batch/test-support.ts';
import { estimate, type Workload, workerCalls } from './estimate.ts';
import { readPrices } from './prices.ts';

const work: Workload = {
  images: 3_600_000,
  inputBytes: 1024 ** 2,
  outputBytes: 0,
  secondsPerImage: 0.01,
  instanceCount: 2,
  imagesPerObject: 1,
  objectsPerJob: 0,
  concurrentJobs: 2,
  startMinutes: 6,
  endpointUse: 0.5,
};

test('hours and dollars add up', async () => {
  const prices = await readPrices();
  const batch = estimate('batch', work, 'ml.x', 3, prices);
  // 3.6 million images at 0.01 s are 10 instance hours: 5 for each of two, and 6 minutes to start.
  expect(batch).toMatchObject({ hours: 5.1, jobs: 1, dataCost: 0 });
  expect(batch.instanceCost).toBeCloseTo(5.1 * 2 * 3);
  const { s3, hostingDataGB } = prices;
  const lists = (3_600 / 1_000) * s3.listRequests1000;
  expect(batch.requestCost).toBeCloseTo(3_600 * (s3.getRequests1000 + s3.putRequests1000) + lists);
  const endpoint = estimate('endpoint', work, 'ml.x', 3, prices);
  expect(endpoint).toMatchObject({ hours: 10.1, jobs: 0 });
  expect(endpoint.dataCost).toBeCloseTo((3_600_000 / 1024) * hostingDataGB);
  expect(endpoint.costPerMillion).toBeCloseTo(endpoint.cost / 3.6);
});

test('shards cost fewer requests; more jobs cost more starts', async () => {
  const prices = await readPrices();
  const single = estimate('batch', work, 'ml.x', 3, prices);
  const packed = estimate('batch', { ...work, imagesPerObject: 1_000 }, 'ml.x', 3, prices);
  // Packing reads and lists each image, and writes the shards.
  const { s3 } = prices;
  const packing = 3_600 * (s3.getRequests1000 + s3.listRequests1000 / 1_000);
  const shards = 3.6 * s3.putRequests1000;
  expect(packed.requestCost).toBeCloseTo(single.requestCost / 1_000 + packing + shards, 4);
  const jobs = estimate('batch', { ...work, objectsPerJob: 1_000_000 }, 'ml.x', 3, prices);
  // Two at once: half the time for the same money.
  expect(jobs).toMatchObject({ jobs: 4, hours: 2.7 });
  expect(jobs.instanceCost).toBeCloseTo(5.4 * 2 * 3);
  const alone = { ...work, objectsPerJob: 1_000_000, concurrentJobs: 1 };
  expect(estimate('batch', alone, 'ml.x', 3, prices)).toMatchObject({ hours: 5.4 });
});

test('a worker reads each image, and writes thousands of answers at once', async () => {
  const prices = await readPrices();
  const worker = estimate('worker', work, 'ml.x', 3, prices);
  const batch = estimate('batch', work, 'ml.x', 3, prices);
  expect(worker).toMatchObject({ hours: 5.1, jobs: 0, dataCost: 0 });
  expect(worker.instanceCost).toBe(batch.instanceCost);
  // 64 ranges of 56,250 keys are six parts each, and each part is two objects.
  const puts = 64 * 6 * 2 + 64;
  const { s3 } = prices;
  const lists = (2 * 3_600 * s3.listRequests1000) / 1_000;
  const rest = 3_600 * s3.getRequests1000 + (puts / 1_000) * s3.putRequests1000 + lists;
  expect(worker.requestCost).toBeCloseTo(rest, 6);
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
    expect(JSON.parse(stdout).workload.secondsPerImage).toBe(0.01);
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
    expect(batch.instanceCost / batch.hours).toBeCloseTo(9);
    expect((await run(...args)).stdout).toContain('PRICE_UNKNOWN');
    await writeFile(file, '{"instanceHour": "cheap"}');
    expect((await run(...args)).stdout).toContain('PRICES_INVALID');
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
      estimates: { way: string; hours: number; instanceCount: number; instanceCost: number }[];
    };
    const hourly = estimates.map(({ way, hours, instanceCount, instanceCost }) => [
      way,
      Number((instanceCost / hours / instanceCount).toFixed(3)),
    ]);
    expect(hourly).toEqual([
      ['batch', 1.5],
      ['endpoint', 2],
    ]);
  });
});
