import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordingSvg } from './frames.ts';

const run = (text: string, column = 0) => ({ text, column });

test('each frame is seen in its time, equal lines are written once, and text stays text', () => {
  const svg = recordingSvg(
    [
      { screen: [[run('$ one <two>')]], milliseconds: 1_000 },
      {
        screen: [[run('$ one <two>')], [{ ...run('done', 2), color: 2, bold: true }]],
        milliseconds: 3_000,
      },
    ],
    { columns: 20, rows: 2 },
    'two & a half',
  );
  expect(svg.match(/one &lt;two&gt;/g)).toHaveLength(1);
  expect(svg).toContain('@keyframes k0{0.000%{visibility:visible}25.000%{visibility:hidden}}');
  expect(svg).toContain('@keyframes k1{0%{visibility:hidden}25.000%{visibility:visible}}');
  expect(svg).toContain('<tspan x="16.8" textLength="33.6" class="c2 b">done</tspan>');
  expect(svg).toContain('<title>two &amp; a half</title>');
});

test('the committed recording is small, runs no script and loads nothing', () => {
  const file = join(__dirname, '..', 'images', 'terminal.svg');
  const svg = readFileSync(file, 'utf8');
  expect(Buffer.byteLength(svg)).toBeLessThan(200_000);
  expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(
    /<script|javascript:|(?:href|src)="(?!#)|url\(|@import/i,
  );
  // The terminal of whoever made it is not in it.
  expect(svg).not.toMatch(/\/(?:tmp|root|home|Users|work)\//);
});
