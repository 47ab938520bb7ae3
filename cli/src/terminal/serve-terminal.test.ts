/** `serve` as people see it: over a pseudo-terminal, with a real model behind it. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { freePort } from '../serving/free-port.ts';
import { startTerminal, type Terminal } from './testing/terminal.ts';

const ROOT = join(__dirname, '..', '..', '..');
const DIGITS = join(ROOT, 'examples', 'digits');

jest.setTimeout(240_000);

let work: string;
let terminal: Terminal | undefined;

beforeEach(() => {
  // Within the repository: the handler imports `sagemaker-tfs/handler`.
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  work = mkdtempSync(join(ROOT, '.cache', 'terminal-test-'));
});
afterEach(async () => {
  terminal?.kill();
  await terminal?.ended;
  terminal = undefined;
  rmSync(work, { recursive: true, force: true });
});

async function post(url: string, body: Uint8Array | string): Promise<unknown> {
  const headers = { 'Content-Type': 'image/jpeg' };
  const answer = await fetch(`${url}/invocations`, { method: 'POST', body, headers });
  return answer.json();
}

/** What differs from run to run is replaced. */
function steady(text: string, port: number): string {
  return text
    .replaceAll(String(port), 'PORT')
    .replace(/terminal-test-\w+/, 'WORK')
    .replace(/[\d.]+ k?B→[\d.]+ k?B +/g, 'IN→OUT  ')
    .replace(/\d\d:\d\d:\d\d/g, 'HH:MM:SS')
    .replace(/[\d.]+ (ms|s)\b/g, 'N $1')
    .replace(/ +$/gm, '');
}

test('what is served, a line for each request, reload by key and by source, quit', async () => {
  const handler = join(work, 'inference.ts');
  cpSync(join(DIGITS, 'inference.ts'), handler);
  const source = readFileSync(handler, 'utf8');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ['serve', join(DIGITS, 'model'), '--handler', handler, '--port', String(port)];
  terminal = startTerminal(args, { TMPDIR: tmpdir() });
  await terminal.until(ANSWERS);
  const picture = readFileSync(join(DIGITS, 'samples', '00000-7.jpg'));
  expect(await post(url, picture)).toMatchObject({ predictions: [{ digit: 7 }] });
  await terminal.until('  200  ');
  await post(url, 'hello');
  await terminal.until('BAD_IMAGE');
  expect(steady(terminal.text(), port)).toMatchSnapshot();
  expect(Math.max(...lines(terminal).map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(terminal.raw()).toContain('\x1b[32m✓');

  // A mistake leaves the version before in place and shows where it is.
  writeFileSync(handler, source.replace('const SIDE = 28;', 'const SIDE = ;'));
  await terminal.until('the version before continues');
  await terminal.until(/inference\.ts:\d+:\d+/);
  expect(await post(url, picture)).toMatchObject({ predictions: [{ digit: 7 }] });
  writeFileSync(handler, source.replace('digit: scores', 'number: scores'));
  await terminal.until(/✓ reloaded[\s\S]*: it answers/);
  expect(terminal.text()).toContain('Reloading ...');
  expect(await post(url, picture)).toMatchObject({ predictions: [{ number: 7 }] });
  // Once, in our words alone.
  expect(terminal.text().match(/inference\.ts:\d+:\d+/g)).toHaveLength(1);

  // A version that never finishes loading gives way to the next one.
  const stuck = join(work, 'stuck');
  const loop = `import { writeFileSync as write } from 'node:fs'; write(${JSON.stringify(stuck)}, ''); while (true);`;
  writeFileSync(handler, `${loop}\n${source}`);
  while (!existsSync(stuck)) await sleep(50);
  writeFileSync(handler, source.replace('digit: scores', 'next: scores'));
  await terminal.until(/(?:✓ reloaded[\s\S]*){2}/);
  expect(await post(url, picture)).toMatchObject({ predictions: [{ next: 7 }] });

  terminal.type('l');
  await terminal.until('"level":"info"');
  terminal.type('l');
  await terminal.until('raw logs off');

  // Ctrl-C during a reload waits for no handler: one that never comes to an end is killed.
  const late = join(work, 'late');
  const begun = join(work, 'begun');
  writeFileSync(
    handler,
    `import { writeFileSync } from 'node:fs';
    writeFileSync(${JSON.stringify(begun)}, '');
    await new Promise((resolve) => setTimeout(resolve, 15_000));
    writeFileSync(${JSON.stringify(late)}, '');
    ${source}`,
  );
  while (!existsSync(begun)) await sleep(50);
  terminal.type('\x03');
  expect(await terminal.ended).toBe(0);
  expect(terminal.text()).toContain('Stopping; Ctrl-C again ends now');
  expect(existsSync(late)).toBe(false);
});

const ANSWERS = 'Tried signature serving_default of digits with a made-up request: it answers';

test('a model that loads and cannot answer is found out, whole; the next version is tried as well', async () => {
  const model = join(work, 'model');
  const { basePath } = fixtureModel('broken_variables');
  cpSync(basePath, model, { recursive: true });
  terminal = startTerminal(['serve', model, '--port', String(await freePort())]);
  await terminal.until(/! Tried signature serving_default of [\s\S]*Could not find variable/);
  rmSync(model, { recursive: true });
  cpSync(fixtureModel('tiles').basePath, model, { recursive: true });
  terminal.type('r');
  await terminal.until(/reloaded in [\s\S]*: it answers/);
  terminal.type('q');
  expect(await terminal.ended).toBe(0);
});

test('--no-playground --host: a handler that cannot be loaded leaves the one before; the next one gets the port', async () => {
  const handler = join(work, 'inference.ts');
  const source = 'export const handler = () => ({ version: 1 });';
  writeFileSync(handler, source);
  const port = await freePort();
  const url = `http://127.0.0.2:${port}`;
  const args = ['--handler', handler, '--no-playground', '--host', '127.0.0.2'];
  terminal = startTerminal(
    ['serve', fixtureModel('half_plus_two').basePath, ...args, '--port', String(port)],
    { SAGEMAKER_TFS_BACKEND: 'in-process' },
  );
  await terminal.until('q quit');
  // What the environment asks for.
  expect(terminal.text()).toContain('in process');
  const ask = async () => {
    const body = JSON.stringify({ instances: [1] });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${url}/invocations`, { method: 'POST', body, headers });
    return answer.json();
  };
  writeFileSync(handler, `throw new Error('my bug'); ${source}`);
  await terminal.until('the version before continues');
  await terminal.until('my bug');
  expect(await ask()).toEqual({ version: 1 });
  // A long reason is broken between its words.
  writeFileSync(handler, 'export const other = 1;');
  await terminal.until('outputHandler(result, context).');
  const reason = lines(terminal).filter((line) => /exports only|Handler\(/.test(line));
  expect(reason.length).toBeGreaterThan(1);
  expect(Math.max(...reason.map((line) => line.length))).toBeLessThanOrEqual(80);
  writeFileSync(handler, source.replace('1', '2'));
  await terminal.until('✓ reloaded');
  expect(await ask()).toEqual({ version: 2 });
  terminal.type('q');
  expect(await terminal.ended).toBe(0);
});

test('in 40 columns nothing of what is served is cut', async () => {
  const port = await freePort();
  const tiles = join(ROOT, 'examples', 'tiles', 'model');
  const args = ['serve', tiles, '--port', String(port)];
  terminal = startTerminal(args, { NO_COLOR: '1' }, undefined, 40);
  await terminal.until('q quit');
  const [, shown = ''] = /(✓.*?)\n\n/s.exec(terminal.text()) ?? [];
  expect(steady(shown, port)).toMatchSnapshot();
  expect(Math.max(...shown.split('\n').map((line) => line.length))).toBeLessThanOrEqual(40);
  expect(shown).toMatch(/ready in [\d.]+ s$/m);
  terminal.type('q');
  expect(await terminal.ended).toBe(0);
});

test('after a handler has thrown, a hint at the raw log, which has the stack', async () => {
  const handler = join(work, 'inference.ts');
  writeFileSync(handler, "export const handler = () => { throw new Error('my bug'); };");
  const port = await freePort();
  const args = ['serve', join(DIGITS, 'model'), '--handler', handler, '--port', String(port)];
  terminal = startTerminal(args);
  await terminal.until('q quit');
  expect(terminal.text()).not.toContain('l shows the raw log');
  await post(`http://127.0.0.1:${port}`, 'x');
  await terminal.until('l shows the raw log');
  expect(terminal.text()).toContain('my bug');
  terminal.type('l');
  await terminal.until('"stack":');
  terminal.type('q');
  expect(await terminal.ended).toBe(0);
});

test('--json in a terminal gives what a pipe gets; Ctrl-C ends it', async () => {
  const port = await freePort();
  terminal = startTerminal(['serve', join(DIGITS, 'model'), '--json', '--port', String(port)]);
  await terminal.until('end with Ctrl-C');
  expect(terminal.text()).toContain('"level":"info"');
  terminal.type('\x03');
  expect(await terminal.ended).toBe(0);
});

test('a model that TensorFlow refuses: its reason, whole', async () => {
  cpSync(join(ROOT, 'test/fixtures/models/half_plus_two/2'), join(work, '1'), { recursive: true });
  const file = join(work, '1', 'saved_model.pb');
  writeFileSync(file, readFileSync(file, 'latin1').replaceAll('AddV2', 'AddV9'), 'latin1');
  terminal = startTerminal(['serve', work, '--port', String(await freePort())]);
  expect(await terminal.ended).toBe(1);
  expect(terminal.text()).toMatch(/Op type not registered 'AddV9'/);
});

test('a folder without a model: why, and status 2', async () => {
  terminal = startTerminal(['serve', join(ROOT, 'docs'), '--port', String(await freePort())], {
    NO_COLOR: '1',
  });
  expect(await terminal.ended).toBe(2);
  expect(terminal.text()).toContain('sagemaker-tfs: ');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what colors are made of
  expect(terminal.raw()).not.toMatch(/\x1b\[\d+m/);
});

function lines(of: Terminal): string[] {
  return of
    .text()
    .split('\n')
    .flatMap((line) => line.split('\r'));
}
