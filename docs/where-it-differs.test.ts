/** The page of differences names a test for each, and each of them is there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync(join(__dirname, 'where-it-differs.md'), 'utf8');
const isRow = (line: string) => line.startsWith('| ') && !/^\| (request|---)/.test(line);
const rows = page.split('\n').filter(isRow);

test('there are rows', () => {
  expect(rows.length).toBeGreaterThan(20);
});

test.each(rows.map((row) => [row.split(' | ')[0], row]))('%s', (_, row) => {
  const [, title, path] = /\[([^\]]+)\]\(([^)]+)\) \|$/.exec(row as string) ?? [];
  expect(readFileSync(join(__dirname, path as string), 'utf8')).toContain(title);
});
