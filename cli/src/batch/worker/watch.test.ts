/** `batch watch --engine processing|batch`: what a worker has written, and what its job has cost. */
import { S3Client } from '@aws-sdk/client-s3';
import { PARTS_FOLDER } from '@sagemaker-tfs/batch';
import { fixtureModel } from '../../../../test/fixtures/index.ts';
import { problemsOf } from '../../../../test/service-models/validate.ts';
import { type GeneratedS3, startGeneratedS3 } from '../../../../tools/generated-s3.ts';
import { startService } from '../aws/sagemaker-stand-in.ts';
import { watchWorker } from '../aws/watch-worker.ts';
import type { WorkerJob } from '../aws/worker-job.ts';
import { sagemakerTfs } from '../test-support.ts';

jest.setTimeout(120_000);

const COUNT = 120;
/** With text instead of numbers. */
const BAD = new Set([3, 64]);
/** Larger than the model server takes. */
const HUGE = 100;
const OUTPUT = 's3://out/answers/';
const bodyOf = (index: number) => {
  if (index === HUGE) return Buffer.alloc(20_000, ' ');
  return Buffer.from(BAD.has(index) ? '{"instances": ["no number"]}' : `{"instances": [${index}]}`);
};

let s3: GeneratedS3;
beforeAll(async () => {
  const keyOf = (index: number) => `in/${String(index).padStart(3, '0')}.json`;
  s3 = await startGeneratedS3({ tiles: { count: COUNT, keyOf, bodyOf } }, 50);
  const { exitCode } = await sagemakerTfs(
    [
      ...['batch', 'worker', '--input', 's3://tiles/in/', '--output', OUTPUT, '--part-keys', '10'],
      ...['--model', fixtureModel('half_plus_two').basePath, '--content-type', 'application/json'],
    ],
    { ...s3.environment, SAGEMAKER_TFS_MAX_REQUEST_BYTES: '10000' },
  );
  expect(exitCode).toBe(0);
});
afterAll(async () => {
  await s3?.close();
});

const FAILURES = { BAD_INPUT: BAD.size, REQUEST_TOO_LARGE: 1 };

/** Runs `batch watch`; also returns what the service was asked. */
async function watch(answer: (operation: string, input: unknown) => object, ...args: string[]) {
  const asked: [operation: string, input: unknown][] = [];
  const standIn = await startService((operation, input) => {
    asked.push([operation, input]);
    return answer(operation, input);
  });
  try {
    const outcome = await sagemakerTfs(['batch', 'watch', ...args, '--json'], {
      ...s3.environment,
      AWS_ENDPOINT_URL: standIn.url,
    });
    return { ...outcome, asked, told: JSON.parse(outcome.stdout) as Record<string, unknown> };
  } finally {
    await standIn.close();
  }
}

const STARTED = Date.now() - 7_200_000;
const COMMAND = ['batch-worker', '--input', 's3://tiles/in/', '--output', OUTPUT];
const PROCESSING = {
  ProcessingJobStatus: 'Completed',
  AppSpecification: { ContainerArguments: COMMAND },
  ProcessingResources: { ClusterConfig: { InstanceCount: 4, InstanceType: 'ml.g4dn.xlarge' } },
  ProcessingStartTime: STARTED / 1_000,
  ProcessingEndTime: STARTED / 1_000 + 5_400,
};

test('S3 that refuses for a while does not end it', async () => {
  let refused = 0;
  s3.fail = (method) => (method === 'LIST' && refused++ < 4 ? 503 : undefined);
  const { exitCode, told } = await watch(() => PROCESSING, 'tiles-1', '--engine', 'processing');
  s3.fail = undefined;
  expect([exitCode, told.done]).toEqual([0, COUNT]);
  expect(refused).toBeGreaterThan(4);
});

test('a Processing job: inputs, failures by their code, hours and cost against a budget', async () => {
  const { exitCode, told, asked } = await watch(
    () => PROCESSING,
    ...['tiles-1', '--engine', 'processing', '--worker-hour', '0.5', '--budget', '12'],
  );
  expect(exitCode).toBe(0);
  expect(told).toEqual({
    job: 'tiles-1',
    status: 'Completed',
    ...{ total: COUNT, done: COUNT, failures: FAILURES },
    // Four instances for an hour and a half.
    ...{ instanceHours: 6, costUsd: 3, budgetUsd: 12 },
  });
  for (const [operation, input] of asked) {
    expect(operation).toBe('DescribeProcessingJob');
    expect(problemsOf('sagemaker', operation, input)).toEqual([]);
  }
});

test('without --worker-hour the price is that of the instance type', async () => {
  const { told } = await watch(() => PROCESSING, 'tiles-1', '--engine', 'processing');
  const hour = (told.costUsd as number) / 6;
  expect(hour).toBeGreaterThan(0.1);
  expect(hour).toBeLessThan(2);
});

test('a failed one says why, and how to continue', async () => {
  const failed = { ...PROCESSING, ProcessingJobStatus: 'Failed', ExitMessage: 'OTHER_RUN' };
  const { exitCode, told } = await watch(() => failed, 'tiles-1', '--engine', 'processing');
  expect(exitCode).toBe(1);
  expect(told).toMatchObject({
    code: 'JOB_NOT_COMPLETED',
    status: 'Failed',
    failureReason: 'OTHER_RUN',
    failures: FAILURES,
    error: expect.stringContaining('the same batch start again'),
  });
});

describe('an array job of AWS Batch', () => {
  const SIZE = 150;
  const HOUR = 3_600_000;
  /** The first was taken back once; the second still runs; the third failed; the rest wait. */
  const child = (index: number) => {
    switch (index) {
      case 0: {
        const attempts = [
          { startedAt: STARTED, stoppedAt: STARTED + HOUR / 2 },
          { startedAt: STARTED + HOUR, stoppedAt: STARTED + 1.5 * HOUR },
        ];
        return { status: 'SUCCEEDED', ...attempts[1], attempts };
      }
      case 1:
        return { status: 'RUNNING', startedAt: STARTED, attempts: [] };
      case 2:
        return { status: 'FAILED', statusReason: 'Host EC2 terminated', attempts: [] };
      default:
        return { status: 'RUNNABLE', attempts: [] };
    }
  };
  const parent = {
    ...{ jobId: 'id-1', status: 'PENDING', arrayProperties: { size: SIZE } },
    container: { command: ['batch-worker', '--input', 'Ref::input', '--output', 'Ref::output'] },
  };
  const describe = (job: object) => (operation: string, input: unknown) => {
    if (operation === 'describejobdefinitions') {
      const containerProperties = { command: parent.container.command };
      return { jobDefinitions: [{ parameters: { output: OUTPUT }, containerProperties }] };
    }
    const { jobs } = input as { readonly jobs: readonly string[] };
    return {
      jobs: jobs.map((id) => (id === 'id-1' ? job : child(Number(id.replace('id-1:', ''))))),
    };
  };

  test('the hours of all attempts, the workers by their status', async () => {
    const own = { ...parent, parameters: { input: 's3://tiles/in/', output: OUTPUT } };
    const { exitCode, told, asked } = await watch(
      describe(own),
      ...['id-1', '--engine', 'batch', '--worker-hour', '0.2', '--once'],
    );
    expect(exitCode).toBe(0);
    expect(told).toMatchObject({
      ...{ status: 'InProgress', total: COUNT, done: COUNT, failures: FAILURES },
      workers: { SUCCEEDED: 1, RUNNING: 1, FAILED: 1, RUNNABLE: SIZE - 3 },
    });
    // Two half hours, and two hours until now.
    expect(told.instanceHours).toBeCloseTo(3, 1);
    expect(told.costUsd).toBeCloseTo(0.6, 1);
    expect(asked.map(([operation]) => operation)).toEqual(Array(3).fill('describejobs'));
    for (const [, input] of asked) expect(problemsOf('batch', 'DescribeJobs', input)).toEqual([]);
  });

  test('places of the definition; no price is known', async () => {
    const { told } = await watch(
      describe({ ...parent, jobDefinition: 'tiles:3', status: 'FAILED' }),
      ...['id-1', '--engine', 'batch'],
    );
    expect(told).toMatchObject({
      ...{ status: 'Failed', failureReason: 'Host EC2 terminated', costUsd: null, done: COUNT },
    });
  });

  test.each([
    ['is not there', () => ({ jobs: [] }), 'AWS Batch has no job id-1'],
    ['runs something else', () => ({ jobs: [{ jobId: 'id-1' }] }), 'runs no batch worker'],
  ])('one that %s', async (_, answer, message) => {
    const { told } = await watch(answer, 'id-1', '--engine', 'batch');
    expect(told).toMatchObject({ code: 'JOB_NOT_FOUND', error: expect.stringContaining(message) });
  });
});

test('looks while it works: each part is read once, and what comes meanwhile is counted', async () => {
  const client = new S3Client({
    ...{ endpoint: s3.url, region: 'us-east-1', forcePathStyle: true },
    credentials: { accessKeyId: 'a', secretAccessKey: 's' },
  });
  const stored = s3.stored.get('out') as Map<string, never>;
  const parts = [...stored].filter(([key]) => key.includes(`/${PARTS_FOLDER}`));
  const later = parts.slice(4);
  for (const [key] of later) stored.delete(key);
  const job: WorkerJob = {
    ...{ status: 'InProgress', failureReason: undefined, outputUri: OUTPUT },
    ...{ instanceType: undefined, instanceHours: 0 },
  };
  let looks = 0;
  const describe = async (): Promise<WorkerJob> => {
    if (++looks === 2) for (const [key, object] of later) stored.set(key, object);
    return looks < 3 ? job : { ...job, status: 'Completed' };
  };
  const reads: string[] = [];
  s3.fail = (method, bucket, key) => {
    if (method === 'GET' && bucket === 'out' && key.includes('/keys/')) reads.push(key);
    return undefined;
  };
  const views = [];
  for await (const view of watchWorker(client, describe, { intervalSeconds: 0.01 })) {
    views.push([view.done, view.total]);
  }
  client.destroy();
  s3.fail = undefined;
  expect(views[0]?.[0]).toBeLessThan(COUNT);
  expect(views.slice(1)).toEqual(Array(2).fill([COUNT, COUNT]));
  expect(reads).toHaveLength(parts.length);
  expect(new Set(reads).size).toBe(parts.length);
});
