/** Every verb in a pipe, in front of a reader that stops, and in a terminal without colors. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { program as commandLine } from './main.ts';
import { freePort } from './serving/free-port.ts';
import { type RunningRuntime, startRuntime } from './serving/runtime-process.ts';
import { startTerminal } from './terminal/testing/terminal.ts';

const ROOT = join(__dirname, '..', '..');
const PROGRAM = join(ROOT, 'cli/bin/sagemaker-tfs.js');
const SAMPLE = 'samples/00000-7.jpg';

jest.setTimeout(180_000);

let work: string;
/** What the command takes for the system's folder of temporary files. */
let temporary: string;
let runtime: RunningRuntime;
beforeAll(async () => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'manners-test-')));
  temporary = join(work, 'temporary');
  mkdirSync(temporary);
  const digits = join(ROOT, 'examples/digits');
  cpSync(join(digits, 'model'), join(work, 'served/digits'), { recursive: true });
  cpSync(join(digits, 'model'), join(work, 'model'), { recursive: true });
  cpSync(join(digits, 'inference.ts'), join(work, 'inference.ts'));
  writeFileSync(join(work, 'blocking.ts'), 'while (true);\nexport const handler = () => "";\n');
  cpSync(join(digits, SAMPLE), join(work, SAMPLE));
  cpSync(join(ROOT, 'test/fixtures/models/half_plus_two/2'), join(work, 'half/1'), {
    recursive: true,
  });
  runtime = await startRuntime({
    modelDirectory: join(work, 'served'),
    log: join(work, 'runtime.log'),
  });
  // An archive to verify.
  await inPipe(['package', 'half', '--out', 'half.tar.gz', '--no-verify']);
  await inPipe(['batch', 'pack', 'samples', '--out', 'shards']);
});
afterAll(async () => {
  await runtime?.stop();
  rmSync(work, { recursive: true, force: true });
});

/** AWS is not there: these verbs end with an error, which has manners too. */
const NO_AWS = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: 'us-east-1',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
  AWS_MAX_ATTEMPTS: '1',
  AWS_EC2_METADATA_DISABLED: 'true',
};

let count = 0;
/** A new name for each run: outputs that are there are another case. */
const fresh = (name: string) => `${name}-${++count}`;

/** A line for each verb, by its path; each is complete work. */
const LINES: Readonly<Record<string, () => readonly string[]>> = {
  init: () => ['init', fresh('project'), '--model', 'half', '--template', 'handler'],
  inspect: () => ['inspect', 'model'],
  package: () => ['package', 'half', '--out', `${fresh('half')}.tar.gz`],
  verify: () => ['verify', 'half.tar.gz'],
  invoke: () => ['invoke', SAMPLE, '--url', runtime.url, '--accept', 'application/json'],
  bench: () => ['bench', SAMPLE, '--url', runtime.url, '--requests', '2'],
  'batch local': () => ['batch', 'local', 'samples', '--url', runtime.url, '--out', fresh('out')],
  'batch pack': () => ['batch', 'pack', 'samples', '--out', fresh('shards')],
  'batch unpack': () => ['batch', 'unpack', shard(), '--out', fresh('unpacked')],
  'batch start': () => ['batch', 'start', '--model-name', 'm', ...PLACES],
  'batch watch': () => ['batch', 'watch', 'job', '--once'],
  'batch verify': () => ['batch', 'verify', 'job'],
  'batch sample': () => [
    ...['batch', 'sample', '--input-uri', 's3://bucket/in/', '--out', 's3://bucket/s.manifest'],
  ],
  'batch probe': () => [
    ...['batch', 'probe', '--model-name', 'm', '--output-uri', 's3://bucket/out/'],
    ...['--sample', SAMPLE],
  ],
  'batch fetch': () => ['batch', 'fetch', 'job', '--out', 'answers.jsonl', '--format', 'ndjson'],
  'batch stop': () => ['batch', 'stop', 'job'],
  'batch worker': () => [
    ...['batch', 'worker', '--input', 's3://bucket/in/', '--output', 's3://bucket/out/'],
    ...['--model', 'half', '--content-type', 'application/json'],
  ],
  'captures baseline': () => ['captures', 'baseline', 's3://bucket/c/', '--out', fresh('baseline')],
  'captures drift': () => ['captures', 'drift', 's3://bucket/c/', '--baseline', 'inference.ts'],
  'captures compare': () => [
    ...['captures', 'compare', 's3://bucket/c/', '--production', 'a', '--shadow', 'b'],
  ],
  register: () => [
    ...['register', 'half.tar.gz', '--group', 'half', '--to', 's3://bucket/models/'],
    ...['--image', '111111111111.dkr.ecr.us-east-1.amazonaws.com/serving:1'],
  ],
  estimate: () => ['estimate', '--images', '1000', '--seconds-per-image', '0.1'],
  tune: () => [
    ...['tune', SAMPLE, '--url', runtime.url, '--seconds', '1', '--max-concurrency', '1'],
  ],
  doctor: () => ['doctor'],
  completion: () => ['completion', 'bash'],
};

const PLACES = ['--input-uri', 's3://bucket/in/', '--output-uri', 's3://bucket/out/'];
const shard = () => join('shards', readdirSync(join(work, 'shards'))[0] as string);

test('there is a line for each verb but serve, which has tests of its own', () => {
  const verbs = commandLine().commands.flatMap((verb) =>
    verb.commands.length > 0
      ? verb.commands.map((below) => `${verb.name()} ${below.name()}`)
      : [verb.name()],
  );
  expect(Object.keys(LINES).sort()).toEqual(verbs.filter((verb) => verb !== 'serve').sort());
});

const environment = () => ({ ...process.env, ...NO_AWS, TMPDIR: temporary });

async function inPipe(args: readonly string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: work, env: environment() });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (part: string) => {
      text[name] += part;
    });
  }
  child.stdin.end();
  const [status] = await once(child, 'close');
  return { status: Number(status), ...text };
}

/** Runs a line of bash in the work folder; what it writes to stderr. */
async function inShell(line: string): Promise<string> {
  const child = spawn('bash', ['-c', line], {
    cwd: work,
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    stderr += part;
  });
  await once(child, 'close');
  return stderr;
}

const quoted = (args: readonly string[]) => args.map((arg) => `'${arg}'`).join(' ');
/** Temporary files of the command. None may stay. */
const left = () => readdirSync(temporary);

const verbs = Object.keys(LINES);

test.each(verbs)('%s in a pipe: no colors, no cursor, no temporary path', async (verb) => {
  const { status, stdout, stderr } = await inPipe(LINES[verb]?.() ?? []);
  expect([0, 1]).toContain(status);
  expect(stdout + stderr).not.toContain('\x1b');
  expect(stdout + stderr).not.toContain(temporary);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(left()).toEqual([]);
});

test.each(verbs)('%s ends quietly, and cleans up, when nobody reads it', async (verb) => {
  const line = () => `'${process.execPath}' '${PROGRAM}' ${quoted(LINES[verb]?.() ?? [])}`;
  const [stderr, rest] = await Promise.all([
    inShell(`${line()} | true`),
    inShell(`${line()} 2>&1 | true`),
  ]);
  expect(stderr).not.toContain('EPIPE');
  expect(stderr).not.toMatch(/^ +at /m);
  expect(rest).toBe('');
  expect(left()).toEqual([]);
});

test.each(verbs)('%s ends with 1 and one line, and cleans up, on a full disk', async (verb) => {
  const line = `'${process.execPath}' '${PROGRAM}' ${quoted(LINES[verb]?.() ?? [])}`;
  const stderr = await inShell(`${line} > /dev/full; echo "status $?" >&2`);
  expect(stderr).toMatch(/status [12]\n$/);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(stderr.match(/standard output cannot be written/g) ?? []).toHaveLength(
    stderr.includes('ENOSPC') ? 1 : 0,
  );
  expect(left()).toEqual([]);
});

test.each(verbs)('%s in a terminal has no colors with NO_COLOR', async (verb) => {
  const args = LINES[verb]?.() ?? [];
  const terminal = startTerminal(args, { ...NO_AWS, TMPDIR: temporary, NO_COLOR: '1' }, work);
  await terminal.ended;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what colors are made of
  expect(terminal.raw()).not.toMatch(/\x1b\[[0-9;]*m/);
  expect(terminal.text()).not.toContain(temporary);
  expect(left()).toEqual([]);
});

test('serve in a pipe writes JSON lines alone, with paths as the container has them', async () => {
  const port = await freePort();
  const args = ['serve', 'model', '--handler', 'inference.ts', '--port', String(port)];
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: work, env: environment() });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  while (!text.includes('it answers') && child.exitCode === null) await sleep(100);
  child.kill('SIGINT');
  await once(child, 'close');
  const lines = text.trimEnd().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const url = `http://127.0.0.1:${port}`;
  expect(entries).toContainEqual(
    expect.objectContaining({
      level: 'info',
      source: 'sagemaker-tfs',
      url,
      modelServer: 'local-model-server',
      playground: `${url}/`,
      msg: expect.stringContaining(`Serving on ${url} with local-model-server`),
    }),
  );
  expect(text).not.toContain('\x1b');
  expect(text).not.toContain(`${temporary}/sagemaker-tfs-model`);
  expect(text).toContain('"handler":"/opt/ml/model/code/inference.mjs"');
  expect(left()).toEqual([]);
});

test.each([
  ['model', ''],
  ['model', '2>&1'],
  // The runtime is then killed, as it hears no signal.
  ['model --handler blocking.ts', '2>&1'],
])('serve %s ends, and cleans up, when nobody reads it %s', async (what, both) => {
  const port = await freePort();
  const line = `'${process.execPath}' '${PROGRAM}' serve ${what} --port ${port} ${both} | head -n 1`;
  const stderr = await inShell(line);
  expect(stderr).not.toContain('EPIPE');
  expect(stderr).not.toContain('sagemaker-tfs: interrupted by');
  expect(left()).toEqual([]);
});
