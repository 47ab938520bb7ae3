/**
 * `npm run docs:media`: the pictures of the documentation, from the real playground over a real model, and the recording of
 * a real terminal. Chromium and Python 3 must be on PATH, and port 8080 free. `-- terminal` makes the recording alone.
 */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageModel } from '@sagemaker-tfs/model-packaging';
import type { Page } from 'playwright-core';
import { startPlayground } from 'sagemaker-tfs/development/serving';
import sharp from 'sharp';
import { launch } from '../playground/test/browser.ts';
import { findChromium } from '../tools/chromium.ts';
import { recordTiles } from './recording/tiles.ts';

const ROOT = join(import.meta.dirname, '..');
const TILES = join(ROOT, 'examples', 'tiles');
const DETECTION = join(ROOT, 'examples', 'detection');
const KINDS = ['water', 'forest', 'field', 'urban'];

/** One picture of the playground, as light and dark pages show it. */
interface Scene {
  /** `docs/images/NAME-light.png` and `-dark.png`. */
  readonly name: string;
  readonly source: string;
  readonly height: number;
  readonly schemes: readonly ('light' | 'dark')[];
  /** Sends the request, and returns once its answer is shown. */
  readonly send: (page: Page) => Promise<void>;
}

async function tiles(work: string): Promise<Scene> {
  const labels = join(work, 'labels.txt');
  await writeFile(labels, KINDS.join('\n'));
  await cp(join(TILES, 'samples'), join(work, 'samples'), { recursive: true });
  await cp(join(TILES, 'model'), join(work, 'tiles'), { recursive: true });
  const source = join(work, 'tiles.tar.gz');
  const topK = { output: 'probabilities', k: KINDS.length, labels };
  const postprocess = { outputs: ['probabilities'], topK };
  await packageModel({ source: join(work, 'tiles'), out: source, postprocess });
  return {
    name: 'playground',
    source,
    height: 600,
    schemes: ['light', 'dark'],
    async send(page) {
      await page.getByRole('button', { name: 'sample 00001-forest.jpg' }).click();
      await page.getByRole('region', { name: 'Answer' }).getByText('forest').first().waitFor();
    },
  };
}

async function detection(work: string): Promise<Scene> {
  await cp(join(DETECTION, 'samples'), join(work, 'samples'), { recursive: true });
  const source = join(work, 'detection.tar.gz');
  const declared = async (name: string) =>
    JSON.parse(await readFile(join(DETECTION, name), 'utf8')) as object;
  const { boxes } = (await declared('postprocess.json')) as { boxes: { labels: string } };
  await packageModel({
    source: join(DETECTION, 'model'),
    out: source,
    preprocess: await declared('preprocess.json'),
    postprocess: { boxes: { ...boxes, labels: join(DETECTION, boxes.labels) } },
  });
  return {
    name: 'detection',
    source,
    height: 620,
    schemes: ['light'],
    async send(page) {
      await page.getByRole('button', { name: 'sample things.jpg' }).click();
      await page.getByRole('region', { name: 'Answer' }).getByText('green').first().waitFor();
    },
  };
}

async function draw({ name, source, height, schemes, send }: Scene, work: string): Promise<void> {
  const session = await startPlayground(source, undefined, join(work, 'runtime.log'));
  const browser = await launch(chromium as string);
  try {
    for (const colorScheme of schemes) {
      const page = await browser.newPage({ viewport: { width: 1180, height }, colorScheme });
      await page.goto(`${session.url}/`);
      await send(page);
      // The first request of all warms the model up; the second is what people see all day.
      const again = page.getByRole('button', { name: 'Send again' });
      await Promise.all([page.waitForResponse('**/invocations'), again.click()]);
      await again.waitFor();
      const file = join(ROOT, 'docs', 'images', `${name}-${colorScheme}.png`);
      await sharp(await page.screenshot())
        .png({ palette: true, effort: 10 })
        .toFile(file);
      await page.close();
    }
  } finally {
    await browser.close();
    await session.close();
  }
}

const chromium = findChromium();
const isTerminalAlone = process.argv.includes('terminal');
if (!chromium && !isTerminalAlone) throw new Error('no chromium on PATH; apt-get install chromium');
const work = await mkdtemp(join(tmpdir(), 'docs-media-'));
try {
  await recordTiles();
  for (const scene of isTerminalAlone ? [] : [tiles, detection]) {
    const folder = join(work, scene.name);
    await mkdir(folder);
    await draw(await scene(folder), folder);
  }
} finally {
  await rm(work, { recursive: true, force: true });
}
