/** The commands that pages show in blocks of shell. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Lines of the `sh` and `bash` blocks of a page, continued ones joined, without prompt, comment and `&` at the end. */
export function shellLines(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/^```(?:sh|bash)\n(.*?)^```/gms)];
  return blocks.flatMap(([, body = '']) =>
    body
      .replaceAll('\\\n', ' ')
      .split('\n')
      .map((line) =>
        line
          .replace(/(^|\s)#.*$/, '')
          .replace(/\s&$/, '')
          .trim(),
      )
      .filter((line) => line !== ''),
  );
}
