import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minutesOf, soakChart } from './soak-chart.ts';
import { unflat } from './soak-flat.ts';

const DOCS = join(__dirname, '..', '..', 'docs');

test('the committed chart shows the table beside it', () => {
  const minutes = minutesOf(readFileSync(join(DOCS, 'reliability.md'), 'utf8'));
  expect(minutes.length).toBeGreaterThan(30);
  expect(minutes.every((one) => Object.values(one).every(Number.isFinite))).toBe(true);
  const committed = readFileSync(join(DOCS, 'images', 'soak.svg'), 'utf8');
  const [, conditions = ''] = />(\d+ clients[^<]*)</.exec(committed) ?? [];
  expect(conditions).not.toBe('');
  expect(committed).toBe(`${soakChart(minutes, conditions)}\n`);
});

const cost = { memoryMiB: 500, descriptors: 50, handles: 20, p50: 2 };

test.each([
  [{}, []],
  [{ memoryMiB: 560, descriptors: 58, handles: 28, p50: 4 }, []],
  [{ memoryMiB: 570 }, ['memory, MiB: 570.0, was 500.0']],
  [{ descriptors: 59 }, ['descriptors: 59.0, was 50.0']],
  [{ handles: 29 }, ['handles: 29.0, was 20.0']],
  [{ p50: 4.1 }, ['P50, ms: 4.1, was 2.0']],
])('a load that ends with %j: %j is not flat', (last, found) => {
  const ends = { ...cost, ...last };
  expect(unflat([cost, cost, cost, cost, ends, ends])).toEqual(found);
});
