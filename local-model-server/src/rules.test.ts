/** The table of rules in the README names a test for each, and each of them is there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE = join(__dirname, '..');
const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
const [, section = ''] = /^## Rules$([\s\S]*?)^## /m.exec(readme) ?? [];
const rows = section.split('\n').filter((line) => /^\| (?!rule |-)/.test(line));
/** `file`: "title", "title" */
const NAMED = /`([^`]+\.test\.ts)`((?:[:,] "[^"]+")+)/g;
/** Whose odd calls are data, and their names the titles of its tests. */
const ODD_CALLS = 'odd-calls.test.ts';

test('there are rows', () => {
  expect(rows.length).toBeGreaterThan(30);
});

test.each(rows.map((row) => [row.split(' | ')[0], row]))('%s', (_, row = '') => {
  const named = [...row.slice(row.lastIndexOf(' | ')).matchAll(NAMED)];
  expect(named).not.toEqual([]);
  for (const [, file = '', titles = ''] of named) {
    const place = file === ODD_CALLS ? 'test/odd-answers.json' : `src/${file}`;
    const text = readFileSync(join(PACKAGE, place), 'utf8');
    for (const [, title = ''] of titles.matchAll(/"([^"]+)"/g)) expect(text).toContain(title);
  }
});
