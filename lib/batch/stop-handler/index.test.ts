/** The function that stops jobs, against Step Functions and SageMaker over HTTP. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { refusal, requestProblems } from '../../../test/service-models/requests.ts';
import { handler } from './index.ts';

let server: Server;
let stopped: string[];
/** Jobs that cannot be stopped, with how many times more. */
let refusing: Record<string, number>;
let asked: Record<string, unknown>[];
/** Names of running jobs. */
let running: Set<string>;
/** What happens before a list of jobs is answered. */
let meanwhile: (look: number) => void;
let execution: { error?: string; status?: string };

const EXECUTION = 'arn:aws:states:us-east-1:123456789012:execution:tiles:';

const digits = (text: string, count: number) =>
  createHash('sha256').update(text).digest('hex').slice(0, count);

/** As `test/stacks/job-names.test.ts` has the machine name it. */
const jobOf = (name: string, call: number, runId = 'nightly') =>
  `tiles-${digits(runId, 8)}-${digits(`${EXECUTION}${name}`, 12)}-${digits(String(call), 14)}`;

type Body = Readonly<Record<string, string | undefined>>;

function describeExecution({ executionArn = '' }: Body): object | undefined {
  const name = executionArn.slice(EXECUTION.length);
  if (!name) return undefined;
  return { executionArn, name, ...execution };
}

function stopTransformJob({ TransformJobName = '' }: Body): object | undefined {
  stopped.push(TransformJobName);
  const times = refusing[TransformJobName] ?? 0;
  refusing[TransformJobName] = times - 1;
  if (times > 0) return undefined;
  running.delete(TransformJobName);
  return {};
}

/** One to a page. */
function listTransformJobs(body: Body): object {
  if (!body.NextToken) meanwhile(asked.filter(({ NextToken }) => !NextToken).length);
  asked.push(body);
  const at = Number(body.NextToken ?? 0);
  const matches = [...running].filter((name) => name.includes(body.NameContains ?? ''));
  const next = at + 1 < matches.length ? { NextToken: String(at + 1) } : {};
  const TransformJobSummaries = matches.slice(at, at + 1).map((TransformJobName) => ({
    TransformJobName,
  }));
  return { TransformJobSummaries, ...next };
}

const ANSWERS: Readonly<Record<string, (body: Body) => object | undefined>> = {
  DescribeExecution: describeExecution,
  StopTransformJob: stopTransformJob,
  ListTransformJobs: listTransformJobs,
};

beforeEach(async () => {
  stopped = [];
  refusing = {};
  asked = [];
  running = new Set();
  execution = {};
  meanwhile = () => {};
  server = createServer(async (request, response) => {
    const sent = await buffer(request);
    const problems = requestProblems(request, sent);
    if (problems.length > 0) {
      response.writeHead(400).end(JSON.stringify(refusal(problems)));
      return;
    }
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const answer = ANSWERS[operation]?.(JSON.parse(String(sent)) as Body);
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    if (!answer) response.statusCode = 400;
    response.end(
      JSON.stringify(answer ?? { __type: 'ValidationException', message: 'it has ended' }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    JOB_NAME_PREFIX: 'tiles',
    LOOK_AGAIN_SECONDS: '0,0',
  });
  jest.spyOn(console, 'log').mockImplementation(() => {});
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** The event of a machine under a key, which has neither input nor error. */
const ended = (name: string) => ({ detail: { executionArn: `${EXECUTION}${name}` } });

test('its running jobs are stopped, and no others', async () => {
  const own = [1, 2, 3].map((call) => jobOf('first', call));
  running = new Set([
    ...own,
    // With the same run, before it, after it and beside it.
    jobOf('second', 1),
    jobOf('first2', 1),
    // Of another construct.
    `other-${jobOf('first', 4)}`,
    jobOf('first', 4).replace('tiles-', 'tiles2-'),
    // Somebody's own.
    `${jobOf('first', 5)}-by-hand`,
    // Of a machine that was deployed before: nothing says which execution it is of.
    `tiles-${digits('nightly', 8)}-${digits('1', 23)}`,
  ]);
  await handler(ended('first'));
  expect(stopped).toEqual(own);
  expect(asked[0]).toMatchObject({ StatusEquals: 'InProgress' });
});

test('an execution that ends with OverBudget leaves its running jobs alone', async () => {
  execution = { error: 'OverBudget' };
  running = new Set([jobOf('first', 1)]);
  await handler(ended('first'));
  expect(stopped).toEqual([]);
});

test('the state machine on its way to a failure has its jobs stopped while it runs, or left alone', async () => {
  execution = { status: 'RUNNING' };
  const own = [jobOf('first', 1), jobOf('first', 2)];
  running = new Set([...own, jobOf('second', 1)]);
  await handler({ execution: `${EXECUTION}first`, error: 'OverBudget' });
  expect(stopped).toEqual([]);
  await handler({ execution: `${EXECUTION}first`, error: 'CannotRun' });
  expect(stopped).toEqual(own);
  refusing[jobOf('second', 1)] = 9;
  await expect(
    handler({ execution: `${EXECUTION}second`, error: 'JobStopped' }),
  ).rejects.toMatchObject({ code: 'JOBS_NOT_STOPPED' });
});

test.each(['AlreadyRunning', 'BeginFailed', 'InvalidInput', 'TooManyFailures'])(
  'one that ends with %s leaves those of others alone',
  async (error) => {
    execution = { error };
    running = new Set([jobOf('first', 1), jobOf('second', 1)]);
    await handler(ended('second'));
    expect(stopped).toEqual([jobOf('second', 1)]);
  },
);

const [FIRST, SECOND] = [jobOf('first', 1), jobOf('first', 2)] as const;

test('a job that a shard makes after the run has ended is stopped too', async () => {
  running = new Set([FIRST]);
  meanwhile = (look) => {
    if (look === 2) running.add(SECOND);
  };
  await handler(ended('first'));
  expect(stopped).toEqual([FIRST, SECOND]);
});

test('a job that cannot be stopped keeps no other one running, and is tried again', async () => {
  running = new Set([FIRST, SECOND]);
  refusing[FIRST] = 1;
  await handler(ended('first'));
  expect(stopped).toEqual([FIRST, SECOND, FIRST]);
});

test('one that cannot be stopped at the last look either is an error, with its reason', async () => {
  running = new Set([FIRST, SECOND]);
  refusing[FIRST] = 9;
  await expect(handler(ended('first'))).rejects.toThrow(
    expect.objectContaining({
      code: 'JOBS_NOT_STOPPED',
      message: expect.stringContaining(`${FIRST}: it has ended`),
    }),
  );
  expect([...running]).toEqual([FIRST]);
});

test('an execution that was redriven keeps its jobs', async () => {
  execution = { status: 'RUNNING' };
  running = new Set([FIRST]);
  await handler(ended('first'));
  expect(stopped).toEqual([]);
});

test('an execution that cannot be asked is an error, so that Lambda tries again', async () => {
  running = new Set([FIRST]);
  await expect(handler({ detail: { executionArn: '' } })).rejects.toThrow();
  expect(stopped).toEqual([]);
});
