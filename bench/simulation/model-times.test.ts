import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readModelTimes, timesOf } from './model-times.ts';

let work: string;
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'model-times-'));
});
afterEach(() => rm(work, { recursive: true, force: true }));

/** The rate of a model that takes 5 ms a batch and 2 ms an image. */
const rate = (size: number) => (1_000 * size) / (5 + 2 * size);
const point = (batchSize: number, more: object = {}) => ({
  where: 'tiles-endpoint',
  batchSize,
  concurrency: 8,
  imagesPerSecond: rate(batchSize),
  p50: 1,
  errors: 0,
  ...more,
});

async function read(json: unknown, where?: string) {
  const file = join(work, 'times.json');
  await writeFile(file, JSON.stringify(json));
  return readModelTimes(file, where);
}

const TODAY = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);

test('batch and image are distinguished by requests of several sizes, at their best rate', async () => {
  const points = [
    point(1),
    point(8),
    point(32),
    point(8, { imagesPerSecond: 3 }),
    point(8, { imagesPerSecond: 9_999, errors: 1 }),
    point(8, { imagesPerSecond: 9_999, server: { maxBatchSize: 32, decodeThreads: 0 } }),
  ];
  expect(await read({ points, knee: points[0] })).toEqual({
    batchMs: expect.closeTo(5, 6),
    imageMs: expect.closeTo(2, 6),
    where: 'tiles-endpoint',
    date: TODAY,
  });
});

test('with one size, the images take all of the time', () => {
  expect(timesOf([point(8)])).toEqual({
    batchMs: 0,
    imageMs: expect.closeTo(21 / 8, 6),
    where: 'tiles-endpoint',
  });
});

test('the output of bench is a time for each image; --where says where', async () => {
  const results = [{ transport: 'own', requestsPerSecond: 50 }, { requestsPerSecond: 40 }];
  const times = await read({ results }, 'ml.p3.2xlarge');
  expect(times).toEqual({ batchMs: 0, imageMs: 20, where: 'ml.p3.2xlarge', date: TODAY });
});

test('times as they are', async () => {
  const times = { batchMs: 1, imageMs: 2, where: 'a', date: '2026-01-02' };
  expect(await read(times)).toEqual(times);
});

test('a machine without a name is asked for', async () => {
  await expect(read({ results: [{ requestsPerSecond: 50 }] })).rejects.toThrow('give --where');
  const points = [point(1, { where: 'local' })];
  await expect(read({ points })).rejects.toThrow('give --where');
  expect(await read({ points }, 'a laptop')).toMatchObject({ where: 'a laptop' });
});

test('anything else, and measurements with errors alone, are refused', async () => {
  await expect(read({ hello: 1 })).rejects.toThrow('is not of sagemaker-tfs tune --json');
  await expect(read({ points: [point(1, { errors: 2 })] })).rejects.toThrow('had errors');
});
