/** The commands that pages show in blocks of shell. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Pages that show commands to readers. */
export const SHOWING: readonly string[] = [
  ...readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  ...['README.md', 'client/README.md', 'cli/README.md'],
  ...['packages/cdk/README.md', 'packages/sagemaker-tfs/README.md'],
];

/** Pages of the examples that show commands, to run in a clone; a tutorial goes through `migration`. */
export const EXAMPLES: readonly string[] = [
  'digits',
  'tiles',
  'detection',
  'tabular',
  'mobilenet',
].map((name) => `examples/${name}/README.md`);

/** A line of a block. */
export interface ShownLine {
  readonly line: string;
  /** What the page says about it: its first paragraphs, from the heading before it, and the block. */
  readonly around: string;
}

/**
 * Lines of the `sh` and `bash` blocks of a page, continued ones joined, without prompt, comment and `&` at the end.
 * @param languages of the blocks to read
 */
export function shownLines(
  page: string,
  languages: readonly string[] = ['sh', 'bash'],
): ShownLine[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const intro = text.split(/^## /m, 1)[0]?.split('```', 1)[0] ?? '';
  const blocks = new RegExp(`^\`\`\`(?:${languages.join('|')})\\n(.*?)^\`\`\``, 'gms');
  return [...text.matchAll(blocks)].flatMap((block) => {
    const before = text.slice(0, block.index);
    const section = before.slice(Math.max(0, before.lastIndexOf('\n#')));
    const body = (block[1] ?? '').replaceAll('\\\n', ' ');
    const around = `${intro}\n${section}\n${body}`;
    return body
      .split('\n')
      .map(bare)
      .filter((line) => line !== '')
      .map((line) => ({ line, around }));
  });
}

/** The lines alone. */
export function shellLines(page: string): string[] {
  return shownLines(page).map(({ line }) => line);
}

function bare(line: string): string {
  return line
    .replace(/^\$ /, '')
    .replace(/(^|\s)#.*$/, '')
    .replace(/\s&$/, '')
    .trim();
}
