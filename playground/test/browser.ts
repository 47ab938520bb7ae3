/** Chromium for tests, where this machine has it. */
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Page,
  type Route,
} from 'playwright-core';

/** Starts it. */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    timeout: 90_000,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
      // A moving test picture in place of a camera.
      ...['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
    ],
  });
}

/** How a page is seen. */
export interface View {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}

/** What went wrong on a context's pages, and what they asked of other machines; both must stay empty. */
export interface Observed {
  readonly problems: string[];
  readonly elsewhere: string[];
}

/**
 * Handles the next request for a prediction otherwise. The handler stays, so that nothing changes for requests under way:
 * one that ends with its first request may leave another request with two handlers.
 */
export async function onFirstRequest(
  page: Page,
  handle: (route: Route) => Promise<void>,
): Promise<void> {
  let isFirst = true;
  await page.route('**/invocations', (route) => {
    if (!isFirst) return route.fallback();
    isFirst = false;
    return handle(route);
  });
}

/** Drags files from outside over the page and drops them: the browser's own events, as from a person's hand. */
export function dropFiles(page: Page, ...files: readonly string[]): Promise<void> {
  return drag(page, files, ['dragEnter', 'dragOver', 'drop']);
}

/** Parts of the way of files over the page. */
export async function drag(
  page: Page,
  files: readonly string[],
  steps: readonly ('dragEnter' | 'dragOver' | 'drop')[],
): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [...files], dragOperationsMask: 1 };
  for (const type of steps) {
    await session.send('Input.dispatchDragEvent', { type, x: 100, y: 200, data });
  }
  await session.detach();
}

/** Puts a PNG on the clipboard and presses the keys that paste it. */
export async function pastePicture(page: Page, png: Uint8Array): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.bringToFront();
  await page.evaluate(`(async () => {
    const letters = atob('${Buffer.from(png).toString('base64')}');
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const item = new ClipboardItem({ 'image/png': new Blob([bytes], { type: 'image/png' }) });
    await navigator.clipboard.write([item]);
  })()`);
  await page.keyboard.press('Control+V');
}

/** A context whose requests beyond loopback are aborted. */
export async function openContext(
  browser: Browser,
  { width, colorScheme }: View,
): Promise<{ context: BrowserContext; observed: Observed }> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  context.setDefaultTimeout(45_000);
  const observed: Observed = { problems: [], elsewhere: [] };
  await context.route('**', (route) => {
    const url = new URL(route.request().url());
    if (url.hostname === '127.0.0.1' || url.protocol === 'blob:') return route.continue();
    observed.elsewhere.push(url.href);
    return route.abort();
  });
  context.on('page', (page) => {
    page.on('pageerror', (error) => observed.problems.push(String(error)));
    page.on('console', (message) => {
      // An answer with an error status is part of what is tested.
      const isAnswer = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isAnswer) observed.problems.push(message.text());
    });
  });
  return { context, observed };
}
