/** What the docs show is what the compiler checks, what they link to exists, and costs are the price file's. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import prices from '../prices/us-east-1.json';
import { anchorOf, SITE_PAGES } from './site/stage.ts';

const DOCS = __dirname;
const README = '../README.md';
const pages = [README, ...readdirSync(DOCS).filter((name) => name.endsWith('.md'))];
const sitePages = SITE_PAGES.map((file) => relative('docs', file));

/** Every TypeScript example, without its indentation: pages quote parts of them. */
const examples = [join(DOCS, 'examples'), join(DOCS, '../examples/migration')]
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((name) => name.endsWith('.ts'))
  .map((name) => flattened(readFileSync(name, 'utf8')));

function flattened(code: string): string {
  return code
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join('\n');
}

function pageText(page: string): string {
  return readFileSync(join(DOCS, page), 'utf8');
}

function anchors(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

test.each(pages)('the TypeScript in %s is part of an example', (page) => {
  const quoted = [...pageText(page).matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);
  for (const code of quoted) {
    const found = examples.some((example) => example.includes(flattened(code)));
    expect({ code, found }).toEqual({ code, found: true });
  }
});

test.each(sitePages)('the links in %s lead somewhere', (page) => {
  const links = [...pageText(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  for (const link of links.filter((target) => !target.startsWith('https:'))) {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? join(DOCS, page) : join(DOCS, dirname(page), path);
    expect({ link, exists: existsSync(target) }).toEqual({ link, exists: true });
    if (anchor) expect(anchors(readFileSync(target, 'utf8'))).toContain(anchor);
  }
});

test('the costs of the first deploy are those of the price file', () => {
  const instanceHour: Readonly<Record<string, number>> = prices.instanceHour;
  const row = /^\| [^|]*?(?:(\d+) x )?`(ml\.[^`]+)`[^|]*\| ([\d.]+) \|/gm;
  const rows = [...pageText('first-deploy.md').matchAll(row)];
  expect(rows.length).toBeGreaterThan(0);
  for (const [, count = '1', type = '', cost] of rows) {
    const expected = Number(count) * (instanceHour[type] ?? Number.NaN);
    expect({ type, cost: Number(cost) }).toEqual({ type, cost: Number(expected.toFixed(3)) });
  }
  const serverless = /serverless, (\d+) GB \| ([\d.]+) \|/.exec(pageText('first-deploy.md'));
  const hour = Number(serverless?.[1]) * 3600 * prices.serverlessGBSecond;
  expect(Number(serverless?.[2])).toBeCloseTo(hour, 6);
});
