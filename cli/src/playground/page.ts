/** The playground's page: one HTML file that `build.mjs` makes. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { CommandError } from '../errors.ts';

/** The page with the policy under which browsers run it. */
export interface Page {
  readonly html: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the built page. */
export async function readPage(): Promise<Page> {
  const html = await readFile(pagePath());
  return {
    html,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policyOf(html.toString('utf8')),
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'no-store',
    },
  };
}

/** Beside the bundled program, or where it was built, seen from this source. */
function pagePath(): string {
  const paths = ['./playground.html', '../../dist/playground.html'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return paths.find(existsSync) ?? (paths[0] as string);
}

/** The page carries its policy's hashes in a comment: `<!-- csp: script-src '...'; style-src '...' -->`. */
function policyOf(html: string): string {
  const hashes = /<!-- csp: (.*?) -->/.exec(html)?.[1];
  if (!hashes)
    throw new CommandError(
      'BUILD_INCOMPLETE',
      'the playground was built without its policy. Run: npm run build',
    );
  return [
    "default-src 'none'",
    hashes,
    "img-src 'self' blob: data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
