/** `batch probe` against jobs that our own runtime does, in each layout and with each way to fail. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MANIFEST_BYTES, parseFacts, type TransformFacts } from '@sagemaker-tfs/batch';
import { fixtureModel } from '../../../../../test/fixtures/index.ts';
import { TEST_CREDENTIALS } from '../../../../../test/rehearse/moto.ts';
import { type S3StandIn, startS3 } from '../../../../../test/stacks/s3-stand-in.ts';
import { type RunningRuntime, startRuntime } from '../../../development/serving.ts';
import { ROOT, sagemakerTfs } from '../../test-support.ts';
import { type Behavior, startTransforms } from './transform-stand-in.ts';

jest.setTimeout(120_000);

const work = mkdtempSync(join(tmpdir(), 'probe-'));
const SAMPLE = join(work, 'sample.json');
writeFileSync(SAMPLE, '{"instances": [1]}');
let runtime: RunningRuntime;
const stores: S3StandIn[] = [];

beforeAll(async () => {
  const modelDirectory = fixtureModel('half_plus_two').basePath;
  runtime = await startRuntime({ modelDirectory, log: join(work, 'runtime.log') });
});
afterAll(async () => {
  await Promise.all([runtime?.stop(), ...stores.map((s3) => s3.close())]);
  rmSync(work, { recursive: true, force: true });
});

/** An S3 of one test: they run side by side, as most of their time is the command's waits between two looks. */
async function ownS3(): Promise<S3StandIn> {
  const s3 = await startS3(5);
  stores.push(s3);
  return s3;
}

const AS_ASSUMED: Behavior = {
  outputOf: (key) => `${key}.out`,
  deletedStops: false,
  longestManifest: MANIFEST_BYTES,
  failureStops: false,
  ends: true,
  failures: [],
};
const lineOf = (sample: string) => [
  ...['batch', 'probe', '--model-name', 'm', '--output-uri', 's3://data/answers', '--json'],
  ...['--sample', sample, '--interval', '1'],
];
const FACTS = 'data/answers/_shards/facts.json';

async function probe(behavior: Partial<Behavior>, sample = SAMPLE, fail?: S3StandIn['fail']) {
  const s3 = await ownS3();
  if (fail) s3.fail = fail;
  const transforms = await startTransforms(s3, runtime.url, { ...AS_ASSUMED, ...behavior });
  try {
    const outcome = await sagemakerTfs(lineOf(sample), environmentOf(transforms.url, s3));
    return { ...outcome, jobs: transforms.jobs, calls: transforms.calls, s3 };
  } finally {
    await transforms.close();
  }
}

const environmentOf = (url: string, s3: S3StandIn) => ({
  ...TEST_CREDENTIALS,
  AWS_ENDPOINT_URL: url,
  AWS_ENDPOINT_URL_S3: s3.url,
});

const EXPECTED: TransformFacts = {
  layout: 'key',
  lostNames: [],
  manifestBytes: MANIFEST_BYTES,
  deletedKeyStopsJob: false,
  badInputStopsJob: false,
  emptyIsAnswered: false,
  largeIsAnswered: false,
  startSeconds: 480,
};

test.concurrent.each<[string, Partial<Behavior>, Partial<TransformFacts>, number]>([
  ['as it is assumed', {}, {}, 1],
  [
    'outputs under whole keys',
    { outputOf: (key, root) => `${root}${key}.out` },
    { layout: 'wholeKey' },
    1,
  ],
  [
    'outputs under the last part of the names',
    { outputOf: (key) => `${key.replace(/.*\//, '')}.out` },
    { layout: 'name' },
    1,
  ],
  ['outputs in a place of their own', { outputOf: (key) => `x/${key}` }, { layout: 'unknown' }, 1],
  [
    'names that are encoded',
    { outputOf: (key) => `${encodeURI(key)}.out` },
    { lostNames: ['space', 'percent', 'unicode'] },
    1,
  ],
  [
    'a plus that becomes a space',
    { outputOf: (key) => `${key.replaceAll('+', ' ')}.out` },
    { lostNames: ['plus'] },
    1,
  ],
  ['a deleted input that stops the job', { deletedStops: true }, { deletedKeyStopsJob: true }, 2],
  [
    'a manifest that is too long',
    { longestManifest: 5 * 1024 ** 2 },
    { deletedKeyStopsJob: true, manifestBytes: 1024 ** 2 },
    3,
  ],
  [
    'a bad input that takes all outputs',
    { failureStops: true },
    { deletedKeyStopsJob: true, manifestBytes: 1024 ** 2, badInputStopsJob: true },
    4,
  ],
])('%s', async (_, behavior, facts, jobCount) => {
  const { exitCode, stdout, stderr, jobs, s3 } = await probe(behavior);
  expect([exitCode, stderr.includes('Error')]).toEqual([0, false]);
  const report = JSON.parse(stdout) as { facts: TransformFacts; costUsd: number };
  expect(report.facts).toEqual({ ...EXPECTED, ...facts });
  expect(jobs).toHaveLength(jobCount);
  // Three minutes of ml.m5.xlarge each.
  expect(report.costUsd).toBeCloseTo((jobCount * 0.23 * 3) / 60, 6);
  expect(parseFacts(String(s3.objects.get(FACTS)), FACTS)).toEqual(report.facts);
  // Nothing else is left.
  expect([...s3.objects.keys()]).toEqual([FACTS]);
});

const NO_CAPACITY = 'CapacityError: Unable to provision requested ML compute capacity';

test.concurrent.each([
  [[NO_CAPACITY]],
  [[NO_CAPACITY, 'InternalServerError: We encountered an internal error']],
])('jobs that fail of %j say nothing of the inputs, and are run again', async (failures) => {
  const { exitCode, stdout, jobs } = await probe({ failures });
  expect(exitCode).toBe(0);
  expect(jobs).toHaveLength(1 + failures.length);
  expect((JSON.parse(stdout) as { facts: TransformFacts }).facts).toEqual(EXPECTED);
});

test.concurrent.each<[string, (string | undefined)[], RegExp]>([
  ['without capacity', Array(3).fill(NO_CAPACITY), /Unable to provision.*later/],
  ['that somebody stopped', [undefined], /was stopped from outside/],
  ['whose container never starts', ['CannotStartContainerError'], /CannotStart.*mended/],
])('jobs %s: no facts are kept', async (_, failures, message) => {
  const { exitCode, stdout, stderr, jobs, s3 } = await probe({ failures });
  expect(exitCode).toBe(1);
  expect(stdout + stderr).toMatch(/PROBE_FAILED/);
  expect((stdout + stderr).replace(/\s+/g, ' ')).toMatch(message);
  expect(jobs).toHaveLength(failures.length);
  expect([...s3.objects.keys()]).toEqual([]);
});

test.concurrent('a job whose first answer is lost is looked at as the others', async () => {
  const { exitCode, jobs } = await probe({ loses: true });
  expect({ exitCode, jobs: jobs.length }).toEqual({ exitCode: 0, jobs: 1 });
});

test.concurrent('a job that cannot be looked at is stopped before its inputs are deleted', async () => {
  const { exitCode, stdout, calls, s3 } = await probe({ loses: true, hides: true, ends: false });
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ code: 'JOB_NOT_WATCHED' });
  expect(calls.at(-1)).toBe('StopTransformJob');
  expect([...s3.objects.keys()]).toEqual([]);
});

test.concurrent('the findings say what differs from what is assumed', async () => {
  const { stdout } = await probe({ deletedStops: true });
  const { findings } = JSON.parse(stdout) as { findings: { fact: string; differs: boolean }[] };
  expect(findings).toHaveLength(7);
  expect(findings.filter(({ differs }) => differs)).toEqual([
    {
      fact: 'a key of a deleted object stops the job',
      ...{ assumed: 'no', found: 'yes', differs: true },
    },
  ]);
});

test.concurrent('a model that answers nothing: no facts, and the reason of the job', async () => {
  const sample = join(work, 'no-number.json');
  writeFileSync(sample, '{"instances": ["no number"]}');
  const { exitCode, stderr, stdout, jobs, s3 } = await probe({}, sample);
  expect(exitCode).toBe(1);
  expect(stdout + stderr).toMatch(/PROBE_FAILED/);
  expect(stdout + stderr).toMatch(/none of 4 jobs made an output.*a client error/);
  expect(jobs).toHaveLength(4);
  expect([...s3.objects.keys()]).toEqual([]);
});

test.concurrent('objects that may not be deleted are named', async () => {
  const { exitCode, stdout } = await probe({}, SAMPLE, (method) =>
    method === 'DELETE' ? 'AccessDenied' : undefined,
  );
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    leftUri: expect.stringMatching(/^s3:\/\/data\/answers\/_shards\/probe\/[^/]+\/$/),
  });
});

test.concurrent('an interruption stops the job and removes the objects', async () => {
  const s3 = await ownS3();
  const transforms = await startTransforms(s3, runtime.url, { ...AS_ASSUMED, ends: false });
  try {
    const child = spawn(
      process.execPath,
      [join(ROOT, 'cli/bin/sagemaker-tfs.js'), ...lineOf(SAMPLE)],
      {
        env: { ...process.env, ...environmentOf(transforms.url, s3) },
        stdio: 'ignore',
      },
    );
    while (!transforms.calls.includes('DescribeTransformJob')) await sleep(20);
    child.kill('SIGINT');
    const [exitCode] = await once(child, 'close');
    expect(exitCode).toBe(1);
    expect(transforms.calls).toContain('StopTransformJob');
    expect([...s3.objects.keys()]).toEqual([]);
  } finally {
    await transforms.close();
  }
});
