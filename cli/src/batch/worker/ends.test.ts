/** Objects whose handler does not answer, or ends the process of `batch worker` at once or later. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PARTS_FOLDER } from '@sagemaker-tfs/batch';
import { fixtureModel } from '../../../../test/fixtures/index.ts';
import { type GeneratedS3, startGeneratedS3 } from '../../../../tools/generated-s3.ts';
import { commandOf } from '../../../../tools/process-stats.ts';
import { ROOT, sagemakerTfs } from '../test-support.ts';

jest.setTimeout(400_000);

const COUNT = 12;
/** The first, one in the middle, the last. */
const BAD = [0, 6, COUNT - 1];
const nameOf = (index: number) => `${String(index).padStart(4, '0')}.json`;
const work = mkdtempSync(join(tmpdir(), 'batch-worker-ends-'));
let s3: GeneratedS3;
beforeAll(async () => {
  const bodyOf = (index: number) => Buffer.from(BAD.includes(index) ? 'bad' : 'good');
  const keyOf = (index: number) => `in/${nameOf(index)}`;
  s3 = await startGeneratedS3({ tiles: { count: COUNT, keyOf, bodyOf } });
});
afterAll(async () => {
  await s3?.close();
});

/** @param bad what the handler does with a bad object, before it answers as it answers a good one @param slow ms for a good one */
function lineOf(name: string, bad: string, slow: number, ...more: string[]): string[] {
  const handler = join(work, `${name}.ts`);
  writeFileSync(
    handler,
    `import { setTimeout as sleep } from 'node:timers/promises';
    export async function handler(data: Uint8Array) {
      const text = Buffer.from(data).toString();
      if (text === 'bad') { ${bad} } else await sleep(${slow});
      return { text };
    }\n`,
  );
  return [
    ...['batch', 'worker', '--input', 's3://tiles/in/', '--output', `s3://out/${name}/`],
    ...['--model', fixtureModel('half_plus_two').basePath, '--handler', handler],
    ...['--content-type', 'application/json', '--json', '--ranges', '1', ...more],
  ];
}

interface Line {
  readonly key: string;
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The lines of all parts, in the order of the parts. */
function linesOf(name: string): Line[] {
  const start = `${name}/${PARTS_FOLDER}`;
  return [...(s3.stored.get('out') ?? [])]
    .filter(([key]) => key.startsWith(start))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, { body }]) => Buffer.from(body).toString().split('\n').filter(Boolean))
    .map((line) => JSON.parse(line) as Line);
}

/** What became of each object, in the order of the keys: its text, or the code of its error. */
const fateOf = (name: string) =>
  linesOf(name).map(({ key, output, error }) => [
    key,
    error?.code ?? (output as { text: string }).text,
  ]);
const expected = (bad: string) =>
  Array.from({ length: COUNT }, (_, index) => [nameOf(index), BAD.includes(index) ? bad : 'good']);

const LATER = (ms: number) => `setTimeout(() => { throw new Error('later') }, ${ms});`;
const HANG = 'await new Promise(() => undefined);';
const LIMIT = { SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS: '2' };

// Most of their time is the worker's own waits.
test.concurrent.each([
  ['hangs', HANG, 'REQUEST_TIMEOUT', 10, []],
  ['throws-at-once', LATER(0), 'PROCESS_GONE', 10, []],
  // Whatever is asked about meanwhile is still under way.
  ['throws-300-ms-later', LATER(300), 'PROCESS_GONE', 400, []],
  // The answer was good, and another object is under way when the process ends.
  ['throws-3-s-later', LATER(3_000), 'bad', 400, ['--in-flight', '1']],
])('a handler that %s is reported at its own object alone', async (name, bad, fate, slow, more) => {
  const { exitCode, stderr } = await sagemakerTfs(lineOf(name, bad, slow, ...more), {
    ...s3.environment,
    ...LIMIT,
  });
  expect([exitCode, fateOf(name)]).toEqual([0, expected(fate)]);
  expect(stderr.includes('Error: later')).toBe(name !== 'hangs');
});

test.concurrent('a handler whose top level has no end fails the start, and says so', async () => {
  const args = lineOf('endless', '', 0);
  writeFileSync(join(work, 'endless.ts'), 'for (;;);\nexport const handler = () => 1;\n');
  const { exitCode, stderr } = await sagemakerTfs(args, {
    ...s3.environment,
    SAGEMAKER_TFS_WAIT_TIME_SECONDS: '1',
  });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /top level of the handler.* within 1 s \(SAGEMAKER_TFS_WAIT_TIME_SECONDS\)/,
  );
});

test.concurrent('SIGTERM ends a worker whose handler hangs; what is before the object is written', async () => {
  const asked = join(work, 'asked');
  const hang = `(await import('node:fs')).writeFileSync(${JSON.stringify(asked)}, ''); ${HANG}`;
  const args = lineOf('stopped', hang, 10);
  const program = join(ROOT, 'cli/bin/sagemaker-tfs.js');
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...s3.environment },
    stdio: 'ignore',
  });
  while (!existsSync(asked)) await sleep(50);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([1, null]);
  expect(linesOf('stopped')).toEqual([]);
});

test.concurrent('a worker whose command was killed ends within seconds, though its handler hangs', async () => {
  const asked = join(work, 'orphan');
  const hang = `(await import('node:fs')).writeFileSync(${JSON.stringify(asked)}, String(process.pid)); ${HANG}`;
  const program = join(ROOT, 'cli/bin/sagemaker-tfs.js');
  const child = spawn(process.execPath, [program, ...lineOf('orphaned', hang, 10)], {
    env: { ...process.env, ...s3.environment },
    stdio: 'ignore',
  });
  const pid = () => (existsSync(asked) ? readFileSync(asked, 'utf8') : '');
  while (pid() === '') await sleep(50);
  child.kill('SIGKILL');
  const killed = performance.now();
  while (commandOf(Number(pid())) !== '') await sleep(50);
  // SIGTERM alone leaves it 20 s for what is under way.
  expect(performance.now() - killed).toBeLessThan(15_000);
});

test.concurrent('--budget-hours ends it too', async () => {
  const args = lineOf('over', HANG, 10, '--budget-hours', '0.002');
  const { exitCode, stdout } = await sagemakerTfs(args, s3.environment);
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([1, { code: 'OVER_BUDGET' }]);
});

test.concurrent('ends that no object is to blame for are given up, and the next run continues', async () => {
  // Each object ends the process when another one is under way.
  const always = lineOf('given-up', '', 0, '--in-flight', '1');
  writeFileSync(
    join(work, 'given-up.ts'),
    `export async function handler(data: Uint8Array) {
      if (!process.env.MENDED) setTimeout(() => process.exit(9), 1_500);
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { text: Buffer.from(data).toString() };
    }\n`,
  );
  const first = await sagemakerTfs(always, s3.environment);
  expect(first.exitCode).toBe(1);
  expect(first.stderr + first.stdout).toContain('a handler must await what it begins');
  const written = fateOf('given-up');
  expect(written.length).toBeGreaterThan(0);
  expect(written).toEqual(expected('bad').slice(0, written.length));
  const second = await sagemakerTfs(always, { ...s3.environment, MENDED: '1' });
  expect([second.exitCode, fateOf('given-up')]).toEqual([0, expected('bad')]);
});
