import { compareAll, mostOff } from './comparison.ts';
import { readMeasured } from './measured.ts';
import { type Run, replay } from './replay.ts';
import { simulateAll } from './report.ts';

const run: Run = {
  road: 'batch',
  images: 1_000_000,
  rate: 500,
  instances: 2,
  imagesPerObject: 1,
  failed: 0,
  spot: false,
};

test('each object is read, written and logged once; the same at every run', () => {
  const one = replay(run);
  expect(one).toMatchObject({ gets: 1_000_000, puts: 1_000_000, logged: 1_000_000, lists: 1_000 });
  expect(one).toMatchObject({ failures: 0, againHours: 0, taken: 0 });
  expect(replay(run)).toEqual(one);
  // All instances of a job are paid for until its end.
  expect(one.instanceHours).toBeCloseTo(2 * one.hours);
});

test('what fails is read once more, on one instance behind the others', () => {
  const { failures, gets, againHours, hours } = replay({ ...run, failed: 0.01 });
  expect(Math.abs(failures / 10_000 - 1)).toBeLessThan(0.05);
  // Of those, 1 in 100 fails again.
  expect(gets).toBeGreaterThanOrEqual(1_000_000 + failures / 1.02);
  expect(againHours).toBeGreaterThan(failures / 500 / 3_600);
  expect(hours).toBeCloseTo(replay(run).hours, 0);
});

test('shards come in waves, each with its own starts', () => {
  const shards = { images: 100_000, atOnce: 2 };
  const sharded = replay({ ...run, shards });
  expect(sharded.gets).toBe(1_000_000);
  // Eleven jobs with two instances each start, and one has a thousand images.
  expect(sharded.instanceHours).toBeGreaterThan(replay(run).instanceHours + 2 * 9 * (4 / 60));
  expect(replay({ ...run, shards: { ...shards, atOnce: 10 } }).hours).toBeLessThan(
    sharded.hours / 2,
  );
});

test('an instance that is taken back loses its part, and another one does it', () => {
  const worker: Run = { ...run, road: 'worker', images: 50_000_000, spot: true };
  const { taken, gets, puts } = replay(worker);
  expect(taken).toBeGreaterThan(0);
  expect(gets).toBe(50_000_000 + taken * 10_000);
  // A part and its keys; an instance's last part may have fewer keys.
  expect(puts).toBe(2 * 5_000 + 64);
  expect(replay({ ...worker, spot: false }).gets).toBe(50_000_000);
});

test('an estimate is within 10% of the replayed run on each road', () => {
  const measured = readMeasured();
  const compared = compareAll(measured, simulateAll(measured), 120_000_000);
  expect(mostOff(compared, 'dollars')).toBeLessThan(0.1);
  // Of many instances that work for two hours, the last one decides: docs/batch.md says so.
  const long = compared.filter(({ hours }) => hours.replayed > 10);
  expect(long.map(({ name }) => name)).toEqual([
    expect.stringContaining('one job'),
    expect.stringContaining('shards'),
    expect.stringContaining('packed'),
    expect.stringContaining('worker on 2'),
  ]);
  expect(mostOff(long, 'hours')).toBeLessThan(0.1);
});
