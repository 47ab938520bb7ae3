/** `batch start --engine batch`: the job that AWS Batch is asked for. */
import { TEST_CREDENTIALS } from '../../../../test/rehearse/moto.ts';
import { problemsOf } from '../../../../test/service-models/validate.ts';
import { startS3 } from '../../../../test/stacks/s3-stand-in.ts';
import { startService } from '../aws/sagemaker-stand-in.ts';
import { sagemakerTfs } from '../test-support.ts';

jest.setTimeout(60_000);

const QUEUE = 'arn:aws:batch:us-east-1:123456789012:job-queue/tiles';
const JOB = 'arn:aws:batch:us-east-1:123456789012:job-definition/tiles:3';

/** Starts a run; the jobs that AWS Batch was asked for. */
async function start(...args: string[]) {
  const requests: unknown[] = [];
  const s3 = await startS3(50);
  const standIn = await startService((operation, input) => {
    if (operation !== 'submitjob') return { jobDefinitions: [] };
    requests.push(input);
    return { jobArn: 'arn', jobId: 'id-1', jobName: 'tiles' };
  });
  try {
    const outcome = await sagemakerTfs(['batch', 'start', '--engine', 'batch', ...args], {
      ...TEST_CREDENTIALS,
      AWS_ENDPOINT_URL: standIn.url,
      AWS_ENDPOINT_URL_S3: s3.url,
    });
    return { ...outcome, requests };
  } finally {
    await Promise.all([standIn.close(), s3.close()]);
  }
}

const NAMED = ['--job-queue', QUEUE, '--job-definition', JOB, '--json'];

test('an array of workers, with places, variables and tags of its own', async () => {
  const { exitCode, stdout, requests } = await start(
    ...NAMED,
    ...['--instance-count', '20', '--job-name', 'tiles', '--tag', 'team=maps'],
    ...['--input-uri', 's3://tiles/in/', '--output-uri', 's3://out/answers/'],
    ...['--env', 'SAGEMAKER_TFS_LOG_LEVEL=warn'],
  );
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ started: true, jobId: 'id-1', workers: 20 });
  expect(requests).toEqual([
    {
      jobName: 'tiles',
      jobQueue: QUEUE,
      jobDefinition: JOB,
      parameters: { input: 's3://tiles/in/', output: 's3://out/answers/' },
      propagateTags: true,
      arrayProperties: { size: 20 },
      containerOverrides: { environment: [{ name: 'SAGEMAKER_TFS_LOG_LEVEL', value: 'warn' }] },
      tags: { team: 'maps' },
    },
  ]);
  expect(problemsOf('batch', 'SubmitJob', requests[0])).toEqual([]);
});

test('answers below the inputs, which a later run would take for inputs, are remarked', async () => {
  const { exitCode, stderr } = await start(
    ...[...NAMED, '--instance-count', '2'],
    ...['--input-uri', 's3://tiles/in/', '--output-uri', 's3://tiles/in/out/'],
  );
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringContaining('s3://tiles/in/out/ lies below s3://tiles/in/'),
  ]);
});

test('one worker is no array, and the places are those of the job', async () => {
  const { exitCode, requests } = await start(...NAMED, '--instance-count', '1');
  expect(exitCode).toBe(0);
  expect(problemsOf('batch', 'SubmitJob', requests[0])).toEqual([]);
  expect(requests).toMatchObject([{ parameters: {} }]);
  expect(requests[0]).not.toHaveProperty('arrayProperties');
});

test.each([
  [['--job-queue', QUEUE, '--instance-count', '2'], 'Give --job-queue and --job-definition'],
  [NAMED, 'Give --instance-count'],
  [[...NAMED, '--instance-count', '10001'], 'Give 10000 or fewer'],
  [[...NAMED, '--instance-count', '2', '--accept', 'text/csv'], '--accept cannot be given'],
  [[...NAMED, '--instance-count', '2', '--notices-at', '10'], 'needs --engine processing'],
  [[...NAMED, '--instance-count', '2', '--no-fallbacks'], '--no-fallbacks cannot be given'],
])('refused before AWS is asked: %j', async (args, message) => {
  const { exitCode, stderr, requests } = await start(...args);
  expect([exitCode, requests]).toEqual([2, []]);
  expect(stderr).toContain(message);
});

test.each([
  ['processing', 'tiles-1', { ProcessingJobName: 'tiles-1' }, 'sagemaker', 'StopProcessingJob'],
  ['batch', 'id-1', { jobId: 'id-1', reason: 'sagemaker-tfs batch stop' }, 'batch', 'TerminateJob'],
] as const)('batch stop --engine %s', async (engine, job, request, service, operation) => {
  const requests: unknown[] = [];
  const standIn = await startService((_operation, input) => {
    requests.push(input);
    return {};
  });
  try {
    const { exitCode, stdout } = await sagemakerTfs(
      ['batch', 'stop', job, '--engine', engine, '--json'],
      { ...TEST_CREDENTIALS, AWS_ENDPOINT_URL: standIn.url },
    );
    expect([exitCode, JSON.parse(stdout)]).toEqual([0, { job, status: 'Stopping' }]);
    expect(requests).toEqual([request]);
    expect(problemsOf(service, operation, requests[0])).toEqual([]);
  } finally {
    await standIn.close();
  }
});

test.each(['Stopping', 'Stopped', 'InProgress'])(
  'batch stop of a job that SageMaker does not stop, as it is %s',
  async (status) => {
    const standIn = await startService((operation) =>
      operation.startsWith('Stop')
        ? { __type: 'ValidationException', message: `The job is ${status}.` }
        : { TransformJobStatus: status, ProcessingJobStatus: status },
    );
    try {
      for (const engine of ['transform', 'processing']) {
        const { exitCode, stdout } = await sagemakerTfs(
          ['batch', 'stop', 'js', '--engine', engine, '--json'],
          { ...TEST_CREDENTIALS, AWS_ENDPOINT_URL: standIn.url },
        );
        const isRefused = status === 'InProgress';
        const told = isRefused ? { awsError: 'ValidationException' } : { job: 'js', status };
        expect(JSON.parse(stdout)).toMatchObject(told);
        expect(exitCode).toBe(isRefused ? 1 : 0);
      }
    } finally {
      await standIn.close();
    }
  },
);
