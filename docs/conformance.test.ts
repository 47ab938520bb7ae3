/** Each row of the page counts all of its cases: those that agree, and those that differ by a decision of another page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (name: string) => readFileSync(join(__dirname, name), 'utf8');
const rows = read('conformance.md')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (what|---)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));
const decisions = read('where-it-differs.md');
const number = (text = '') => Number(text.replaceAll(',', ''));

test('there are rows', () => {
  expect(rows.length).toBeGreaterThan(15);
});

test.each(rows)('%s', (_what, _reference, _tolerance, cases, agreed, ...rest) => {
  const parts = rest.join(' | ').split('; ');
  const named = parts.map((part) => part.split(': '));
  const known = named.map(([count]) => number(count)).reduce((sum, count) => sum + count, 0);
  expect(number(agreed) + known).toBe(number(cases));
  for (const [, row] of named) if (row) expect(decisions).toContain(`\n| ${row} |`);
});
