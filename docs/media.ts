/**
 * `npm run docs:media`: the pictures of the documentation, from the real playground over a real model. Chromium must be
 * on PATH.
 */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageModel } from '@sagemaker-tfs/model-packaging';
import { freePort, startSession } from 'sagemaker-tfs/development/serving';
import sharp from 'sharp';
import { launch } from '../playground/test/browser.ts';
import { findChromium } from '../test/support/chromium.ts';

const ROOT = join(import.meta.dirname, '..');
const TILES = join(ROOT, 'examples', 'tiles');
const KINDS = ['water', 'forest', 'field', 'urban'];

/** The playground after a sample was sent, as light and dark pages show it. */
async function playgroundPictures(work: string, chromium: string): Promise<void> {
  const labels = join(work, 'labels.txt');
  await writeFile(labels, KINDS.join('\n'));
  await cp(join(TILES, 'samples'), join(work, 'samples'), { recursive: true });
  await cp(join(TILES, 'model'), join(work, 'tiles'), { recursive: true });
  const source = join(work, 'tiles.tar.gz');
  const topK = { output: 'probabilities', k: KINDS.length, labels };
  const postprocess = { outputs: ['probabilities'], topK };
  await packageModel({ source: join(work, 'tiles'), out: source, postprocess });
  const session = await startSession({
    source,
    handler: undefined,
    port: await freePort(),
    host: '127.0.0.1',
    environment: {},
    playground: true,
    log: join(work, 'runtime.log'),
    signal: new AbortController().signal,
  });
  const browser = await launch(chromium);
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ viewport: { width: 1180, height: 600 }, colorScheme });
      await page.goto(`${session.url}/`);
      await page.getByRole('button', { name: 'sample 00001-forest.jpg' }).click();
      await page.getByRole('region', { name: 'Answer' }).getByText('forest').first().waitFor();
      // The first request of all warms the model up; the second is what people see all day.
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByRole('button', { name: 'Send ×100' }).waitFor();
      const shot = await page.screenshot();
      const file = join(ROOT, 'docs', 'images', `playground-${colorScheme}.png`);
      await sharp(shot).png({ palette: true, effort: 10 }).toFile(file);
      await page.close();
    }
  } finally {
    await browser.close();
    await session.close();
  }
}

const chromium = findChromium();
if (!chromium) throw new Error('no chromium on PATH; apt-get install chromium');
const work = await mkdtemp(join(tmpdir(), 'docs-media-'));
try {
  await playgroundPictures(work, chromium);
} finally {
  await rm(work, { recursive: true, force: true });
}
