/** One job at a time below an output prefix: commands that are repeated, at once or later, in every state of the job before. */
import { createHash } from 'node:crypto';
import { TEST_CREDENTIALS } from '../../../../test/rehearse/moto.ts';
import { type S3StandIn, startS3 } from '../../../../test/stacks/s3-stand-in.ts';
import { sagemakerTfs } from '../test-support.ts';
import { type SageMakerStandIn, startService } from './sagemaker-stand-in.ts';

jest.setTimeout(120_000);

const LEASE = 'tiles/out/_shards/lease.json';
const MODEL = {
  ExecutionRoleArn: 'arn:aws:iam::123456789012:role/model',
  PrimaryContainer: {
    Image: '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1',
    ModelDataUrl: 's3://models/model.tar.gz',
  },
};

let s3: S3StandIn;
let sagemaker: SageMakerStandIn;
/** States of jobs by their names. */
let jobs: Map<string, string>;
/** Answers a call instead, where it returns something. */
let instead: (operation: string, input: unknown) => object | undefined;

beforeEach(async () => {
  s3 = await startS3(50);
  s3.now = Date.now();
  for (const name of ['a.csv', 'b.csv']) s3.objects.set(`tiles/in/${name}`, Buffer.from('1'));
  jobs = new Map();
  instead = () => undefined;
  sagemaker = await startService((operation, input) => {
    const answer = instead(operation, input);
    if (answer) return answer;
    if (operation === 'DescribeModel') return MODEL;
    const { TransformJobName, ProcessingJobName } = input as Record<string, string>;
    const name = TransformJobName ?? ProcessingJobName ?? '';
    if (operation.startsWith('Create')) {
      jobs.set(name, 'InProgress');
      return {};
    }
    const status = jobs.get(name);
    return status === undefined
      ? { __type: 'ValidationException', message: 'Could not find requested job' }
      : { TransformJobStatus: status, ProcessingJobStatus: status };
  });
});
afterEach(() => Promise.all([s3.close(), sagemaker.close()]));

async function start(...more: string[]) {
  const { stdout } = await sagemakerTfs(
    [
      ...['batch', 'start', '--model-name', 'tiles', '--content-type', 'text/csv', '--json'],
      ...['--input-uri', 's3://tiles/in/', '--output-uri', 's3://tiles/out/', ...more],
    ],
    { ...TEST_CREDENTIALS, AWS_ENDPOINT_URL: sagemaker.url, AWS_ENDPOINT_URL_S3: s3.url },
  );
  return JSON.parse(stdout) as Record<string, unknown>;
}

const IN_USE = (error: string) => ({ code: 'OUTPUTS_IN_USE', error });
const lease = () => JSON.parse(String(s3.objects.get(LEASE))) as Record<string, unknown>;

describe.each([
  ['transform', 'the transform job first', ''],
  ['processing', 'the Processing job first', ' --engine processing'],
])('a job of --engine %s', (engine, holder, option) => {
  const again = (...more: string[]) => start('--engine', engine, ...more);

  test('that works keeps out every other start, and what they would write down', async () => {
    expect(await again('--job-name', 'first')).toMatchObject({ started: true });
    const others = [[], ['--job-name', 'first'], ['--accept', 'text/csv']];
    if (engine === 'transform') others.push(['--missing-only']);
    const before = new Map(s3.objects);
    for (const more of others) {
      const refusal = IN_USE(
        `${holder} writes to s3://tiles/out/. Follow it with sagemaker-tfs batch watch first${option}, stop it with sagemaker-tfs batch stop first${option}, or give another --output-uri.`,
      );
      expect(await again(...more)).toMatchObject(refusal);
    }
    jobs.set('first', 'Stopping');
    expect(await start()).toMatchObject({ code: 'OUTPUTS_IN_USE' });
    expect([...jobs.keys()]).toEqual(['first']);
    expect(new Map(s3.objects)).toEqual(before);
    expect(await again('--output-uri', 's3://tiles/other/')).toMatchObject({ started: true });
  });

  test.each(['Completed', 'Failed', 'Stopped'])(
    'that is %s is followed by the next',
    async (status) => {
      await again('--job-name', 'first');
      jobs.set('first', status);
      expect(await again('--job-name', 'second')).toMatchObject({ started: true });
      expect(lease()).toMatchObject({ job: { type: engine, name: 'second' }, returned: false });
      expect(await start()).toMatchObject({ code: 'OUTPUTS_IN_USE' });
    },
  );

  test('is one of several that are started at once', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const results = await Promise.all(names.map((name) => again('--job-name', name)));
    expect(results.filter(({ started }) => started)).toHaveLength(1);
    expect(results.filter(({ code }) => code === 'OUTPUTS_IN_USE')).toHaveLength(3);
    expect(jobs.size).toBe(1);
  });

  test('that SageMaker refuses holds nothing', async () => {
    instead = (operation) =>
      operation.startsWith('Create') ? { __type: 'ResourceInUse', message: 'taken' } : undefined;
    expect(await again()).toMatchObject({ awsError: 'ResourceInUse' });
    expect(lease()).toMatchObject({ returned: true });
    instead = () => undefined;
    expect(await again()).toMatchObject({ started: true });
  });

  test('that was never made is waited for as long as it may come', async () => {
    leave({ job: { type: engine, name: 'first', region: 'us-east-1', start: 's' } });
    expect(await again()).toMatchObject(
      IN_USE(
        `${holder} is about to write to s3://tiles/out/: another start makes it, or was interrupted. Try again in 5 minutes, or give another --output-uri.`,
      ),
    );
    s3.modified.set(LEASE, Date.now() - 310_000);
    expect(await again()).toMatchObject({ started: true });
  });

  test.each([
    ['is of another region', 'eu-west-1', 'region eu-west-1 is another one.'],
    ['is hidden', 'us-east-1', 'not authorized.'],
  ])('that %s keeps others out, who learn how to continue', async (_, region, why) => {
    leave({ job: { type: engine, name: 'first', region, start: 's' } });
    instead = (operation) =>
      /^Describe.*Job$/.test(operation)
        ? { __type: 'AccessDeniedException', message: 'not authorized' }
        : undefined;
    expect(await again()).toMatchObject(
      IN_USE(
        `the lease s3://${LEASE} is that of ${holder}, which cannot be looked at: ${why} Wait for its end; if it has ended, delete the lease.`,
      ),
    );
    s3.objects.delete(LEASE);
    expect(await again()).toMatchObject({ started: true });
  });

  test('on its next instance type is not made if another start has taken over', async () => {
    const other = { type: 'transform', name: 'other', region: 'us-east-1', start: 's' };
    instead = (operation) => {
      if (!operation.startsWith('Create')) return undefined;
      leave({ job: other });
      return { __type: 'ResourceLimitExceeded', message: 'the limit is 0 Instances' };
    };
    const types = ['--instance-type', 'ml.m5.xlarge', '--fallback-instance-type', 'ml.g5.xlarge'];
    expect(await again(...types)).toMatchObject({
      code: 'OUTPUTS_IN_USE',
      error: expect.stringContaining('the transform job other writes'),
    });
    expect(sagemaker.calls.filter((name) => name.startsWith('Create'))).toHaveLength(1);
    expect(lease()).toMatchObject({ job: other });
  });
});

test('a file that is no lease, and one that was returned, keep nobody out', async () => {
  s3.objects.set(LEASE, Buffer.from('{"execution": 7}'));
  expect(await start('--job-name', 'first')).toMatchObject({ started: true });
  leave({ execution: 'arn:aws:states:eu-west-1:2:execution:m:x', returned: true });
  expect(await start('--job-name', 'second')).toMatchObject({ started: true });
});

describe('a job that an execution has left behind', () => {
  const EXECUTION = 'arn:aws:states:us-east-1:2:execution:m:x';
  const digits = (text: string, count: number) =>
    createHash('sha256').update(text).digest('hex').slice(0, count);
  const JOB = `m-${digits('r', 8)}-${digits(EXECUTION, 12)}-${digits('1', 14)}`;
  /** With the job in this state. */
  const knowing = (status: string) => (operation: string, input: unknown) => {
    if (operation === 'DescribeExecution') return { executionArn: EXECUTION, status: 'FAILED' };
    if (operation !== 'ListTransformJobs') return undefined;
    const { StatusEquals } = input as Record<string, string>;
    const TransformJobSummaries = status === StatusEquals ? [{ TransformJobName: JOB }] : [];
    return { TransformJobSummaries };
  };
  beforeEach(() => leave({ execution: EXECUTION, returned: false }));

  test.each(['InProgress', 'Stopping'])('and that is %s keeps others out', async (status) => {
    instead = knowing(status);
    expect(await start()).toMatchObject(
      IN_USE(
        `the transform job ${JOB} of ${EXECUTION}, which has ended, still writes to s3://tiles/out/. Wait for its end, stop it with sagemaker-tfs batch stop ${JOB}, or give another --output-uri.`,
      ),
    );
    expect(await start('--output-uri', 's3://tiles/out/a/')).toMatchObject(
      IN_USE(expect.stringContaining('still writes to s3://tiles/out/, above')),
    );
  });

  test('and that has ended keeps nobody out', async () => {
    instead = knowing('Stopped');
    expect(await start()).toMatchObject({ started: true });
  });

  test('and that nobody may list keeps others out, who learn how to continue', async () => {
    instead = (operation, input) =>
      operation === 'ListTransformJobs'
        ? { __type: 'AccessDeniedException', message: 'no sagemaker:ListTransformJobs' }
        : knowing('Stopped')(operation, input);
    expect(await start()).toMatchObject(
      IN_USE(expect.stringContaining('cannot be looked at: no sagemaker:ListTransformJobs')),
    );
  });
});

describe('a job that works', () => {
  const OTHER = 's3://tiles/out/2026/';
  const folders = ['', '2026/', '2026/a/b/c/', 'z/'];
  beforeEach(() => {
    for (const folder of folders) s3.objects.set(`tiles/out/${folder}x.out`, Buffer.from('1'));
  });

  test.each([
    ['in a folder above', OTHER, 's3://tiles/out/2026/a/b/', 'above'],
    ['in the bucket itself', 's3://tiles', OTHER, 'above'],
    ['in a folder right below', OTHER, 's3://tiles/out/', 'below'],
  ])('%s is seen', async (_, outputs, others, side) => {
    s3.objects.set('inputs/a.csv', Buffer.from('1'));
    const first = ['--job-name', 'first', '--input-uri', 's3://inputs/', '--output-uri', outputs];
    expect(await start(...first)).toMatchObject({ started: true });
    const again = () => start('--output-uri', others);
    const slash = outputs.replace(/\/?$/, '/');
    expect(await again()).toMatchObject(
      IN_USE(expect.stringContaining(`job first writes to ${slash}, ${side} ${others}. Follow`)),
    );
    const place = `${others.slice('s3://'.length)}_shards/lease.json`;
    expect(JSON.parse(String(s3.objects.get(place)))).toMatchObject({ returned: true });
    jobs.set('first', 'Completed');
    expect(await again()).toMatchObject({ started: true });
  });

  test.each([
    ['deeper below them', `${OTHER}a/b/`, OTHER],
    ['in a folder of the runs', OTHER, `${OTHER}_shards/probe/1/out/`],
  ])("%s is in nobody's way", async (_, outputs, others) => {
    expect(await start('--output-uri', outputs)).toMatchObject({ started: true });
    expect(await start('--output-uri', others)).toMatchObject({ started: true });
  });

  test('above is not seen by one who may not look there', async () => {
    expect(await start('--output-uri', OTHER)).toMatchObject({ started: true });
    const others = `${OTHER}a/`;
    s3.fail = (_, path) => (path.includes('2026/a/') ? undefined : 'AccessDenied');
    const input = ['--input-uri', `s3://tiles/out/2026/a/b/`];
    expect(await start('--output-uri', others, ...input)).toMatchObject({ started: true });
  });

  test('below, or is to come there, keeps no workers of AWS Batch company', async () => {
    leave({ job: { type: 'transform', name: 'n', region: 'us-east-1', start: 's' } });
    const { stdout } = await workers('s3://tiles/');
    expect(JSON.parse(stdout)).toMatchObject(
      IN_USE(expect.stringContaining('is about to write to s3://tiles/out/, below s3://tiles/')),
    );
  });
});

test('a start with nothing to do returns the lease', async () => {
  await start('--job-name', 'first');
  jobs.set('first', 'Completed');
  for (const name of ['a', 'b']) s3.objects.set(`tiles/out/${name}.csv.out`, Buffer.from('1'));
  expect(await start('--missing-only')).toEqual({ started: false, missing: 0 });
  expect(lease()).toMatchObject({ returned: true });
});

/** As another start, or a run, has left it. */
function leave(what: object): void {
  s3.objects.set(LEASE, Buffer.from(JSON.stringify(what)));
  s3.modified.set(LEASE, Date.now());
}

/** Starts workers of AWS Batch. */
function workers(outputUri = 's3://tiles/out/', definition = 'd') {
  return sagemakerTfs(
    [
      ...['batch', 'start', '--engine', 'batch', '--job-queue', 'q', '--instance-count', '2'],
      ...['--job-definition', definition, '--json'],
      ...(outputUri === '' ? [] : ['--output-uri', outputUri]),
    ],
    { ...TEST_CREDENTIALS, AWS_ENDPOINT_URL: sagemaker.url, AWS_ENDPOINT_URL_S3: s3.url },
  );
}

describe('workers of AWS Batch', () => {
  const submitted = () => sagemaker.calls.filter((call) => call === 'submitjob').length;

  test('are not started beside a job of SageMaker, and are after its end', async () => {
    expect(await start('--job-name', 'first')).toMatchObject({ started: true });
    const held = await workers();
    expect(JSON.parse(held.stdout)).toMatchObject(
      IN_USE(expect.stringContaining('the transform job first writes to s3://tiles/out/')),
    );
    expect([held.exitCode, submitted()]).toEqual([1, 0]);
    jobs.set('first', 'Completed');
    instead = (operation) =>
      operation === 'submitjob' ? { jobArn: 'arn', jobId: 'id', jobName: 'n' } : undefined;
    expect(JSON.parse((await workers()).stdout)).toMatchObject({ started: true, jobId: 'id' });
    expect(submitted()).toBe(1);
  });

  const ARN = 'arn:aws:batch:us-east-1:123456789012:job-definition/tiles';
  const revisionOf = (revision: number, output: string) => ({
    ...{ jobDefinitionName: 'tiles', revision, parameters: { output } },
    containerProperties: { command: ['batch-worker', '--output', 'Ref::output'] },
  });

  test.each([
    ['by name', 'tiles', { jobDefinitionName: 'tiles', status: 'ACTIVE' }],
    ['by ARN', ARN, { jobDefinitionName: 'tiles', status: 'ACTIVE' }],
    ['with its revision', `${ARN}:3`, { jobDefinitions: [`${ARN}:3`] }],
  ])('without a place take that of their definition, %s', async (_, definition, asked) => {
    leave({ execution: 'arn:aws:states:eu-west-1:2:execution:m:x', returned: false });
    const looks: unknown[] = [];
    instead = (operation, input) => {
      if (operation !== 'describejobdefinitions') return undefined;
      looks.push(input);
      const all = [revisionOf(2, 's3://tiles/old/'), revisionOf(3, 's3://tiles/out/')];
      return { jobDefinitions: 'jobDefinitions' in asked ? all.slice(1) : all };
    };
    const { exitCode, stdout } = await workers('', definition);
    expect(JSON.parse(stdout)).toMatchObject({ code: 'OUTPUTS_IN_USE' });
    expect([exitCode, submitted(), looks]).toEqual([1, 0, [asked]]);
  });

  test('that give signs of life keep jobs out, and no longer once they are silent', async () => {
    const folder = 'tiles/out/_worker/lease/';
    for (const [name, text] of [
      ['000000.json', '{"run":"old"}'],
      ['000001.json', '{"run":"id-1"}'],
      ['000001.alive', ''],
    ] as const) {
      s3.objects.set(folder + name, Buffer.from(text));
      s3.modified.set(folder + name, Date.now() - (name.endsWith('.alive') ? 20_000 : 900_000));
    }
    for (const engine of ['transform', 'processing']) {
      expect(await start('--engine', engine)).toMatchObject(
        IN_USE(expect.stringContaining('write to s3://tiles/out/: those of the job id-1. Follow')),
      );
    }
    expect(s3.objects.has(LEASE)).toBe(false);
    s3.modified.set(`${folder}000001.alive`, Date.now() - 181_000);
    expect(await start()).toMatchObject({ started: true });
  });

  test('are started with a remark if their definition cannot be read', async () => {
    instead = (operation) =>
      operation === 'submitjob'
        ? { jobArn: 'arn', jobId: 'id', jobName: 'n' }
        : { __type: 'AccessDeniedException', message: 'no' };
    const { exitCode, stderr } = await workers('', 'tiles');
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining('the job definition tiles cannot be read'),
    ]);
  });

  test('are started with a remark if the lease cannot be read', async () => {
    instead = () => ({ jobArn: 'arn', jobId: 'id', jobName: 'n' });
    s3.fail = () => 'AccessDenied';
    const { exitCode, stderr } = await workers();
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining('_shards/lease.json cannot be read'),
    ]);
  });
});
