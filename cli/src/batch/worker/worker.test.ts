/** `batch worker` as a process, against an S3 with generated objects. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { PARTS_FOLDER } from '@sagemaker-tfs/batch';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { fixtureModel } from '../../../../test/fixtures/index.ts';
import { type GeneratedS3, startGeneratedS3 } from '../../../../tools/generated-s3.ts';
import { commandOf, processTree } from '../../../../tools/process-stats.ts';
import { uniform } from '../../bench/random.ts';
import { type Outcome, ROOT, sagemakerTfs } from '../test-support.ts';

const COUNT = 600;
const BAD = new Set([17, 300]);
const keyOf = (index: number) =>
  `in/${index < 300 ? 'a b+%' : 'ü'}/${String(index).padStart(4, '0')}.json`;
const bodyOf = (index: number) =>
  Buffer.from(BAD.has(index) ? '{"instances": ["no number"]}' : `{"instances": [${index}]}`);
const MODEL = fixtureModel('half_plus_two').basePath;
const PROGRAM = join(ROOT, 'cli/bin/sagemaker-tfs.js');

jest.setTimeout(300_000);

const work = mkdtempSync(join(tmpdir(), 'batch-worker-'));
let s3: GeneratedS3;
/** What the others are compared with. */
let plain: Outcome;
beforeAll(async () => {
  s3 = await startGeneratedS3({ tiles: { count: COUNT, keyOf, bodyOf } }, 100);
  plain = await run('plain');
});
afterEach(() => {
  s3.fail = undefined;
});
afterAll(async () => {
  await s3?.close();
});

const lineOf = (output: string, ...more: string[]) => [
  // Of an option that is given twice the last counts.
  ...['batch', 'worker', '--input', 's3://tiles/in/', '--output', `s3://out/${output}/`],
  ...['--model', MODEL, '--content-type', 'application/json', '--json', '--part-keys', '20'],
  ...more,
];
const run = (output: string, ...more: string[]) =>
  sagemakerTfs(lineOf(output, ...more), s3.environment);

/** A command that can be killed, with everything that it has started. */
function start(output: string, ...more: string[]): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...lineOf(output, ...more)], {
    env: { ...process.env, ...s3.environment },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
}

function kill(child: ChildProcess): void {
  process.kill(-(child.pid as number), 'SIGKILL');
}

/** Bodies of the objects below an output prefix, by their keys there. */
function written(output: string): Map<string, string> {
  const objects = [...(s3.stored.get('out') ?? [])].filter(([key]) => key.startsWith(`${output}/`));
  return new Map(
    objects.map(([key, { body }]) => [key.slice(output.length + 1), Buffer.from(body).toString()]),
  );
}

/** The lines of all parts, sorted. */
function lines(output: string): string[] {
  return [...written(output)]
    .filter(([key]) => key.startsWith(PARTS_FOLDER))
    .flatMap(([, body]) => body.split('\n').filter(Boolean))
    .sort();
}

interface Line {
  readonly key: string;
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}
const parsed = (output: string) => lines(output).map((line) => JSON.parse(line) as Line);
const parts = (output: string) =>
  [...written(output).keys()].filter((key) => key.startsWith(PARTS_FOLDER)).length;
const until = async (condition: () => boolean, child: ChildProcess) => {
  while (!condition() && child.exitCode === null && child.signalCode === null) await sleep(2);
};

test('answers are those of a plain job, byte for byte; errors have their reason', async () => {
  expect(plain.exitCode).toBe(0);
  expect(JSON.parse(plain.stdout)).toMatchObject({ answers: COUNT - BAD.size, failures: BAD.size });
  const folder = join(work, 'in');
  for (let index = 0; index < COUNT; index++) {
    const path = join(work, keyOf(index));
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, bodyOf(index));
  }
  const [out, file] = [join(work, 'out'), join(work, 'answers.ndjson')];
  await sagemakerTfs([
    ...['batch', 'local', folder, '--out', out, '--model', MODEL],
    ...['--content-type', 'application/json'],
  ]);
  await sagemakerTfs(['batch', 'fetch', out, '--out', file]);
  const fetched = (await readFile(file, 'utf8')).split('\n').filter(Boolean).sort();
  expect(fetched).toHaveLength(COUNT - BAD.size);
  expect(lines('plain').filter((line) => !line.includes('"error"'))).toEqual(fetched);
  const failed = parsed('plain').filter(({ error }) => error !== undefined);
  expect(failed.map(({ key, error }) => [key, error?.code])).toEqual(
    [...BAD].map((index) => [keyOf(index).slice('in/'.length), 'BAD_INPUT']),
  );
});

test('verify compares the keys of the parts with the inputs', async () => {
  const redrive = join(work, 'redrive.manifest');
  const verify = async (input: string) => {
    const { exitCode, stdout } = await sagemakerTfs(
      [
        ...['batch', 'verify', '--input-uri', input, '--output-uri', 's3://out/plain/'],
        ...['--redrive', redrive, '--json'],
      ],
      s3.environment,
    );
    return { exitCode, ...(JSON.parse(stdout) as object) };
  };
  expect(await verify('s3://tiles/in/')).toMatchObject({
    exitCode: 1,
    inputs: COUNT,
    done: COUNT - BAD.size,
    missing: BAD.size,
    failures: { BAD_INPUT: BAD.size },
  });
  const [head, ...keys] = JSON.parse(await readFile(redrive, 'utf8')) as unknown[];
  expect(head).toEqual({ prefix: 's3://tiles/in/' });
  expect(keys.sort()).toEqual([...BAD].map((index) => keyOf(index).slice('in/'.length)));
  // A part that is lost is seen, too.
  const objects = s3.stored.get('out');
  const [key, part] = [...(objects ?? [])].find(([name]) => name.startsWith('plain/parts/')) ?? [];
  objects?.delete(key as string);
  const lost =
    Buffer.from(part?.body ?? '')
      .toString()
      .split('\n').length - 1;
  expect(lost).toBeGreaterThan(0);
  expect(await verify('s3://tiles/in/')).toMatchObject({
    missing: BAD.size + lost - (Buffer.from(part?.body ?? '').includes('"error"') ? 1 : 0),
  });
  objects?.set(key as string, part as never);
  expect(await verify('s3://tiles/')).toMatchObject({ exitCode: 1, code: 'OTHER_RUN' });
});

test('verify refuses a place without inputs, unless that may be', async () => {
  const verify = (...more: string[]) =>
    sagemakerTfs(
      [
        ...['batch', 'verify', '--input-uri', 's3://tiles/no/', '--output-uri', 's3://out/no/'],
        ...['--redrive', join(work, 'no.manifest'), '--json', ...more],
      ],
      s3.environment,
    );
  const refused = await verify();
  expect([refused.exitCode, JSON.parse(refused.stdout)]).toMatchObject([
    2,
    { code: 'INPUT_EMPTY' },
  ]);
  expect((await verify('--allow-empty')).exitCode).toBe(0);
});

describe('a manifest as input', () => {
  const again = [17, 299, 300, 599];
  const names = again.map((index) => keyOf(index).slice('in/'.length));
  const put = (keys: readonly string[]) => {
    const body = Buffer.from(JSON.stringify([{ prefix: 's3://tiles/in/' }, ...keys]));
    s3.stored.get('out')?.set('again.manifest', { body, modified: 0, metadata: {} });
  };
  const MANIFEST = ['--input', 's3://out/again.manifest', '--ranges', '3'];

  test('exactly its inputs are answered, and a run that continues does nothing twice', async () => {
    put([...names, 'deleted.json']);
    const first = await run('again', ...MANIFEST);
    expect([first.exitCode, JSON.parse(first.stdout)]).toMatchObject([
      0,
      { answers: 2, failures: 2, gone: 0, ranges: 3, done: 3, now: 4 },
    ]);
    const wanted = lines('plain').filter((line) => names.includes((JSON.parse(line) as Line).key));
    expect(wanted).toHaveLength(again.length);
    expect(lines('again')).toEqual(wanted);
    const second = await run('again', ...MANIFEST);
    expect(JSON.parse(second.stdout)).toMatchObject({ answers: 2, failures: 2, now: 0 });
  });

  test('verify and fetch know its inputs', async () => {
    const verified = await sagemakerTfs(
      [
        ...['batch', 'verify', '--input-uri', 's3://out/again.manifest'],
        ...['--output-uri', 's3://out/again/', '--redrive', join(work, 'left'), '--json'],
      ],
      s3.environment,
    );
    expect(JSON.parse(verified.stdout)).toMatchObject({ inputs: 4, done: 2, missing: 2 });
    const file = join(work, 'again.ndjson');
    await sagemakerTfs(['batch', 'fetch', 's3://out/again/', '--out', file], s3.environment);
    expect(JSON.parse(await readFile(`${file}.redrive.manifest`, 'utf8'))).toEqual([
      { prefix: 's3://tiles/in/' },
      ...[...BAD].map((index) => keyOf(index).slice('in/'.length)),
    ]);
  });

  test('another list under the same name is another run', async () => {
    put(names.slice(1));
    const { exitCode, stdout } = await run('again', ...MANIFEST);
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([1, { code: 'OTHER_RUN' }]);
  });

  test('a text that is no manifest is refused', async () => {
    s3.stored
      .get('out')
      ?.set('again.manifest', { body: Buffer.from('{}'), modified: 0, metadata: {} });
    const { exitCode, stdout } = await run('no-manifest', ...MANIFEST);
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([1, { code: 'MANIFEST_INVALID' }]);
  });
});

test('fetch of a run that is not complete says so, and begins no folder that would lack the rest', async () => {
  const out = s3.stored.get('out') as Map<string, never>;
  for (const [key, object] of [...out]) {
    if (key.startsWith('plain/')) out.set(key.replace('plain/', 'half/'), object);
  }
  const done = [...out.keys()].filter((key) => key.startsWith('half/_worker/done/'));
  const ranges = done.length;
  out.delete(done[0] as string);
  const fetch = (...more: string[]) =>
    sagemakerTfs(['batch', 'fetch', 's3://out/half/', ...more, '--json'], s3.environment);
  const file = join(work, 'half.ndjson');
  const report = await fetch('--out', file);
  expect(report.exitCode).toBe(1);
  expect(JSON.parse(report.stdout)).toMatchObject({
    code: 'BATCH_INCOMPLETE',
    error: expect.stringContaining(`1 of ${ranges} ranges of keys are not done`),
  });
  expect((await readFile(file, 'utf8')).split('\n').filter(Boolean)).toHaveLength(COUNT);
  const folder = join(work, 'half-parts');
  expect(await fetch('--out', folder, '--part-keys', '100')).toMatchObject({ exitCode: 1 });
  await expect(readFile(folder)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('fetch joins the parts, errors included', async () => {
  const fetch = async (file: string) => {
    const args = ['batch', 'fetch', 's3://out/plain/', '--out', join(work, file), '--json'];
    const { stdout } = await sagemakerTfs(args, s3.environment);
    return JSON.parse(stdout) as object;
  };
  expect(await fetch('parts.ndjson')).toMatchObject({
    outputs: COUNT,
    answers: COUNT - BAD.size,
    errors: BAD.size,
  });
  const text = await readFile(join(work, 'parts.ndjson'), 'utf8');
  expect(text.split('\n').filter(Boolean).sort()).toEqual(lines('plain'));
  await fetch('parts.parquet');
  const rows = await parquetReadObjects({
    file: await asyncBufferFromFile(join(work, 'parts.parquet')),
  });
  expect(rows).toHaveLength(COUNT);
  const failed = rows.filter(({ error }) => error !== null && error !== undefined);
  expect(failed.map(({ error }) => (JSON.parse(String(error)) as { code: string }).code)).toEqual(
    [...BAD].map(() => 'BAD_INPUT'),
  );
});

test('kill -9 again and again: the same parts as without, and nothing twice', async () => {
  const random = uniform(7);
  let killed = 0;
  for (let round = 1; round <= 8; round++) {
    const child = start('cut');
    const moment = parts('cut') + Math.floor(random() * 6);
    await until(() => parts('cut') > moment, child);
    await sleep(random() * 20);
    if (child.exitCode === null) {
      kill(child);
      killed++;
      await once(child, 'close');
    }
  }
  expect(killed).toBeGreaterThan(3);
  const { exitCode, stdout } = await run('cut');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ answers: COUNT - BAD.size, failures: BAD.size });
  const answers = (output: string) =>
    [...written(output)].filter(([key]) => key.startsWith(PARTS_FOLDER)).sort();
  expect(answers('cut')).toEqual(answers('plain'));
});

test('SIGTERM: what is done is written, and the next run continues', async () => {
  const child = start('term', '--reads', '4');
  await until(() => parts('term') > 2, child);
  child.kill('SIGTERM');
  const [, [exitCode]] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    once(child, 'close'),
  ]);
  expect(exitCode).toBe(1);
  const before = lines('term').length;
  expect(before).toBeLessThan(COUNT);
  const { stdout } = await run('term');
  const report = JSON.parse(stdout) as { answers: number; failures: number; now: number };
  expect(report.answers + report.failures).toBe(COUNT);
  expect(report.now).toBe(COUNT - before);
  expect(lines('term')).toEqual(lines('plain'));
});

test('a command that is killed leaves no worker behind', async () => {
  const child = start('orphan', '--reads', '4');
  await until(() => parts('orphan') > 1, child);
  const [, ...others] = processTree(child.pid as number);
  expect(others.length).toBeGreaterThan(0);
  child.kill('SIGKILL');
  await once(child, 'close');
  while (others.some((pid) => commandOf(pid) !== '')) await sleep(20);
  expect(lines('orphan').length).toBeLessThan(COUNT);
  expect((await run('orphan')).exitCode).toBe(0);
  expect(lines('orphan')).toEqual(lines('plain'));
});

test('two workers share the ranges', async () => {
  const both = await Promise.all([
    run('shared', '--share', '1/2'),
    run('shared', '--share', '2/2'),
  ]);
  expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  const [one, two] = both.map(({ stdout }) => JSON.parse(stdout) as { now: number });
  expect((one?.now ?? 0) * (two?.now ?? 0)).toBeGreaterThan(0);
  expect(lines('shared')).toEqual(lines('plain'));
});

test('a share without a range says so', async () => {
  expect((await run('few', '--ranges', '2', '--share', '1/4')).stderr).not.toContain('falls to');
  const { stdout, stderr, exitCode } = await run('few', '--share', '4/4');
  expect([exitCode, (JSON.parse(stdout) as { ranges: number }).ranges]).toEqual([0, 0]);
  expect(stderr).toContain('None of the ranges of this run falls to this worker');
});

test('another worker at the same range: one of them says so, and nothing is lost or twice', async () => {
  const both = await Promise.all([run('same', '--ranges', '1'), run('same', '--ranges', '1')]);
  const codes = both.map(({ stdout }) => (JSON.parse(stdout) as { code?: string }).code);
  expect(codes).toContain(undefined);
  for (const code of codes) expect([undefined, 'OTHER_WORKER']).toContain(code);
  expect((await run('same')).exitCode).toBe(0);
  expect(lines('same')).toEqual(lines('plain'));
});

test('a second job of AWS Batch is refused while the first writes, and continues its work once it is dead', async () => {
  const asJob = (job: string) =>
    sagemakerTfs(lineOf('leased'), { ...s3.environment, AWS_BATCH_JOB_ID: job });
  const first = spawn(process.execPath, [PROGRAM, ...lineOf('leased')], {
    env: { ...process.env, ...s3.environment, AWS_BATCH_JOB_ID: 'first:0' },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  await until(() => parts('leased') > 2, first);
  const ended = once(first, 'exit');
  kill(first);
  await ended;
  const out = s3.stored.get('out') as Map<string, { body: Uint8Array; modified: number }>;
  const seenAt = (modified: number) => {
    for (const [key, file] of out) {
      if (key.startsWith('leased/_worker/lease/')) out.set(key, { ...file, modified });
    }
  };
  // Another child of the first, on another machine.
  const child = setInterval(() => seenAt(Date.now()), 500);
  const refused = await asJob('second:0');
  clearInterval(child);
  expect(refused.exitCode).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    code: 'ALREADY_RUNNING',
    error: expect.stringContaining('first'),
  });
  seenAt(Date.now() - 600_000);
  expect((await asJob('second:0')).exitCode).toBe(0);
  expect(lines('leased')).toEqual(lines('plain'));
});

test('S3 under load, connections that break, objects that are deleted or forbidden', async () => {
  const random = uniform(11);
  const [deleted, forbidden] = [keyOf(40), keyOf(41)];
  let gets = 0;
  s3.fail = (method, _bucket, key) => {
    // All reads at once are refused, twice: more than the SDK's own quota of retries.
    if (method === 'GET' && key.startsWith('in/') && ++gets <= 2 * 256) return 503;
    if (key === deleted) return 404;
    if (key === forbidden) return 403;
    const chance = random();
    if (method === 'GET' && chance < 0.1) return 0;
    return chance > 0.95 ? 503 : undefined;
  };
  const { exitCode, stdout } = await run('trouble', '--ranges', '1');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ gone: 1, failures: BAD.size + 1 });
  const name = (key: string) => key.slice('in/'.length);
  expect(parsed('trouble').find(({ key }) => key === name(forbidden))?.error?.code).toBe(
    'FORBIDDEN',
  );
  const others = (line: string) => !line.includes('/0040.') && !line.includes('/0041.');
  expect(lines('trouble').filter(others)).toEqual(lines('plain').filter(others));
});

test('few inputs that all fail are no success, in one process or found done by the next', async () => {
  const few = [
    'all-bad',
    '--key-suffix',
    '00.json',
    '--content-type',
    'application/x-image',
  ] as const;
  const tolerant = await run(...few, '--max-failure-percent', '100');
  expect(JSON.parse(tolerant.stdout)).toMatchObject({ answers: 0, failures: 6 });
  expect(tolerant.exitCode).toBe(0);
  const again = await run(...few);
  expect([again.exitCode, JSON.parse(again.stdout).code]).toEqual([1, 'WORKER_FAILURES']);
  const [, ...rest] = few;
  const { exitCode, stdout } = await run('all-bad-fresh', ...rest);
  expect([exitCode, JSON.parse(stdout).error]).toEqual([
    1,
    expect.stringMatching(/^6 of 6 inputs failed, .* The last reason: .+ What is written stays/),
  ]);
});

test('other settings, a wrong prefix and many failures are reported', async () => {
  const codeOf = async (...args: Parameters<typeof run>) => {
    const { exitCode, stdout } = await run(...args);
    return [exitCode, (JSON.parse(stdout) as { code: string }).code];
  };
  expect(await codeOf('plain', '--accept', 'text/csv')).toEqual([1, 'OTHER_RUN']);
  expect(await codeOf('none', '--key-suffix', '.JSON')).toEqual([1, 'NOTHING_FOUND']);
  expect(await codeOf('type', '--content-type', 'application/x-image')).toEqual([
    1,
    'WORKER_FAILURES',
  ]);
  expect(await codeOf('usage', '--share', '3/2')).toEqual([2, 'WORKER_USAGE']);
});
