/** The site's pages and the check of its links; `npm run docs:site` renders it and checks every link. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkLinks } from './links.ts';
import { SITE_PAGES, sitePath, stage } from './stage.ts';

const ROOT = join(__dirname, '..', '..');

test('every page has a place of its own', () => {
  expect(new Set(SITE_PAGES.map(sitePath)).size).toBe(SITE_PAGES.length);
});

test('links lead from page to page, to pictures beside them, or nowhere', () => {
  const text = [
    '[batch](docs/batch.md#shards) and [`client`](client/README.md), [AWS](https://aws.amazon.com)',
    '[source](lib/config.ts) [![chart](docs/images/soak.svg)](docs/reliability.md) [below](#limits)',
    '<img srcset="docs/images/a.png" alt="x"> [detected boxes [4]](docs/handlers.md)',
    '```md\n[batch](docs/batch.md)\n```',
  ].join('\n');
  expect(stage('README.md', text)).toEqual({
    text: [
      '[batch](./batch.md#shards) and [`client`](./client.md), [AWS](https://aws.amazon.com)',
      'source [![chart](./docs/images/soak.svg)](./reliability.md) [below](#limits)',
      '<img srcset="./docs/images/a.png" alt="x"> [detected boxes [4]](./handlers.md)',
      '```md\n[batch](docs/batch.md)\n```\n',
    ].join('\n'),
    assets: ['docs/images/soak.svg', 'docs/images/a.png'],
  });
  const source = stage('docs/batch.md', '[code](../lib/config.ts)', 'https://example.com/a/b');
  expect(source.text).toBe('[code](https://example.com/a/b/blob/main/lib/config.ts)\n');
});

test.each(SITE_PAGES)('%s links to pages that are there', (file) => {
  const { text } = stage(file, readFileSync(join(ROOT, file), 'utf8'));
  const places = new Set(SITE_PAGES.map((page) => `./${sitePath(page)}`));
  const links = [...text.matchAll(/\]\((\.\/[^)#]+\.md)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !places.has(link))).toEqual([]);
});

test('the check finds missing pages, missing places, and what comes from elsewhere', () => {
  const folder = mkdtempSync(join(tmpdir(), 'docs-site-'));
  try {
    mkdirSync(join(folder, 'a'));
    writeFileSync(
      join(folder, 'index.html'),
      `<link href="https://cdn.example/x.css"><a href="https://example.com">x</a>
       <a href="/a/page.html#there">x</a><a href="./a/page.html#gone">x</a>
       <a href="gone.html">x</a><img srcset="gone.png 2x">`,
    );
    writeFileSync(join(folder, 'a', 'page.html'), '<h2 id="there"></h2><a href="../">up</a>');
    expect(checkLinks(folder)).toEqual({
      pages: 2,
      checked: 5,
      broken: ['index.html: ./a/page.html#gone', 'index.html: gone.html', 'index.html: gone.png'],
      foreign: ['index.html: https://cdn.example/x.css'],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
