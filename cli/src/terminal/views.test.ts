/** Verbs as people see them: over a pseudo-terminal, before real models. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { prepareModelRoot } from '../serving/model-root.ts';
import { startRuntime } from '../serving/runtime-process.ts';
import { startTerminal } from './testing/terminal.ts';

const ROOT = join(__dirname, '..', '..', '..');
const DIGITS = join(ROOT, 'examples', 'digits');

jest.setTimeout(240_000);

let work: string;
beforeAll(() => {
  // Within the repository: the handler imports `sagemaker-tfs/handler`.
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  work = mkdtempSync(join(ROOT, '.cache', 'views-test-'));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Runs a verb to its end. */
async function shown(args: readonly string[], environment: NodeJS.ProcessEnv = {}, width = 80) {
  const terminal = startTerminal(args, environment, work, width);
  const status = await terminal.ended;
  return { status, text: terminal.text(), raw: terminal.raw() };
}

/** What differs from run to run is replaced. */
function steady(text: string): string {
  return (
    text
      .replace(/^.*\r/gm, '')
      .replaceAll(ROOT, 'ROOT')
      .replace(/[\d.]+ (ms|s)\b/g, 'N $1')
      .replace(/[\d.]+ kB/g, 'N kB')
      .replace(/\b[0-9a-f]{40,64}\b/g, 'HEX')
      // The last digits are the processor's.
      .replace(/("probabilities":\[)[-\d.,e]+(\n +[-\d.,e]+)*/g, '$1VALUES')
      .replace(/\[\d\.\d{9,}.*…$/gm, '[VALUES …')
      .replace(/[\d.]+e-\d+.*…$/gm, 'SMALL …')
      .replace(/ +$/gm, '')
  );
}

/** What no program that reads a screen out, or cannot draw over a line, can do with. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what colors and cursor movements are made of
const DRAWN = /\x1b|\r(?!\n)|[█▉▊▋▌▍▎▏░]/;

const widest = (text: string) => Math.max(...text.split(/[\r\n]/).map((line) => line.length));

/** Answers of a served model, each with the arguments of `invoke`. */
async function answers(
  [model, handler]: readonly [model: string, handler?: string],
  ask: (url: string) => Promise<void>,
): Promise<void> {
  const root = await prepareModelRoot(model, handler);
  try {
    const log = join(work, 'runtime.log');
    const runtime = await startRuntime({ modelDirectory: root.directory, log });
    try {
      await ask(runtime.url);
    } finally {
      await runtime.stop();
    }
  } finally {
    await root.cleanUp();
  }
}

test('invoke: classes as bars, tensors in a line each; NO_COLOR; a pipe and --json as ever', async () => {
  await answers([join(DIGITS, 'model'), join(DIGITS, 'inference.ts')], async (url) => {
    const args = ['invoke', join(DIGITS, 'samples', '00000-7.jpg'), '--url', url];
    const view = await shown(args);
    expect(view.status).toBe(0);
    expect(steady(view.text)).toMatchSnapshot();
    expect(widest(view.text)).toBeLessThanOrEqual(80);
    expect(view.raw).toContain('\x1b[32m✓');
    const plain = await shown(args, { NO_COLOR: '1' });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what colors are made of
    expect(plain.raw).not.toMatch(/\x1b\[\d+m/);
    const readOut = await shown(args, { TERM: 'dumb' });
    expect(readOut.raw).not.toMatch(DRAWN);
    expect(readOut.text).toMatch(/^ *class 7 {2,6}\d+\.\d %$/m);
    const { text } = await shown([...args, '--json']);
    expect(JSON.parse(text)).toMatchObject({ status: 200 });
  });
});

test('invoke: after half a second, whose answer it waits for; the line is gone afterwards', async () => {
  let answer = () => {};
  const server = createServer((request, response) => {
    request.resume();
    answer = () =>
      response.setHeader('Content-Type', 'application/json').end('{"predictions":[1]}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const picture = join(DIGITS, 'samples', '00000-7.jpg');
  const terminal = startTerminal(['invoke', picture, '--url', url], {}, work);
  try {
    await terminal.until(`  Waiting for ${url} ...`);
    answer();
    expect(await terminal.ended).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what clears the line
    expect(terminal.raw()).toMatch(/Waiting for [^ ]+ \.\.\.\r\x1b\[K.*✓/s);
  } finally {
    terminal.kill();
    server.close();
  }
});

test('inspect: what goes in and out, and what else there is', async () => {
  const brief = await shown(['inspect', join(DIGITS, 'model')]);
  expect(steady(brief.text)).toMatchSnapshot();
  expect(
    steady((await shown(['inspect', fixtureModel('tf1_classifier').basePath])).text),
  ).toMatchSnapshot();
  const mixed = ['inspect', fixtureModel('multi_signature').basePath];
  const narrow = await shown(mixed, { NO_COLOR: '1' }, 40);
  expect(widest(narrow.text)).toBeLessThanOrEqual(40);
  const text = narrow.text.replace(/\s+/g, ' ');
  expect(text).toContain('cannot be batched: "statistics" (output "count" is a scalar)');
  expect(text).toContain('--write-sample FILE, --json');
  const all = await shown([...mixed, '--ops', '--variables'], { NO_COLOR: '1' }, 40);
  expect(widest(all.text)).toBeLessThanOrEqual(40);
  expect(all.text).toMatch(/^kind +input\r?\n {2}name +\w+\r?\n {2}dtype +\w+\r?$/m);
  expect(all.text).toMatch(/^name +dtype +shape +size\r?$/m);
});

test.each([
  ['half_plus_two', ['npz', 'json', 'npy']],
  ['tf1_classifier', ['tfrecord', 'json']],
  ['tiles', ['png', 'json', 'NPZ']],
] as const)('inspect --write-sample writes what %s takes, as %j', async (name, endings) => {
  const model = fixtureModel(name).basePath;
  await answers([model], async (url) => {
    for (const ending of endings) {
      const file = join(work, `a sample.${ending}`);
      const { text } = await shown(['inspect', model, '--write-sample', file]);
      expect(text).toContain(`npx sagemaker-tfs invoke '${file}' sends it`);
      const answer = await shown(['invoke', file, '--url', url]);
      expect(answer.text).toMatch(/(?:^|\r)✓ 200 · /);
    }
  });
});

test('package: steps ticked, the answer, the next command', async () => {
  const args = [join(DIGITS, 'model'), '--handler', join(DIGITS, 'inference.ts')];
  const view = await shown(['package', ...args, '--out', 'model.tar.gz']);
  expect(view.status).toBe(0);
  expect(view.raw).toMatch(/bytes .*\/\d/);
  expect(view.raw).not.toContain(' 0/0');
  const from = view.text.indexOf('✓');
  expect(steady(view.text.slice(from))).toMatchSnapshot();
  expect(widest(steady(view.text.slice(from)))).toBeLessThanOrEqual(80);
  expect(existsSync(join(work, 'model.tar.gz'))).toBe(true);
  const archive = await shown(['verify', 'model.tar.gz']);
  expect(widest(archive.text)).toBeLessThanOrEqual(80);
  expect(archive.text).toMatch(/✓ answered {2}1 of 1 request/);
});

test('package --uncompressed: the same view, of a folder', async () => {
  const args = [join(DIGITS, 'model'), '--handler', join(DIGITS, 'inference.ts')];
  const view = await shown(['package', ...args, '--uncompressed', 'a prefix']);
  expect(widest(view.text.slice(view.text.indexOf('✓')))).toBeLessThanOrEqual(80);
  expect(view.text).toMatch(/✓ written {3}a prefix\r?\n✓ loaded .*\r?\n✓ ran .*\r?\n✓ answered/);
  expect(view.text).toMatch(/fingerprint {2}[0-9a-f]{64}/);
});

test('batch local --model: refused inputs are reported at the end, not as lines of the log across the bar', async () => {
  const inputs = join(work, 'one bad');
  mkdirSync(inputs);
  cpSync(join(DIGITS, 'samples', '00000-7.jpg'), join(inputs, 'good.jpg'));
  writeFileSync(join(inputs, 'bad.jpg'), 'no picture');
  const model = ['--model', join(DIGITS, 'model'), '--handler', join(DIGITS, 'inference.ts')];
  const { text } = await shown(['batch', 'local', inputs, ...model, '--out', join(work, 'told')]);
  expect(text).toContain('1 of 2 inputs have an output');
  expect(text).toMatch(/1 × 400: /);
  expect(text).not.toContain('"level"');
});

test('doctor: by what it is for, with fixes', async () => {
  const { text } = await shown(['doctor'], {
    PATH: process.env.PATH,
    CDK_DOCKER: join(work, 'no-docker'),
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_SHARED_CREDENTIALS_FILE: join(work, 'none'),
    AWS_CONFIG_FILE: join(work, 'none'),
    AWS_ACCESS_KEY_ID: undefined,
    AWS_PROFILE: undefined,
  });
  const at = ['Serve', 'Package', 'Deploy'].map((group) =>
    text.search(new RegExp(`^${group}`, 'm')),
  );
  expect(at).toEqual([...at].sort((a, b) => a - b));
  expect(at[0]).toBeGreaterThanOrEqual(0);
  expect(text).toMatch(/- container builder .*\n.*\n? *.*→ install Docker/);
  expect(text).toContain('→ aws sso login or aws configure');
  expect(widest(text)).toBeLessThanOrEqual(80);
  const found = await shown(['doctor'], { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }, 40);
  expect(found.text).toMatch(/✓ AWS credentials\s+found/);
  expect(found.text).toMatch(/^ {2}✓ TensorFlow library\r?\n {6}\S/m);
  expect(widest(found.text)).toBeLessThanOrEqual(40);
});

describe('work on many requests', () => {
  const samples = ['00000-7.jpg', '00100-6.png', '00200-3.jpg'];
  beforeAll(() => {
    mkdirSync(join(work, 'many in'));
    for (const name of samples) {
      cpSync(join(DIGITS, 'samples', name), join(work, 'many in', name));
    }
    for (const name of ['bad-1.jpg', 'bad-2.jpg']) {
      writeFileSync(join(work, 'many in', name), 'no picture');
    }
  });
  const digits = [join(DIGITS, 'model'), join(DIGITS, 'inference.ts')] as const;
  const address = (text: string) =>
    steady(text)
      .replace(/http:[^ ]+/g, 'URL')
      .replace(/[\d.]+\/s/g, 'N/s');

  test('batch local: a bar, failures by their reasons, and the command that retries them', async () => {
    await answers(digits, async (url) => {
      const args = ['batch', 'local', 'many in', '--url', url, '--out', 'out'];
      const view = await shown(args);
      expect(view.status).toBe(1);
      const screen = view.text.slice(view.text.indexOf('✗'));
      expect(address(screen)).toMatchSnapshot();
      expect(view.raw).toMatch(/inputs .*█.* 5\/5 .*2 failed/);
      // The command of the screen, once its inputs are right.
      for (const name of ['bad-1.jpg', 'bad-2.jpg']) {
        cpSync(join(work, 'many in', samples[0] as string), join(work, 'many in', name));
      }
      const [, command = ''] = /Retry {2}npx sagemaker-tfs (.*)/.exec(view.text) ?? [];
      const words = execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' });
      const again = await shown(words.trimEnd().split('\n'));
      expect(address(again.text)).toContain('✓ 2 of 2 inputs have an output');
      const plain = await shown(args, { NO_COLOR: '1' });
      expect(plain.text).toContain('5 done before');
      const readOut = await shown([...args.slice(0, -1), 'out again'], { TERM: 'dumb' });
      expect(readOut.raw).toContain('inputs 5/5');
      expect(readOut.raw).not.toMatch(DRAWN);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what colors are made of
      expect(plain.raw).not.toMatch(/\x1b\[\d+m/);
    });
  });

  test('bench and tune: a row for each transport and setting, in 80 columns', async () => {
    await answers(digits, async (url) => {
      const file = join('many in', samples[0] as string);
      const bench = ['bench', file, '--url', url, '--requests', '4', '--transport', 'grpc', 'rest'];
      const measured = await shown(bench);
      const screenOf = measured.text.slice(measured.text.indexOf('✓'));
      const row = /^( {2}(?:grpc|rest)) +(?:[\d.]+ +){7}[\d.]+ k?B$/gm;
      expect(screenOf.replace(row, '$1 FIGURES').replace(/ {2,}/g, '  ')).toMatchSnapshot();
      const tune = ['tune', file, '--url', url, '--seconds', '1', '--max-concurrency', '2'];
      const tuned = await shown(tune);
      const rows = tuned.text.slice(tuned.text.indexOf('  a request'));
      expect(rows).toMatch(/❯ .*█{13,}/);
      expect(rows).toMatch(/✓ run with [12] in flight, 1 a request, as it is/);
      for (const screen of [screenOf, rows]) {
        expect(widest(screen)).toBeLessThanOrEqual(80);
      }
      const { results } = JSON.parse((await shown([...bench, '--json', '--quiet'])).text);
      expect(results).toHaveLength(2);
    });
  });
});
