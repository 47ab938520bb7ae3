/** What callers of an endpoint name grows without end; what is gathered of it does not. */
import { baselineOf, driftOf, gatherer } from './baseline.ts';
import { FeatureStore } from './feature-values.ts';

const json = (value: unknown) => ({
  contentType: 'application/json',
  bytes: Buffer.from(JSON.stringify(value)),
});

/** An honest request, or one with 1,000 names of its own. */
const honest = (i: number) => ({
  id: undefined,
  input: json([{ age: i % 50 }]),
  output: undefined,
});
const odd = (i: number) => {
  const names = Object.fromEntries(Array.from({ length: 1000 }, (_, j) => [`f${i}_${j}`, j]));
  return { id: undefined, input: json([names]), output: undefined };
};

test('of features without end the most common stay, and the others are counted', () => {
  const all = gatherer();
  for (let i = 0; i < 40; i++) {
    all.add(odd(i));
    all.add(honest(i));
  }
  const gathered = all.gathered();
  expect(gathered.values.size).toBe(2048);
  expect(gathered.values.get('input.age')).toHaveLength(40);
  // Each value is in its feature, or counted.
  const kept = [...gathered.values.values()].reduce((sum, { length }) => sum + length, 0);
  expect(kept + gathered.leftOut).toBe(40_040);
  expect(Object.keys(baselineOf(gathered).features)).toContain('input.age');
});

test('features of a baseline are read beside any number of others, and 100 of those are named', () => {
  const before = gatherer();
  for (let i = 0; i < 200; i++) before.add(honest(i));
  const baseline = baselineOf(before.gathered());
  const now = gatherer(baseline);
  for (let i = 0; i < 40; i++) now.add(odd(i));
  for (let i = 0; i < 200; i++) now.add({ ...honest(i), output: json([{ common: 1 }]) });
  const drift = driftOf(baseline, now.gathered(), 0.2);
  expect(drift).toMatchObject({ drifted: 0, gone: [], leftOut: 40_000 - 99 });
  expect(drift.features).toMatchObject([{ feature: 'input.age', count: 200 }]);
  expect(drift.unknown).toHaveLength(100);
  expect(drift.unknown[0]).toBe('output.common');
});

test('values of many features are fewer of each, from early and late bodies alike', () => {
  const store = new FeatureStore();
  for (const value of [1, 2, 3, 4]) {
    for (let feature = 0; feature < 500; feature++) {
      store.add(`${feature}`, new Array(2500).fill(value));
    }
  }
  const { values, leftOut } = store.gathered();
  const lengths = [...values.values()].map(({ length }) => length);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(2_000_000);
  expect(leftOut).toBe(0);
  for (const feature of ['0', '499']) {
    const kept = values.get(feature) ?? [];
    expect(kept.length).toBeGreaterThan(2000);
    for (const value of [1, 2, 3, 4]) {
      const share = kept.filter((one) => one === value).length / kept.length;
      expect(share).toBeCloseTo(1 / 4, 1);
    }
  }
});

test('media types without end are counted together', () => {
  const all = gatherer();
  for (let i = 0; i < 300; i++) {
    const contentType = `a/${i}${'x'.repeat(i * 10)}`;
    all.add({ id: undefined, input: { contentType, bytes: Buffer.alloc(1) }, output: undefined });
  }
  const types = [...all.gathered().sizesOnly];
  expect(types).toHaveLength(21);
  expect(types.at(-1)).toEqual(['other media types', 280]);
  for (const [type] of types) expect(type.length).toBeLessThanOrEqual(100);
});
