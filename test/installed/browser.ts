/** `sagemaker-tfs/client` in a page: bundled by the installed esbuild, run in Chromium, checked by its pixels. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { serve, type TestServer } from '../../client/test/servers.ts';
import { launch, type Observed, openContext } from '../../playground/test/browser.ts';
import { findChromium } from '../../tools/chromium.ts';
import { copyExample, SAMPLE } from './command.ts';
import type { Project } from './project.ts';
import { serving } from './served.ts';

/** Pixels of a side of what the page shows. */
const SIDE = 64;
/** Twice as wide as high: letterboxed, it has bars above and below. */
const PICTURE = { width: 160, height: 80 };
/** What JPEG and another way of scaling may change of a gray value; far less than the gradient's range. */
const TOLERANCE = 6;

/**
 * Letterboxes a picture into a JPEG on a canvas, asks a model for half of each gray value, and shows the answer's
 * npz in another canvas. Then it asks for the digit of a picture that the server decodes.
 */
const PAGE = `
import { fitImage, imagesBody, predict, tensorsBody } from 'sagemaker-tfs/client';
const bytesOf = async (url) => new Uint8Array(await (await fetch(url)).arrayBuffer());
const side = ${SIDE};

globalThis.halve = async () => {
  const jpeg = await fitImage(await bytesOf('/picture.png'), { width: side, height: side, mode: 'letterbox', quality: 95 });
  const fitted = document.querySelector('#fitted').getContext('2d');
  fitted.drawImage(await createImageBitmap(new Blob([jpeg], { type: 'image/jpeg' })), 0, 0);
  const { data } = fitted.getImageData(0, 0, side, side);
  const x = Float32Array.from({ length: side * side }, (_, i) => data[4 * i]);
  const body = tensorsBody({ x: { dtype: 'float32', shape: [x.length, 1], data: x } });
  const answer = await predict({ url: location.origin + '/half' }, body, { accept: 'application/x-npz' });
  const { y } = answer.tensors();
  const shown = document.querySelector('#shown').getContext('2d');
  const pixels = shown.createImageData(side, side);
  y.data.forEach((value, i) => pixels.data.set([value, value, value, 255], 4 * i));
  shown.putImageData(pixels, 0, 0);
  return { jpeg: [...jpeg], type: y.data.constructor.name, dtype: y.dtype, shape: y.shape };
};

globalThis.digit = async () => {
  const image = await fitImage(await bytesOf('/digit.jpg'), { width: 28, height: 28, mode: 'letterbox' });
  const answer = await predict({ url: location.origin + '/digits' }, image, { contentType: 'application/x-image' });
  const several = await predict({ url: location.origin + '/digits' }, imagesBody([image, image])).catch(({ code }) => code);
  return { digit: answer.json().predictions[0].digit, several };
};
`;

const HTML = `<!doctype html><meta charset="utf-8"><style>body { margin: 0; background: lime }</style>
<canvas id="fitted" width="${SIDE}" height="${SIDE}"></canvas><canvas id="shown" width="${SIDE}" height="${SIDE}"></canvas>
<script src="/page.js"></script>`;

/** @throws Error where a page cannot do what the client promises; returns at once, saying so, without Chromium */
export async function checkBrowser(project: Project): Promise<void> {
  const chromium = findChromium();
  if (!chromium) {
    console.log(
      '  the client in Chromium is skipped: no chromium on PATH (apt-get install chromium)',
    );
    return;
  }
  copyExample(project);
  cpSync(
    join(project.directory, 'node_modules/sagemaker-tfs/example-model'),
    join(project.directory, 'half'),
    {
      recursive: true,
    },
  );
  project.write({ 'browser/page.js': PAGE });
  const files = ['browser/page.js', '--outfile=browser/bundle.js', '--metafile=browser/meta.json'];
  await project.run('node_modules/.bin/esbuild', [
    ...files,
    '--bundle',
    '--minify',
    '--charset=ascii',
  ]);
  checkBundle(
    JSON.parse(readFileSync(join(project.directory, 'browser/meta.json'), 'utf8')).inputs,
  );
  await serving(project, ['half'], (half) =>
    serving(project, ['model', '--handler', 'inference.ts'], (digits) =>
      inPage(project, { chromium, half, digits }),
    ),
  );
}

/** Nothing of Node may be left in what a bundler makes for a page. */
function checkBundle(inputs: Readonly<Record<string, unknown>>): void {
  const paths = Object.keys(inputs);
  assert.ok(paths.some((path) => path.endsWith('sagemaker-tfs/dist/client.browser.js')));
  assert.ok(!paths.some((path) => /node_modules\/(sharp|koffi)\//.test(path)));
}

interface Ground {
  readonly chromium: string;
  /** Addresses of the runtimes. */
  readonly half: string;
  readonly digits: string;
}

async function inPage(project: Project, { chromium, half, digits }: Ground): Promise<void> {
  const picture = await gradient();
  const site = await startSite(project, picture, { half, digits });
  const browser = await launch(chromium);
  try {
    const { context, observed } = await openContext(browser, { width: 800, colorScheme: 'light' });
    const page = await context.newPage();
    await page.goto(`${site.url}/`);
    await checkPixels(page, picture);
    const { digit, several } = await page.evaluate('digit()').then((value) => value as Digit);
    assert.deepEqual([digit, several], [7, 'HANDLER_REJECTED']);
    assert.deepEqual(observed, { problems: [], elsewhere: [] } satisfies Observed);
  } finally {
    await browser.close();
    await site.stop();
  }
}

interface Digit {
  readonly digit: number;
  readonly several: string;
}

/** Black at the left, white at the right. */
function gradient(): Promise<Buffer> {
  const { width, height } = PICTURE;
  const gray = Buffer.from(
    Array.from({ length: width * height }, (_, i) => Math.round((255 * (i % width)) / (width - 1))),
  );
  return sharp(gray, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
}

/** A site whose pages reach the runtimes at their own origin, as behind a reverse proxy. */
function startSite(
  project: Project,
  picture: Buffer,
  runtimes: Readonly<Record<string, string>>,
): Promise<TestServer> {
  const files: Readonly<Record<string, readonly [string, string | Buffer]>> = {
    '/': ['text/html', HTML],
    '/page.js': ['text/javascript', readFileSync(join(project.directory, 'browser/bundle.js'))],
    '/picture.png': ['image/png', picture],
    '/digit.jpg': ['image/jpeg', readFileSync(join(project.directory, SAMPLE))],
    '/favicon.ico': ['image/png', picture],
  };
  return serve(async (request, response, body) => {
    const [type, content] = files[request.url ?? ''] ?? [];
    if (type) return response.writeHead(200, { 'Content-Type': type }).end(content);
    const answer = await fetch(`${runtimes[request.url?.slice(1) ?? '']}/invocations`, {
      method: 'POST',
      headers: {
        'content-type': String(request.headers['content-type']),
        accept: String(request.headers.accept ?? '*/*'),
      },
      body: Uint8Array.from(body),
    });
    response
      .writeHead(answer.status, Object.fromEntries(answer.headers))
      .end(Buffer.from(await answer.arrayBuffer()));
  });
}

/** What stands on the screen, against the picture as another program letterboxes it. */
async function checkPixels(page: Page, picture: Buffer): Promise<void> {
  const halved = (await page.evaluate('halve()')) as Halved;
  assert.deepEqual(
    { ...halved, jpeg: undefined },
    {
      jpeg: undefined,
      type: 'Float32Array',
      dtype: 'float32',
      shape: [SIDE * SIDE, 1],
    },
  );
  const { format, width, height } = await sharp(Buffer.from(halved.jpeg)).metadata();
  assert.deepEqual([format, width, height], ['jpeg', SIDE, SIDE]);
  const wanted = await sharp(picture)
    .resize({ width: SIDE, height: SIDE, fit: 'contain', background: 'black' })
    .toColorspace('b-w')
    .raw()
    .toBuffer();
  const fitted = await grayOf(await page.locator('#fitted').screenshot());
  const shown = await grayOf(await page.locator('#shown').screenshot());
  let wrong = 0;
  for (let i = 0; i < SIDE * SIDE; i++) {
    const value = wanted[i] as number;
    if (Math.abs((fitted[i] as number) - value) > TOLERANCE) wrong += 1;
    // The model: x / 2 + 3.
    if (Math.abs((shown[i] as number) - (value / 2 + 3)) > TOLERANCE) wrong += 1;
  }
  // JPEG's blocks of 8 x 8 reach over no edge of the bars, which lie at 16 and 48.
  assert.equal(wrong, 0, `${wrong} pixels of ${SIDE * SIDE} are not as they should be`);
}

interface Halved {
  readonly jpeg: readonly number[];
  readonly type: string;
  readonly dtype: string;
  readonly shape: readonly number[];
}

/** Gray values of a screenshot, by rows. */
async function grayOf(screenshot: Buffer): Promise<Buffer> {
  const { data, info } = await sharp(screenshot)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  assert.deepEqual([info.width, info.height], [SIDE, SIDE]);
  return Buffer.from(
    Array.from({ length: SIDE * SIDE }, (_, i) => data[i * info.channels] as number),
  );
}
