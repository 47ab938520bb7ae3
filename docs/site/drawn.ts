/** Whether the diagrams of a built site are drawn, in Chromium. */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { launch, openContext } from '../../playground/test/browser.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** What Chromium saw of the pages with diagrams. */
export interface Drawn {
  readonly diagrams: number;
  /** `PAGE: what is wrong`, and what a page asked of other machines. */
  readonly problems: readonly string[];
}

/** Opens every page of the folder that has a diagram, on a phone and in the dark too. */
export async function checkDiagrams(folder: string, chromium: string): Promise<Drawn> {
  const server = createServer((request, response) => {
    const path = join(folder, decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname));
    const file = existsSync(path) && statSync(path).isDirectory() ? join(path, 'index.html') : path;
    if (!existsSync(file)) return response.writeHead(404).end();
    response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream');
    return response.end(readFileSync(file));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const browser = await launch(chromium);
  const problems: string[] = [];
  let diagrams = 0;
  try {
    for (const name of pagesWithDiagrams(folder)) {
      for (const view of [
        { width: 1280, colorScheme: 'light' as const },
        { width: 375, colorScheme: 'dark' as const },
      ]) {
        const { context, observed } = await openContext(browser, view);
        const page = await context.newPage();
        await page.goto(`http://127.0.0.1:${port}/${name}`);
        const blocks = page.locator('pre.mermaid');
        const count = await blocks.count();
        diagrams += count;
        for (let at = 0; at < count; at++) {
          await blocks
            .nth(at)
            .locator('svg')
            .waitFor()
            .catch(() => problems.push(`${name}: a diagram is not drawn`));
        }
        problems.push(
          ...[...observed.problems, ...observed.elsewhere].map((one) => `${name}: ${one}`),
        );
        await context.close();
      }
    }
  } finally {
    await browser.close();
    server.close();
  }
  return { diagrams, problems };
}

function pagesWithDiagrams(folder: string): string[] {
  return readdirSync(folder).filter(
    (name) =>
      name.endsWith('.html') &&
      readFileSync(join(folder, name), 'utf8').includes('class="mermaid"'),
  );
}
