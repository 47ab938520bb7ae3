import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minutesOf, soakChart } from './soak-chart.ts';

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
