/** The page at `/` of `serve` as people use it: real models behind it, in Chromium. */
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tensorsBody } from '@sagemaker-tfs/client';
import { type ContentOptions, packageModel } from '@sagemaker-tfs/model-packaging';
import { decodeNpz, encodeNpy, type NumericTensor, toNumbers } from '@sagemaker-tfs/tensors';
import type { Browser, Page } from 'playwright-core';
import {
  readPage,
  type ServeSession,
  startFront,
  startPlayground,
} from 'sagemaker-tfs/development/serving';
import sharp from 'sharp';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { findChromium } from '../../tools/chromium.ts';
import { accessibilityProblems } from './accessibility.ts';
import {
  drag,
  dropFiles,
  launch,
  type Observed,
  onFirstRequest,
  openContext,
  pastePicture,
  type View,
} from './browser.ts';
import { canRun, endpointInFrontOf, LANGUAGES, runCode } from './run-code.ts';

const chromium = findChromium();
const suite = chromium ? describe : describe.skip;
const name = chromium
  ? 'the playground in Chromium'
  : 'the playground in Chromium (skipped: no chromium on PATH; apt-get install chromium)';

jest.setTimeout(240_000);

/** Each with the other color scheme at its end. */
const VIEWS: readonly View[] = [
  { width: 1280, colorScheme: 'light' },
  { width: 375, colorScheme: 'dark' },
];

/** A camera's name without a place to break it. */
const LONG_NAME = 'IMG_20240501_123456_of_the_long_holiday.jpg';

const work = mkdtempSync(join(tmpdir(), 'playground-test-'));
let browser: Browser;
const sessions: ServeSession[] = [];

afterAll(async () => {
  await browser?.close();
  for (const session of sessions) await session.close();
});

/** Serves a source until the end of the suite. */
async function serving(source: string, handler?: string): Promise<ServeSession> {
  const session = await startPlayground(source, handler, join(work, 'runtime.log'));
  sessions.push(session);
  return session;
}

/** Opens the page in each view and makes sure that it stays sound whatever is done there. */
async function inEachView(url: string, use: (page: Page, view: View) => Promise<void>) {
  browser ??= await launch(chromium ?? '');
  for (const view of VIEWS) {
    const { context, observed } = await openContext(browser, view);
    try {
      const page = await context.newPage();
      await page.goto(`${url}/`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await use(page, view);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await accessibilityProblems(page)).toEqual([]);
      }
      expect(observed).toEqual<Observed>({ problems: [], elsewhere: [] });
    } finally {
      await context.close();
    }
  }
}

async function packaged(model: string, options: Partial<ContentOptions>): Promise<string> {
  const out = join(work, `${model}.tar.gz`);
  await packageModel({ source: fixtureModel(model).basePath, out, ...options });
  return out;
}

/** Presses Tab until the button with the title has the focus. */
async function reachByKeyboard(page: Page, title: string): Promise<void> {
  for (let presses = 0; presses < 30; presses++) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate('document.activeElement?.title')) === title) return;
  }
  throw new Error(`no button with the title ${title} is reached by Tab`);
}

/** Colors of a drawn canvas, from its first pixel to its last. */
async function pixelsOf(page: Page, canvas: string): Promise<number[][]> {
  const bytes = (await page.evaluate(`(() => {
    const context = document.querySelector('${canvas}').getContext('2d');
    const { width, height } = context.canvas;
    return [...context.getImageData(0, 0, width, height).data];
  })()`)) as number[];
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.slice(at * 4, at * 4 + 4));
}

/** Resolves once the expression holds. By the console: the page's policy forbids what Playwright waits with. */
async function drawn(page: Page, expression: string): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const look = () => ((${expression}) ? done() : requestAnimationFrame(look));
    look();
  })`);
}

const answer = (page: Page) => page.getByRole('region', { name: 'Answer' });

suite(name, () => {
  test('a classifier with a handler: a sample becomes bars, code, a distribution and history', async () => {
    const digits = join(__dirname, '..', '..', 'examples', 'digits');
    const { url } = await serving(join(digits, 'model'), join(digits, 'inference.ts'));
    await inEachView(url, async (page) => {
      await reachByKeyboard(page, '00000-7.jpg');
      await page.keyboard.press('Enter');
      const bars = answer(page)
        .getByRole('list', { name: /Best classes/ })
        .getByRole('listitem');
      await expect(bars.first().textContent()).resolves.toMatch(/^class 7\d+\.\d %$/);
      expect(await bars.count()).toBe(5);
      // Also on a phone, where it comes below the samples.
      const place = await answer(page).boundingBox();
      expect(place?.y).toBeLessThan(0.7 * (page.viewportSize()?.height ?? 0));
      await page.getByLabel(/^top 5 of 10/).fill('10');
      expect(await bars.count()).toBe(10);
      const code = page.getByTestId('code');
      await expect(code.textContent()).resolves.toContain("--data-binary '@00000-7.jpg'");
      for (const [language, text] of [
        ['TypeScript', 'await predict('],
        ['Python', 'urlopen(Request("http://127.0.0.1:'],
        ['boto3', 'boto3.client("sagemaker-runtime")'],
        ['aws CLI', 'aws sagemaker-runtime invoke-endpoint'],
      ] as const) {
        await page.getByLabel('Language').selectOption(language);
        expect(await code.textContent()).toContain(text);
      }
      await page.getByRole('button', { name: 'Send ×100' }).click();
      await expect(page.getByTestId('latency').textContent()).resolves.toMatch(/median .* P95/);
      await page.getByRole('button', { name: 'sample 00100-6.png' }).click();
      await answer(page).getByText('class 6').first().waitFor();
      const history = page.getByRole('region', { name: 'History' }).getByRole('button');
      const request = page.getByRole('region', { name: 'Request' });
      await history.last().click();
      await answer(page).getByText('class 7').first().waitFor();
      await request.getByRole('img', { name: '00000-7.jpg', exact: true }).waitFor();
      // A form that was sent is opened with what it held, and with its options.
      await page.getByRole('tab', { name: 'Tensors' }).click();
      await page.getByLabel(/^image/).fill('zeros');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await history.nth(2).waitFor();
      await page.getByLabel(/^image/).fill('ones');
      await history.nth(1).click();
      await request.getByRole('img', { name: '00100-6.png', exact: true }).waitFor();
      await history.first().click();
      expect(await page.getByLabel(/^image/).inputValue()).toBe('zeros');
      // An answer that comes once another file is chosen is kept in the history alone.
      await page.getByRole('tab', { name: 'Picture' }).click();
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      await onFirstRequest(page, (route) => held.then(() => route.fallback()));
      const late = page.waitForRequest('**/invocations');
      await page.getByRole('button', { name: 'sample 00100-6.png' }).click();
      await late;
      await page.getByRole('button', { name: 'sample 00000-7.jpg' }).click();
      await answer(page).getByText('class 7').first().waitFor();
      release();
      await history.nth(4).waitFor();
      await request.getByRole('img', { name: '00000-7.jpg', exact: true }).waitFor();
      await answer(page).getByText('class 7').first().waitFor();
    });
  });

  test('an answer to several inputs: the classes of each', async () => {
    const { url } = await serving(join(__dirname, '..', '..', 'examples', 'digits', 'model'));
    const shape = [3, 28, 28, 1];
    const bytes = new Uint8Array(4 * 3 * 28 * 28);
    const file = join(work, 'three.npy');
    await writeFile(file, Buffer.concat(encodeNpy({ dtype: 'float32', shape, bytes })));
    await inEachView(url, async (page) => {
      expect(await page.title()).toBe('digits · Playground');
      await page.getByLabel('File to send').setInputFiles(file);
      const classes = answer(page).getByRole('region', { name: 'Classes' });
      await classes.getByText('of 3').waitFor();
      await classes.getByLabel(/^input/).fill('3');
      expect(await classes.getByRole('listitem').count()).toBe(5);
      await classes.getByLabel(/^input/).fill('4');
      expect(await classes.getByRole('listitem').count()).toBe(5);
    });
  });

  test('the camera, a picture from the clipboard, and one that is dropped', async () => {
    const digits = join(__dirname, '..', '..', 'examples', 'digits');
    const { url } = await serving(join(digits, 'model'), join(digits, 'inference.ts'));
    const seven = await sharp(join(digits, 'samples', '00000-7.jpg'))
      .png()
      .toBuffer();
    await inEachView(url, async (page) => {
      await page.getByRole('button', { name: 'Camera' }).click();
      await page.getByRole('button', { name: 'Close the camera' }).click();
      expect(await page.getByLabel('What the camera sees').count()).toBe(0);
      await page.getByRole('button', { name: 'Camera' }).click();
      await page.getByRole('button', { name: 'Take the picture' }).click();
      await answer(page).getByText('Classes').waitFor();
      expect(await page.getByTestId('code').textContent()).toContain('camera.jpg');
      await pastePicture(page, seven);
      await answer(page).getByText('class 7').first().waitFor();
      await dropFiles(
        page,
        ...['00100-6.png', '00000-7.jpg'].map((n) => join(digits, 'samples', n)),
      );
      await answer(page).getByText('class 6').first().waitFor();
      await page.getByText('One of 2 files is sent: 00100-6.png').waitFor();
      expect(await page.getByTestId('code').textContent()).toContain('00100-6.png');
    });
  });

  test('the code of a request answers what the page shows, in each language that this machine has', async () => {
    const digits = join(__dirname, '..', '..', 'examples', 'digits');
    const { url } = await serving(join(digits, 'model'), join(digits, 'inference.ts'));
    // Within the repository: the TypeScript imports `sagemaker-tfs/client`.
    const cache = join(__dirname, '..', '..', '.cache');
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(join(cache, 'code-'));
    await copyFile(join(digits, 'samples', '00000-7.jpg'), join(folder, '00000-7.jpg'));
    const endpoint = await endpointInFrontOf(url);
    const [first] = VIEWS;
    browser ??= await launch(chromium ?? '');
    const { context } = await openContext(browser, first as View);
    const languages = LANGUAGES.filter(canRun);
    try {
      const page = await context.newPage();
      await page.goto(`${url}/`);
      await page.getByRole('button', { name: 'sample 00000-7.jpg' }).click();
      await answer(page).getByText('class 7').first().waitFor();
      expect(languages).toContain('TypeScript');
      await page.getByText('Reads 00000-7.jpg from the folder it runs in.').waitFor();
      for (const language of languages) {
        await page.getByLabel('Language').selectOption(language);
        const code = (await page.getByTestId('code').textContent()) ?? '';
        const printed = await runCode(language, code, folder, endpoint.url);
        const text =
          language === 'aws CLI' ? await readFile(join(folder, 'answer'), 'utf8') : printed;
        expect({ language, text }).toEqual({
          language,
          text: expect.stringMatching(/"digit": ?7\b/),
        });
      }
      const ofAws = languages.filter((name) => name === 'boto3' || name === 'aws CLI');
      expect(endpoint.asked).toEqual(ofAws.map(() => 'POST /endpoints/my-endpoint/invocations'));
    } finally {
      endpoint.close();
      await context.close();
      await rm(folder, { recursive: true });
    }
  });

  test('what is no picture: code, message, what to do', async () => {
    const { url } = await serving(await packaged('image_nchw', {}));
    const bad = join(work, 'notes.jpg');
    await writeFile(bad, '<img src=x onerror="document.title=1">');
    const long = join(work, LONG_NAME);
    await copyFile(bad, long);
    const background = '#00ff00';
    const tiff = join(work, 'green.tiff');
    await sharp({ create: { width: 64, height: 48, channels: 3, background } })
      .tiff({ compression: 'lzw' })
      .toFile(tiff);
    await inEachView(url, async (page) => {
      await page.getByLabel('File to send').setInputFiles(bad);
      const alert = answer(page).getByRole('alert');
      await expect(alert.textContent()).resolves.toMatch(
        /BAD_IMAGE.*HTTP 400.*Send JPEG.*→ Does it open/s,
      );
      const mark = page.getByText('the server refuses this file');
      await mark.waitFor();
      expect(await page.title()).toBe('image_nchw · Playground');
      // Channels first: the picture's green is the second of three. No browser here shows TIFF.
      await page.getByLabel('File to send').setInputFiles(tiff);
      await page.getByText('This browser cannot show it; it is sent.').waitFor();
      await mark.waitFor({ state: 'detached' });
      await answer(page)
        .getByRole('row', { name: / 0 255 0$/ })
        .first()
        .waitFor();
      await expect(answer(page).getByText('float32 [1,4,3]').count()).resolves.toBe(1);
      // In the history a long name is cut, and a long code goes below it.
      const json = { error: 'too many pixels', code: 'REQUEST_TOO_LARGE' };
      await onFirstRequest(page, (route) => route.fulfill({ status: 413, json }));
      await page.getByLabel('File to send').setInputFiles(long);
      const row = page.getByRole('button', { name: /REQUEST_TOO_LARGE/ });
      await row.waitFor();
      expect(await page.locator('.history .name').first().getAttribute('title')).toBe(LONG_NAME);
      const { width = 0, height = 0 } = page.viewportSize() ?? {};
      for (const narrow of [width, 320]) {
        await page.setViewportSize({ width: narrow, height });
        expect((await row.boundingBox())?.height).toBeLessThan(80);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      }
      await page.setViewportSize({ width, height });
    });
  });

  test('preprocess is switched for a request of the page, and for no other', async () => {
    const out = join(work, 'switched.tar.gz');
    await packageModel({
      source: fixtureModel('image_nchw').basePath,
      out,
      preprocess: { scale: 1 },
    });
    const session = await serving(out);
    const green = join(work, 'switched.png');
    const create = { width: 64, height: 48, channels: 3, background: '#00ff00' } as const;
    await sharp({ create }).toFile(green);
    await inEachView(session.url, async (page) => {
      await page.getByLabel('File to send').setInputFiles(green);
      await answer(page)
        .getByRole('row', { name: / 0 255 0$/ })
        .first()
        .waitFor();
      await page.getByText('Options').click();
      const again = page.getByRole('button', { name: 'Send again' });
      const scale = page.getByRole('textbox', { name: 'scale' });
      await scale.fill('much');
      expect(await scale.getAttribute('aria-invalid')).toBe('true');
      expect(await scale.getAttribute('aria-describedby')).toBe('scale-wrong');
      await page.locator('#scale-wrong').getByText("'much' is no number. One, or").waitFor();
      let sent = 0;
      page.on('request', (request) => {
        sent += Number(request.method() === 'POST');
      });
      await again.click();
      const notSent = answer(page).getByText(
        /^Not sent\. Mend in Options: scale: 'much' is no number/,
      );
      expect(await notSent.getAttribute('class')).toBe('warn');
      expect(sent).toBe(0);
      await scale.fill('[2]');
      await page.getByLabel('channels').selectOption('bgr');
      await page
        .getByText('{"scale":2,"channels":"bgr"}')
        .or(page.getByText('{"channels":"bgr","scale":2}'))
        .waitFor();
      await Promise.all([page.waitForResponse('**/invocations'), again.click()]);
      await answer(page)
        .getByRole('row', { name: / 0 510 0$/ })
        .first()
        .waitFor();
      // The code sends what was sent, and the page hands it out.
      await expect(page.getByTestId('code').textContent()).resolves.toMatch(
        /x-npz.*@switched\.png\.npz/s,
      );
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save body' }).click();
      const saved = await readFile(await (await saving).path());
      expect(Object.values(decodeNpz(saved, { maxBytes: 1e7 }))[0]?.shape?.[1]).toBe(3);
      await page.getByLabel('layout').selectOption('NHWC');
      await again.click();
      await expect(answer(page).getByRole('alert').textContent()).resolves.toMatch(/BAD_INPUT/);
    });
    // The runtime, which is what the image holds, knows no such request.
    const direct = await fetch(`${session.runtime().url}/playground/tensors`, { method: 'POST' });
    expect(direct.status).toBe(404);
  });

  test('classify and regress: a field for each feature', async () => {
    const { url } = await serving(fixtureModel('half_plus_two').basePath);
    await inEachView(url, async (page) => {
      await page.getByText('Options').click();
      await page.getByLabel(/^Signature/).selectOption('regress_x_to_y');
      await page.getByRole('tab', { name: 'Example' }).click();
      const field = page.getByRole('textbox', { name: /^x float32/ });
      await field.fill('much');
      await page.getByRole('button', { name: 'regress', exact: true }).click();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      await field.fill('5');
      await page.getByRole('button', { name: 'regress', exact: true }).click();
      await answer(page).getByText('5.5').first().waitFor();
      const code = page.getByTestId('code');
      await expect(code.textContent()).resolves.toContain('tfs-method=regress');

      await page.getByLabel(/^Signature/).selectOption('classify_x_to_y');
      await page.getByRole('tab', { name: 'Example' }).click();
      await page.getByRole('textbox', { name: /^x float32/ }).fill('4');
      await page.getByRole('button', { name: 'classify', exact: true }).click();
      await answer(page)
        .getByRole('list', { name: /Best classes/ })
        .waitFor();
    });
  });

  test('half_plus_two: a form from the signature, a table, and tensors as npz', async () => {
    const { url } = await serving(fixtureModel('half_plus_two').basePath);
    await inEachView(url, async (page) => {
      await page.getByRole('tab', { name: 'Tensors' }).click();
      const field = page.getByRole('textbox', { name: /^x / });
      await field.fill('[1, 2, nonsense]');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      await field.fill('[[1, 2]]');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.getByText('the answer names this input').waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      // Beside what was not sent no earlier error stands.
      await answer(page).getByRole('alert').waitFor();
      await field.fill('[1, 2, nonsense]');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await answer(page).getByText('Send something: the answer appears here.').waitFor();
      await page.getByText(/^not JSON: /).waitFor();
      await field.fill('[[1], [2], [5]]');
      await field.press('Control+Enter');
      await answer(page).getByText('3.5, 4, 5.5').waitFor();
      await answer(page)
        .getByRole('img', { name: /^Histogram .* tallest of 32 bars being 1$/ })
        .waitFor();
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download npz' }).click();
      const file = await (await downloading).path();
      const npz = decodeNpz(await readFile(file), { maxBytes: 1e6 });
      expect(npz.y).toMatchObject({ dtype: 'float32', shape: [3, 1] });
      expect([...toNumbers(npz.y as NumericTensor)]).toEqual([3.5, 4, 5.5]);

      await page.getByText('float32 [N,1]').first().waitFor();
      await page.getByRole('tab', { name: 'Tensors' }).press('Home');
      await page.getByRole('tab', { name: 'File', selected: true }).press('End');
      await page.getByRole('tab', { name: 'CSV', selected: true }).press('ArrowLeft');
      await page.getByRole('tab', { name: 'Tensors', selected: true }).press('ArrowRight');
      const table = page.getByRole('textbox', { name: 'Rows, one a line' });
      await table.fill('10\nten\n');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.getByText('line 2: ten', { exact: true }).waitFor();
      expect(await table.getAttribute('aria-invalid')).toBe('true');
      await table.fill('10\n20\n');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      const row = answer(page).getByRole('row', { name: /20$/ });
      await expect(row.textContent()).resolves.toBe('1320');
      const sides =
        "[...document.querySelectorAll('td')].map((td) => getComputedStyle(td).textAlign)";
      expect(await page.evaluate(sides)).toEqual(['right', 'right', 'right', 'right']);
    });
  });

  test('a file that is dragged over a form opens the tab that takes it, and never replaces the page', async () => {
    const { url } = await serving(fixtureModel('half_plus_two').basePath);
    const file = join(work, 'eleven.json');
    await writeFile(file, '{"instances": [[11]]}');
    const table = join(work, 'rows.csv');
    await writeFile(table, '10\n20\n');
    await inEachView(url, async (page) => {
      await page.getByRole('tab', { name: 'Tensors' }).click();
      await drag(page, [file], ['dragEnter', 'dragOver']);
      await page.getByRole('tab', { name: 'File', selected: true }).waitFor();
      await dropFiles(page, file);
      await answer(page).getByText('8.5').first().waitFor();
      await page.getByText('Options').click();
      await page.getByLabel('Answer as').selectOption('text/csv');
      await page.getByLabel('Transport').selectOption('rest');
      await page.getByRole('button', { name: 'Send again' }).click();
      const code = page.getByTestId('code').filter({ hasText: 'tfs-transport=rest' });
      await expect(code.textContent()).resolves.toMatch(/Accept: text\/csv/);
      await answer(page).getByText('8.5').first().waitFor();
      await page.getByLabel('Answer as').selectOption('');
      await dropFiles(page, table);
      const row = answer(page).getByRole('row', { name: /20$/ });
      await expect(row.textContent()).resolves.toBe('1320');
    });
  });

  test('strings: the form is open, a word is enough, and text comes back as text', async () => {
    const { url } = await serving(fixtureModel('strings').basePath);
    await inEachView(url, async (page) => {
      await page.getByRole('tab', { name: 'Tensors', selected: true }).waitFor();
      await page.getByRole('tab', { name: 'File' }).waitFor();
      await page.getByText('Options').click();
      await page.getByLabel(/^Signature/).selectOption('bytes');
      await page.getByRole('tab', { name: 'Tensors' }).click();
      await page.getByRole('textbox', { name: /^data_bytes/ }).fill('<b>Grüße</b>');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await answer(page).getByText('"<b>Grüße</b>"').first().waitFor();
    });
  });

  test('pictures in an answer are drawn, and any bytes can be kept', async () => {
    const { url } = await serving(fixtureModel('strings').basePath);
    const create = { width: 48, height: 32, channels: 3, background: '#00ff00' } as const;
    const png = await sharp({ create }).png().toBuffer();
    const keeps = async (page: Page, button: string, name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        answer(page).getByRole('button', { name: button, exact: true }).first().click(),
      ]);
      expect(download.suggestedFilename()).toBe(name);
      return readFile(await download.path());
    };
    await inEachView(url, async (page) => {
      const send = async (contentType = '', body?: Buffer) => {
        if (body) {
          await onFirstRequest(page, (route) => route.fulfill({ status: 200, contentType, body }));
        }
        await page.getByRole('button', { name: 'Send', exact: true }).click();
      };
      const drawnAs = async (name: string) => {
        const picture = answer(page).getByRole('img', { name, exact: true });
        await picture.waitFor();
        await drawn(page, `document.querySelector('img[alt="${name}"]').naturalWidth === 48`);
      };
      // A handler's own.
      await page.getByRole('tab', { name: 'Tensors' }).click();
      await send('image/png', png);
      await drawnAs('answer');
      expect(await keeps(page, 'Download', 'answer.png')).toEqual(png);
      await send('application/zip', Buffer.from('PK\x03\x04\0'));
      await answer(page).getByText('binary, 5 B').waitFor();
      expect(await keeps(page, 'Download', 'answer.bin')).toHaveLength(5);
      // Of a tensor of bytes.
      await page.getByText('Options').click();
      await page.getByLabel(/^Signature/).selectOption('bytes');
      await page.getByRole('tab', { name: 'Tensors' }).click();
      await page
        .getByRole('textbox', { name: /^data_bytes/ })
        .fill(JSON.stringify([{ b64: png.toString('base64') }]));
      await send();
      await drawnAs('echo_bytes');
      expect(await keeps(page, 'Download', 'echo_bytes.png').then((b) => b.equals(png))).toBe(true);
      expect(await answer(page).textContent()).not.toContain('\uFFFD');
      // Of bytes as pixels: colors, and a mask.
      const colors = Uint8Array.from({ length: 2 * 9 * 8 * 3 }, (_, at) => at % 251);
      const mask = Uint8Array.from({ length: 9 * 8 }, (_, at) => at % 4);
      const { bytes } = tensorsBody({
        colors: { dtype: 'uint8', shape: [2, 9, 8, 3], data: colors },
        mask: { dtype: 'uint8', shape: [1, 9, 8], data: mask },
      });
      await send('application/x-npz', Buffer.from(bytes));
      await answer(page).getByRole('img', { name: 'Picture of 9 rows and 8 columns' }).waitFor();
      await answer(page)
        .getByRole('img', { name: /^Heat map of 9 rows/ })
        .waitFor();
      expect((await pixelsOf(page, 'canvas.heat'))[1]).toEqual([3, 4, 5, 255]);
      await answer(page).getByText('plane 1 of 2').waitFor();
      const kept = await keeps(page, 'Download PNG', 'colors.png');
      expect(await sharp(kept).removeAlpha().raw().toBuffer()).toEqual(
        Buffer.from(colors.slice(0, 9 * 8 * 3)),
      );
    });
  });

  test('a matrix is drawn, the steps of a sequence are read row by row', async () => {
    const { url } = await serving(fixtureModel('shapes').basePath);
    const matrix = Array.from({ length: 64 }, (_, at) => (at === 0 ? 0 : at === 63 ? 4 : 1));
    const rows = matrix.flatMap((_, at) => (at % 8 ? [] : [matrix.slice(at, at + 8)]));
    await inEachView(url, async (page) => {
      await page.getByRole('tab', { name: 'Tensors' }).click();
      const field = page.getByRole('textbox', { name: /^x / });
      await field.fill(JSON.stringify(rows));
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await answer(page).getByText('doubled').click();
      await answer(page)
        .getByRole('img', { name: 'Heat map of 8 rows and 8 columns, dark is 0, bright is 8' })
        .waitFor();
      // Of viridis: its darkest color, that of a quarter, and its brightest.
      const pixels = await pixelsOf(page, 'canvas.heat');
      expect([pixels[0], pixels[1], pixels[63]]).toEqual([
        [68, 1, 84, 255],
        [59, 82, 139, 255],
        [253, 231, 37, 255],
      ]);
      await field.fill('[[[1, 2, 3], [4, 5, NaN]]]');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await answer(page).getByRole('row', { name: '1 8 10 NaN' }).waitFor();
      expect(
        await answer(page)
          .getByRole('img', { name: /^Heat map/ })
          .count(),
      ).toBe(0);
    });
  });

  test('a handler that declares its requests: its example is there, and is answered', async () => {
    const handler = join(import.meta.dirname, '../../docs/examples/handlers/declared-bodies.ts');
    const source = fixtureModel('half_plus_two').basePath;
    const { url } = await serving(source, handler);
    // As that of inspect --openapi.
    const document = await (await fetch(`${url}/openapi.json`)).json();
    expect(document).toMatchObject({ info: { title: 'half_plus_two' } });
    await inEachView(url, async (page) => {
      const body = page.getByRole('textbox', { name: 'Body' });
      expect(JSON.parse(await body.inputValue())).toEqual({ x: [1, 2] });
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('halves').first().waitFor();
      expect(await page.getByRole('tab').allTextContents()).toEqual([
        'JSON',
        'File',
        'Tensors',
        'CSV',
      ]);
    });
  });

  test('detections: boxes on the picture however it is fitted, a list, and the declared threshold', async () => {
    const detection = join(__dirname, '..', '..', 'examples', 'detection');
    const out = join(work, 'detection.tar.gz');
    await packageModel({
      source: join(detection, 'model'),
      out,
      preprocess: { resize: 'contain' },
      postprocess: { boxes: { threshold: 0.5, labels: join(detection, 'labels.txt') } },
    });
    const { url } = await serving(out);
    const names = ['tall.png', 'things.tiff', 'empty.png'];
    const [tall, tiff, empty] = names.map((file) => join(work, file)) as [string, string, string];
    const gray = { width: 100, height: 100, channels: 3, background: '#e6e6e6' } as const;
    await sharp({ create: { ...gray, height: 2000 } }).toFile(tall);
    await sharp({ create: gray }).toFile(empty);
    await sharp(join(detection, 'samples', 'things.jpg')).toFile(tiff);
    await inEachView(url, async (page) => {
      const canvas = answer(page).locator('canvas[data-ready=yes]');
      const list = answer(page).getByRole('list', { name: /detections$/ });
      const again = page.getByRole('button', { name: 'Send again' });
      await page.getByLabel('File to send').setInputFiles(join(detection, 'samples', 'things.jpg'));
      await canvas.waitFor();
      await page.getByText('Options').click();
      // The green thing, which all three see whole.
      for (const resize of ['contain', 'cover', 'stretch']) {
        await page.getByLabel('resize').selectOption(resize);
        await Promise.all([page.waitForResponse('**/invocations'), again.click()]);
        await again.waitFor();
        const text = await list.getByRole('button', { name: /^green/ }).textContent();
        const box = (/\d\.\d{3}.*/.exec(text ?? '')?.[0] ?? '').split(', ').map(Number);
        const off = box.map((edge, at) => edge - ([0.458, 0.412, 0.875, 0.662][at] as number));
        expect({ resize, count: off.length, off: Math.max(...off.map(Math.abs)) < 0.01 }).toEqual({
          resize,
          count: 4,
          off: true,
        });
        // Its left edge is drawn there: orange or the like, on gray.
        await drawn(
          page,
          `(() => {
          const canvas = document.querySelector('canvas[data-ready=yes]');
          const line = canvas?.getContext('2d').getImageData(${box[1]} * canvas.width - 2, 0.5 * canvas.height, 5, 1).data;
          return line && [0, 1, 2, 3, 4].some((x) => line[4 * x] - line[4 * x + 2] > 80);
        })()`,
        );
      }
      const slider = page.getByLabel(/^score/);
      expect(await slider.getAttribute('min')).toBe('0.5');
      await answer(page).getByText('The package leaves scores below 0.5 out.').waitFor();
      await slider.fill('1');
      await answer(page)
        .getByText(/^None has this score\. The best has 0\.99/)
        .waitFor();
      await slider.fill('0.5');
      await list.getByRole('button').first().hover();
      // On the screen short numbers, in the copy all digits.
      const answered = page.waitForResponse('**/invocations');
      await again.click();
      const exact = await (await answered).text();
      await again.waitFor();
      await answer(page).getByText('Raw answer').click();
      const shown = await answer(page).locator('pre').textContent();
      expect({ shown, exact }).toEqual({
        shown: expect.not.stringMatching(/\d\.\d{8}/),
        exact: expect.stringMatching(/\d\.\d{8}/),
      });
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await answer(page).getByRole('button', { name: 'Copy' }).click();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(exact);

      // Only what the archive answers is offered, and each choice of it is answered.
      const outputs = page.getByRole('group', { name: 'Outputs' });
      await expect(outputs.getByRole('checkbox').count()).resolves.toBe(3);
      const classes = outputs.getByRole('checkbox', { name: 'detection_classes' });
      await classes.uncheck();
      await again.click();
      const code = page.getByTestId('code').filter({ hasText: 'tfs-outputs=' });
      await expect(code.textContent()).resolves.not.toContain('detection_classes');
      await answer(page).getByText('detection_scores').first().waitFor();
      await classes.check();
      await page.getByLabel('File to send').setInputFiles(empty);
      await answer(page).getByText('None found with a score of 0.5 or more.').waitFor();
      await page.getByLabel('File to send').setInputFiles(tall);
      await drawn(page, "document.querySelector('canvas[data-ready=yes]')?.height > 1000");
      const { height = 0, width = 0 } = (await canvas.boundingBox()) ?? {};
      expect(height).toBeLessThan(900);
      expect(width / height).toBeCloseTo(0.05, 2);
      await page.getByLabel('File to send').setInputFiles(tiff);
      await answer(page).getByText('This browser cannot show the picture').waitFor();
      await list.getByRole('button', { name: /^green/ }).waitFor();
    });
  });

  test('a model that sees a letterbox: its box lies where the thing is in the picture', async () => {
    // The model's frame is 100 x 100; the picture fills its rows 25 to 75. The box: the picture's left half.
    const outputs = {
      detection_boxes: [[[0.25, 0, 0.75, 0.5]]],
      detection_scores: [[0.9]],
      detection_classes: [[1]],
    };
    const tensor = (shape: number[]) => ({ dtype: 'float32', shape });
    const signature = {
      inputs: { image: { dtype: 'uint8', shape: [1, 100, 100, 3] } },
      outputs: {
        detection_boxes: tensor([1, 1, 4]),
        detection_scores: tensor([1, 1]),
        detection_classes: tensor([1, 1]),
      },
      picture: {
        input: 'image',
        resize: 'contain',
        width: 100,
        height: 100,
        pixels: null,
        isRaw: false,
        declared: null,
      } as const,
      examples: null,
    };
    const model = createServer((request, response) => {
      request.resume().once('end', () => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ outputs }));
      });
    }).listen(0, '127.0.0.1');
    await once(model, 'listening');
    const front = await startFront({
      port: 0,
      host: '127.0.0.1',
      page: await readPage(),
      behind: () => ({
        url: `http://127.0.0.1:${(model.address() as AddressInfo).port}`,
        samples: [],
        openApi: async () => ({}),
        switchedTensors: async () => Buffer.alloc(0),
        description: {
          models: [
            {
              name: 'boxes',
              title: 'boxes',
              versions: ['1'],
              signatures: { serving_default: signature },
            },
          ],
          hasHandler: false,
          example: null,
          hasPostprocess: false,
          minScore: null,
          labels: ['nothing', 'thing'],
          samples: [],
        },
      }),
    });
    const picture = join(work, 'wide.png');
    await sharp({ create: { width: 400, height: 200, channels: 3, background: '#000000' } }).toFile(
      picture,
    );
    try {
      await inEachView(front.url, async (page) => {
        await page.getByLabel('File to send').setInputFiles(picture);
        await answer(page).locator('canvas[data-ready=yes]').waitFor();
        await answer(page).getByText('0.000, 0.000, 1.000, 0.500').waitFor();
        const edges = await page.evaluate(`new Promise((done) => {
          const canvas = document.querySelector('canvas[data-ready=yes]');
          const look = () => {
            const lit = (x, y) => canvas.getContext('2d').getImageData(x, y, 1, 1).data[0] > 100;
            // Right edge of the box, left and right of it, and the frame's own middle line.
            const found = [lit(200, 100), lit(190, 100), lit(215, 100), lit(100, 50)];
            if (canvas.width === 400 && found[0]) done(found);
            else requestAnimationFrame(look);
          };
          look();
        })`);
        expect(edges).toEqual([true, false, false, false]);
        const canvas = answer(page).locator('canvas[data-ready=yes]');
        const { width = 0, height = 0 } = (await canvas.boundingBox()) ?? {};
        await canvas.hover({ position: { x: width / 4, y: height / 2 } });
        await answer(page).locator('button.hovered').waitFor();
        await canvas.hover({ position: { x: (3 * width) / 4, y: height / 2 } });
        await answer(page).locator('button.hovered').waitFor({ state: 'detached' });
      });
    } finally {
      await front.close();
      model.close();
    }
  });
});
