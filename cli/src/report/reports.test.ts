/** Reports of the built command in front of a container: what they say, and how they look to everybody. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launch } from '../../../playground/test/browser.ts';
import { reportProblems } from '../../../test/support/report-view.ts';
import { findChromium } from '../../../tools/chromium.ts';
import { type StubContainer, sagemakerTfs, startStub } from '../batch/test-support.ts';

const chromium = findChromium();
const missing = ' (skipped: no chromium on PATH; apt-get install chromium)';
const inChromium = chromium ? test : test.skip;
const named = (name: string) => (chromium ? name : name + missing);

jest.setTimeout(240_000);

const HOSTILE = '<script>alert(1)</script> & "quoted" \u202e';
const ATTRIBUTES =
  'tfs-fingerprint=00112233aabbccdd,tfs-model-version=3,tfs-timings=receive:0.10;queue:0.20;decode:0.30;predict:0.40;encode:0.50';

let work: string;
let stub: StubContainer;
let browser: Browser | undefined;
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'reports-test-'));
  stub = await startStub((body, response) => {
    if (body.toString().startsWith('bad')) {
      response.writeHead(400).end(JSON.stringify({ error: HOSTILE }));
      return undefined;
    }
    response.setHeader('X-Amzn-SageMaker-Custom-Attributes', ATTRIBUTES);
    return '{"predictions": [1]}';
  });
  await mkdir(join(work, 'in'));
  for (let at = 0; at < 60; at++) await writeFile(join(work, 'in', `${at}.json`), '{"a": 1}');
  for (const name of ['x', 'y']) await writeFile(join(work, 'in', `bad-${name}.json`), 'bad');
});
afterAll(async () => {
  await browser?.close();
  await stub.close();
  await rm(work, { recursive: true, force: true });
});

/** Runs a verb that writes a report. */
async function reportOf(status: number, ...args: string[]): Promise<string> {
  const file = join(work, 'report.html');
  await rm(file, { force: true });
  const outcome = await sagemakerTfs([...args, '--url', stub.url, '--report', file, '--quiet']);
  expect({ ...outcome, stdout: '' }).toMatchObject({ exitCode: status });
  return readFile(file, 'utf8');
}

const REPORTS: readonly (readonly [
  name: string,
  make: () => Promise<string>,
  says: readonly (string | RegExp)[],
])[] = [
  [
    'bench',
    () =>
      reportOf(
        0,
        ...['bench', join(work, 'in', '0.json'), '--requests', '50', '--in-flight', '2'],
        ...['--transport', 'own', 'grpc', 'rest'],
      ),
    [
      /Over (.+ transport|grpc|rest), half of the answers came within\s<?/,
      '2 in flight',
      /<td class="number">0\.30<\/td><td class="number">0\.30<\/td>/,
      'body to tensors',
      '00112233aabbccdd',
      'version 3',
      'bench --compare before.json after.json',
    ],
  ],
  [
    'tune',
    () =>
      reportOf(
        0,
        ...['tune', join(work, 'in', '0.json'), '--seconds', '1', '--max-concurrency', '4'],
      ),
    [
      /Run with <strong>[124] in flight<\/strong>/,
      /class="chosen"/,
      '--write serving.config.ts',
      '00112233aabbccdd',
    ],
  ],
  [
    'batch local',
    () => reportOf(1, 'batch', 'local', join(work, 'in'), '--out', join(work, 'out')),
    [
      '60 of 62 inputs have an output; 60 were answered in',
      '2 failed',
      '<strong class="bad">2</strong> × 400: &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quoted&quot; ·',
      '<code>bad-x.json</code>',
      /--manifest \S+redrive\.manifest/,
      '00112233aabbccdd',
    ],
  ],
];

describe.each(REPORTS)('%s --report', (_, make, says) => {
  let page: string;
  beforeAll(async () => {
    page = await make();
  });

  test('says what came out, from what model, what it would cost and what is next', () => {
    for (const text of says) expect(page).toEqual(expect.stringMatching(asPattern(text)));
    expect(page).toContain('This run on AWS');
    // The first column is all that a phone shows beside the names.
    expect(page).toMatch(/>way<\/th><th[^>]*>total<\/th>/);
    expect(page).toContain('Prices are of 2025');
    expect(page).toMatch(/<time datetime="20\d\d-/);
    expect(page).toMatch(/\d+ cores, \d+ GiB/);
    expect(page).toContain(`Node ${process.versions.node}`);
  });

  test('is one file: no script, and nothing that is loaded', () => {
    expect(page).not.toMatch(/<script|<link|<iframe|@import|\bsrc=|url\((?!#)/i);
    expect(page).toContain('default-src &#39;none&#39;');
    expect(page).not.toMatch(/NaN|undefined|\[object/);
    expect(Buffer.byteLength(page)).toBeLessThan(200_000);
  });

  inChromium(named('is sound on a desk and on a phone, light, dark and printed'), async () => {
    browser ??= await launch(chromium ?? '');
    expect(await reportProblems(browser, page)).toEqual([]);
  });
});

const asPattern = (text: string | RegExp) =>
  typeof text === 'string' ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : text;

test('a second run of a batch says what was there before, and prices nothing', async () => {
  await rm(join(work, 'in', 'bad-x.json'));
  await rm(join(work, 'in', 'bad-y.json'));
  const args = ['batch', 'local', join(work, 'in'), '--out', join(work, 'again')];
  await reportOf(0, ...args);
  const page = await reportOf(0, ...args);
  expect(page).toContain('60 of 60 inputs have an output; 60 were there before.');
  expect(page).toContain('Nothing: every input has its output.');
  expect(page).not.toContain('This run on AWS');
  expect(page).not.toMatch(/NaN|Infinity|undefined|\[object/);
});

test('a run that is too short for a chart of its rate says so', async () => {
  await mkdir(join(work, 'short'));
  await writeFile(join(work, 'short', '0.json'), '1');
  const out = join(work, 'short-out');
  const page = await reportOf(0, 'batch', 'local', join(work, 'short'), '--out', out);
  expect(page).toMatch(/The run took \d+\.\d s, too short for a chart of its rate\./);
});

test('a report that cannot be written is refused before anything is measured', async () => {
  const before = stub.bodies.length;
  const measure = [join(work, 'in', '0.json'), '--url', stub.url];
  for (const args of [
    ['bench', ...measure, '--report', join(work, 'no', 'report.html')],
    ['tune', ...measure, '--report', work],
    ['batch', 'local', join(work, 'in'), '--url', stub.url, '--out', work, '--report', '/dev/null'],
  ]) {
    const { exitCode, stderr } = await sagemakerTfs(args);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching('--report '),
    });
  }
  expect(stub.bodies.length).toBe(before);
});
