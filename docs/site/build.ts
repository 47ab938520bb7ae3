/**
 * `npm run docs:site`: the documentation as a static site in docs/site/dist, every link of it checked, and in Chromium that
 * diagrams are drawn.
 *
 * VitePress renders it. Of the maintained generators it is the smallest that runs on Node 20 (102 MB installed, a package
 * beside Vue and Vite; Astro with Starlight takes 183 MB and Node 22), and its search is a file of the site. Mermaid, which
 * draws the diagrams on GitHub, draws them here, by a script of the site. Both have a lockfile of their own, so that
 * `npm ci` of the repository does not install them.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findChromium } from '../../tools/chromium.ts';
import { checkDiagrams } from './drawn.ts';
import { installTools } from './install.ts';
import { checkLinks } from './links.ts';
import { SITE_PAGES, sitePath, stage } from './stage.ts';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '..', '..');
const PAGES = join(HERE, '.cache', 'pages');
const OUT = join(HERE, 'dist');

function stagePages(): void {
  rmSync(PAGES, { recursive: true, force: true });
  mkdirSync(PAGES, { recursive: true });
  for (const file of SITE_PAGES) {
    const { text, assets } = stage(file, readFileSync(join(ROOT, file), 'utf8'), repository());
    writeFileSync(join(PAGES, sitePath(file)), text);
    for (const asset of assets) {
      mkdirSync(join(PAGES, dirname(asset)), { recursive: true });
      cpSync(join(ROOT, asset), join(PAGES, asset));
    }
  }
}

/** Where the source is, once the packages name it. */
function repository(): string | undefined {
  const text = readFileSync(join(ROOT, 'package.json'), 'utf8');
  const { repository: named } = JSON.parse(text) as { repository?: { url?: string } };
  return named?.url?.replace(/^git\+/, '').replace(/\.git$/, '');
}

const modules = installTools();
stagePages();
rmSync(OUT, { recursive: true, force: true });
const vitepress = join(modules, 'vitepress', 'bin', 'vitepress.js');
execFileSync(process.execPath, [vitepress, 'build', HERE], { cwd: HERE, stdio: 'inherit' });
const { pages, checked, broken, foreign } = checkLinks(OUT);
for (const line of broken) console.error(`leads nowhere: ${line}`);
for (const line of foreign) console.error(`is fetched from elsewhere: ${line}`);
const chromium = findChromium();
const { diagrams, problems } = chromium
  ? await checkDiagrams(OUT, chromium)
  : { diagrams: 0, problems: [] };
for (const line of problems) console.error(line);
if (broken.length + foreign.length + problems.length > 0) process.exit(1);
if (!chromium) console.log('Without chromium on PATH nobody looked whether diagrams are drawn.');
console.log(
  `docs/site/dist: ${pages} pages, ${checked} links, all lead somewhere; ${diagrams} diagrams drawn.`,
);
