/** Links of a built site. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** What a site links to, and what of it is missing. */
export interface Links {
  readonly pages: number;
  readonly checked: number;
  /** `PAGE: LINK` for each that leads nowhere: no such file, or no such place in it. */
  readonly broken: readonly string[];
  /** Addresses of pictures, scripts and styles that a page would fetch from elsewhere. */
  readonly foreign: readonly string[];
}

/** Reads every page below a folder. Links to other sites are not opened. */
export function checkLinks(folder: string): Links {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const pages = names.filter((name) => name.endsWith('.html') && name !== '404.html');
  const texts = new Map(pages.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  const ids = new Map([...texts].map(([name, text]) => [name, idsOf(text)]));
  const broken: string[] = [];
  const foreign: string[] = [];
  let checked = 0;
  for (const [page, text] of texts) {
    for (const { tag, link } of linksOf(text)) {
      if (/^(?:https?:)?\/\//.test(link)) {
        if (tag !== 'a') foreign.push(`${page}: ${link}`);
        continue;
      }
      if (/^(?:mailto|data):/.test(link)) continue;
      checked++;
      const [path = '', place = ''] = link.split('#');
      const target = path === '' ? page : fileOf(folder, page, path);
      const isThere = target !== undefined && existsSync(join(folder, target));
      const hasPlace = place === '' || ids.get(target ?? '')?.has(decodeURIComponent(place));
      if (!isThere || !hasPlace) broken.push(`${page}: ${link}`);
    }
  }
  return { pages: pages.length, checked, broken, foreign };
}

/** Name below the folder of what a page's link opens. */
function fileOf(folder: string, page: string, path: string): string | undefined {
  const at = path.startsWith('/') ? path.slice(1) : join(dirname(page), path);
  const full = join(folder, decodeURIComponent(at));
  if (relative(folder, full).startsWith('..')) return undefined;
  const isFolder = existsSync(full) && statSync(full).isDirectory();
  return relative(folder, isFolder ? join(full, 'index.html') : full);
}

function idsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id));
}

/** What the tags of a page name in `href`, `src` and `srcset`. */
function linksOf(html: string): { tag: string; link: string }[] {
  return [...html.matchAll(/<(\w+)\b([^>]*)>/g)].flatMap(([, tag = '', attributes = '']) =>
    [...attributes.matchAll(/\s(?:href|src|srcset)="([^"]*)"/g)]
      .flatMap(([, value = '']) => value.split(', '))
      .map((value) => ({ tag, link: (value.split(' ')[0] ?? '').replaceAll('&amp;', '&') })),
  );
}
