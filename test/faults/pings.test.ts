import { isLate } from './pings.ts';

test.each([
  [{ slowestMs: 900, share: 1 }, false],
  [{ slowestMs: 1_100, share: 1 }, true],
  [{ slowestMs: 3_000, share: 0.2 }, false],
  [{ slowestMs: 6_000, share: 0.2 }, true],
])('%j is late: %j', (times, late) => {
  expect(isLate(times)).toBe(late);
});
