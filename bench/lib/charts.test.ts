import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { barChart } from './charts.ts';
import type { Result } from './result.ts';

const RESULTS = join(__dirname, '..', 'results');
const charts = readdirSync(RESULTS)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(RESULTS, name), 'utf8')) as Result)
  .flatMap(({ name, charts = [] }) =>
    charts.map((chart, index) => [`${name}-${index + 1}.svg`, chart] as const),
  );

test.each(charts)(
  '%s shows the committed result, and what it was measured under',
  (file, chart) => {
    const svg = barChart(chart);
    expect(readFileSync(join(RESULTS, file), 'utf8')).toBe(`${svg}\n`);
    expect(svg).toContain(chart.conditions);
    expect(svg).not.toMatch(/>ours[,<]/);
  },
);

test('bars start at zero: one of half the value is half as long', () => {
  const bars = [10, 100, 200].map((value) => ({ name: `ours, ${value}`, value }));
  const svg = barChart({ title: 'Title', conditions: 'Conditions', unit: 'ms', bars });
  const lengths = [...svg.matchAll(/l([\d.]+) 0l0 16l-/g)].map(([, length]) => Number(length));
  expect(lengths).toHaveLength(3);
  const [ten = 0, hundred = 0, twoHundred = 0] = lengths;
  expect(twoHundred / hundred).toBeCloseTo(2, 1);
  expect(hundred / ten).toBeCloseTo(10, 0);
});
