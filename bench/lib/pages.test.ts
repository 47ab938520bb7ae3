import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES, withFigures } from './pages.ts';
import type { Result } from './result.ts';

const ROOT = join(__dirname, '..', '..');
const folder = join(ROOT, 'bench', 'results');
const results = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Result);

/** Here the results come in another order than in a run. */
const lines = (page: string) => page.split('\n').sort();

test.each(PAGES)('the figures in %s are those of the committed results', (path) => {
  const page = readFileSync(join(ROOT, path), 'utf8');
  expect(page.match(/<!-- bench: /g)?.length).toBeGreaterThan(1);
  expect(lines(withFigures(page, path, results))).toEqual(lines(page));
});

test('a figure or chart that nobody measured is an error', () => {
  const page = (what: string) => `<!-- bench: ${what} -->\nold\n<!-- end -->`;
  expect(() => withFigures(page('headlines'), 'README.md', [])).toThrow(
    /no result for "One picture, gRPC/,
  );
  expect(() => withFigures(page('detection-9'), 'README.md', results)).toThrow(
    'no chart detection-9',
  );
  expect(withFigures(page('detection-1'), 'docs/a.md', results)).toMatch(
    /\]\(\.\.\/bench\/results\/detection-1\.svg\)\n\n\*.+ in flight\. .*computes nothing\..*\*\n\n<!-- end -->$/,
  );
});
