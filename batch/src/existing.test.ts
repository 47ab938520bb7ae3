import { countsAsDone, EXISTING, type Existing } from './existing.ts';

/** The input was written at 20, what made the outputs is known since 10. */
const INPUT = { modified: 20 };
const SINCE = 10;

test.each<[Existing, readonly number[]]>([
  ['older', [20, 30]],
  ['skip', [5, 10, 15, 20, 30]],
  ['replace', [10, 15, 20, 30]],
])('with %s, outputs of %j count', (existing, counting) => {
  const found = [5, 10, 15, 20, 30].filter((modified) =>
    countsAsDone(existing, SINCE, { modified }, INPUT),
  );
  expect(found).toEqual(counting);
});

test.each(EXISTING)('with %s, an input that is gone makes no output stale', (existing) => {
  expect(countsAsDone(existing, SINCE, { modified: 15 }, undefined)).toBe(true);
});
