/** The demo's page: what it shows of made-up answers, and how it looks to everybody. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { summarize } from 'sagemaker-tfs/development/output';
import type { Answered } from '../../demo/answers.ts';
import { confusionOf } from '../../demo/confusion.ts';
import { demoReport } from '../../demo/report.ts';
import { encodeDigit } from '../../examples/digits/make-images.ts';
import { launch, openContext } from '../../playground/test/browser.ts';
import { findChromium } from '../../tools/chromium.ts';
import { reportProblems } from '../support/report-view.ts';

const chromium = findChromium();
const inChromium = chromium ? test : test.skip;
const named = (name: string) =>
  chromium ? name : `${name} (skipped: no chromium on PATH; apt-get install chromium)`;

jest.setTimeout(240_000);

/** 1,000 answers. Three are wrong: two 4 taken for 9, one 1 for 6. */
const answers: Answered[] = Array.from({ length: 1_000 }, (_, at) => {
  const label = at % 10;
  const digit = at === 4 || at === 14 ? 9 : at === 551 ? 6 : label;
  return { key: `${at}-${label}.png`, label, digit, probability: 0.9 };
});
const milliseconds = Array.from({ length: 50 }, (_, at) => 3 + (at % 7));

let images: string;
let page: string;
let browser: Browser | undefined;
beforeAll(async () => {
  images = await mkdtemp(join(tmpdir(), 'demo-report-'));
  const picture = await encodeDigit({ index: 0, label: 0, pixels: new Uint8Array(784) }, 'png');
  for (const { key } of answers) await writeFile(join(images, key), picture);
  const parts = { receive: 0.1, queue: 0, decode: 1, predict: 2, encode: 0.1, around: 1 };
  const summary = summarize(milliseconds);
  page = await demoReport({
    archive: { bytes: 1_234, fingerprint: 'ab'.repeat(32) },
    modelServer: 'local-model-server',
    startMilliseconds: 900,
    latency: (['rest', 'grpc'] as const).map((transport) => {
      return { transport, milliseconds, summary, correct: 49, parts };
    }),
    batch: {
      job: { done: 1_000, failed: 0, seconds: 5, maxConcurrentTransforms: 64 },
      rate: [
        [1, 150],
        [2, 250],
      ],
    },
    answers,
    images,
    inputBytes: 300,
    outputBytes: 260,
    steps: [
      { name: 'Package', from: 0, seconds: 2 },
      { name: 'Serve', from: 2, seconds: 1 },
    ],
  });
});
afterAll(async () => {
  await browser?.close();
  await rm(images, { recursive: true, force: true });
});

test('the confusion matrix counts labels by answers', () => {
  const counts = confusionOf(answers);
  expect(counts[4]?.[9]).toBe(2);
  expect(counts[1]?.[6]).toBe(1);
  expect(counts.map((row, label) => row[label])).toEqual([
    100,
    99,
    100,
    100,
    98,
    ...Array(5).fill(100),
  ]);
});

test('the page has the result, every wrong answer, costs and commands', () => {
  expect(page).toContain('99.70% of 1,000 digits that the model never saw');
  expect(page.match(/<li class="is-\d wrong">/g)).toHaveLength(3);
  expect(page.match(/<li class="is-\d">/g)).toHaveLength(100);
  expect(page).toMatch(/9, is 4 · 90%/);
  expect(page).toContain('abababababababab');
  expect(page).toContain('npx sagemaker-tfs serve path/to/saved_model');
  for (const heading of ['This run on AWS', 'Timeline of the demo', 'Where the time goes']) {
    expect(page).toContain(`<h2>${heading}</h2>`);
  }
  expect(page).not.toMatch(/<script|<link|NaN|undefined|\[object/);
});

inChromium(named('the wall is filtered without a script'), async () => {
  browser ??= await launch(chromium ?? '');
  const { context, observed } = await openContext(browser, { width: 1280, colorScheme: 'light' });
  const view = await context.newPage();
  await view.setContent(page);
  const shown = () => view.locator('.wall li:visible').count();
  expect(await shown()).toBe(103);
  await view.getByLabel('wrong answers').check();
  expect(await shown()).toBe(3);
  await view.getByLabel('4', { exact: true }).check();
  expect(await view.locator('.wall li:visible:not(.is-4)').count()).toBe(0);
  expect(await shown()).toBeGreaterThanOrEqual(2);
  expect(observed).toEqual({ problems: [], elsewhere: [] });
  await context.close();
});

inChromium(
  named('the page is sound on a desk and on a phone, light, dark and printed'),
  async () => {
    browser ??= await launch(chromium ?? '');
    expect(await reportProblems(browser, page)).toEqual([]);
  },
);
