/** The pages as the site's generator takes them: in one folder, with links that lead from page to page of the site. */
import { dirname, join, normalize } from 'node:path/posix';
import { GROUPS, PAGES, START, withoutNext } from '../navigation.ts';

/** Every page of the site; README.md is its front page. */
export const SITE_PAGES: readonly string[] = [
  'README.md',
  START.file,
  ...PAGES.map(({ file }) => file),
];

/** A page for the generator. */
interface Staged {
  readonly text: string;
  /** Files below the repository that the page shows: pictures. */
  readonly assets: readonly string[];
}

/** Where a page lies on the site: `docs/batch.md` is `batch.md`, `client/README.md` is `client.md`. */
export function sitePath(file: string): string {
  if (file === 'README.md') return 'index.md';
  if (file === START.file) return 'documentation.md';
  const inDocs = file.replace(/^docs\//, '');
  return inDocs
    .replace(/\/README\.md$/, '.md')
    .replaceAll('/', '-')
    .toLowerCase();
}

/** The navigation beside each page, in the generator's form. */
export function sidebar(): object[] {
  return GROUPS.map(({ title, pages }) => ({
    text: title,
    items: pages.map((page) => ({ text: page.title, link: `/${sitePath(page.file)}` })),
  }));
}

/** Where GitHub puts a heading, so that links with `#` work in both places. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

/**
 * One page.
 * @param file below the repository
 * @param repository address of the source, for links to files that are no pages; without it they become plain text
 */
export function stage(file: string, text: string, repository?: string): Staged {
  const assets: string[] = [];
  const target = (link: string): string | undefined => {
    const [path = '', anchor] = link.split('#');
    const at = normalize(join(dirname(file), path));
    if (SITE_PAGES.includes(at)) return `./${sitePath(at)}${anchor ? `#${anchor}` : ''}`;
    if (/\.(?:png|svg|jpe?g)$/.test(path)) {
      assets.push(at);
      return `./${at}`;
    }
    return repository && `${repository}/blob/main/${at}`;
  };
  const staged = outsideFences(withoutNext(text), (part) =>
    part
      .replace(/(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (all, mark, label, link) =>
        isElsewhere(link) ? all : linked(mark, inner(label), target(link)),
      )
      .replace(/\b(src|srcset)="([^"]+)"/g, (all, name, link) =>
        isElsewhere(link) ? all : `${name}="${target(link)}"`,
      ),
  );
  return { text: staged, assets };

  function inner(label: string): string {
    return label.replace(/!\[([^\]]*)\]\(([^)\s]+)\)/g, (all, alt, link) =>
      isElsewhere(link) ? all : linked('!', alt, target(link)),
    );
  }
}

function linked(mark: string, label: string, target: string | undefined): string {
  return target === undefined ? label : `${mark}[${label}](${target})`;
}

/** A place of this page, or another site. */
function isElsewhere(link: string): boolean {
  return /^(?:#|[a-z]+:)/.test(link);
}

/** Applies `change` to everything but fenced blocks. */
function outsideFences(text: string, change: (part: string) => string): string {
  const parts = text.split(/(^```[\s\S]*?^```$)/m);
  return parts.map((part, index) => (index % 2 === 1 ? part : change(part))).join('');
}
