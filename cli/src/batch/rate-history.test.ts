import { rateHistory } from './rate-history.ts';

test('points are rates between times, and their areas add up to what was done', () => {
  let now = 1_000;
  const history = rateHistory(() => now);
  for (let done = 1; done <= 1_000; done++) {
    now += 10;
    history.record(done);
  }
  const points = history.points();
  expect(points.length).toBeGreaterThan(30);
  expect(points.at(-1)?.[0]).toBeCloseTo(10, 0);
  for (const [, rate] of points) expect(rate).toBeCloseTo(100);
  const area = points.reduce(
    (sum, [at, rate], index) => sum + rate * (at - (points[index - 1]?.[0] ?? 0)),
    0,
  );
  expect(area).toBeCloseTo(1_000, -1);
});

test('a day of a job takes no more memory than its first minute', () => {
  let now = 0;
  const history = rateHistory(() => now);
  for (let done = 1; done <= 86_400; done++) {
    now += 1_000;
    history.record(done);
  }
  const points = history.points();
  expect(points.length).toBeLessThanOrEqual(401);
  for (const [, rate] of points) expect(rate).toBeCloseTo(1);
});

test('a job that ends at once has one point, one without progress none', () => {
  let now = 0;
  const history = rateHistory(() => now);
  expect(history.points()).toEqual([]);
  now = 10;
  history.record(5);
  expect(history.points()).toEqual([[0.01, 500]]);
});
