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
/** Running jobs, and when they were made. */
let running: Record<string, number>;
/** What happens before a list of jobs is answered. */
let meanwhile: (look: number) => void;
let execution: { input?: string; error?: string; status?: string; startDate?: number };
/** Executions by name, with their starts and inputs. */
let others: Record<string, { startDate: number; input: string }>;
/** When the execution ended, in seconds. */
const STOPPED = 1_790_000_000;
const STARTED = STOPPED - 3600;

const MACHINE = 'arn:aws:states:us-east-1:123456789012:stateMachine:tiles';
const EXECUTION = 'arn:aws:states:us-east-1:123456789012:execution:tiles:';

const markOf = (runId: string) => createHash('sha256').update(runId).digest('hex').slice(0, 8);

/** Made before the execution ended. */
const made = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, STOPPED - 60]));

type Body = Readonly<Record<string, string | undefined>>;

function describeExecution({ executionArn = '' }: Body): object | undefined {
  const name = executionArn.slice(EXECUTION.length);
  if (!name) return undefined;
  const common = { executionArn, name, stateMachineArn: MACHINE };
  return {
    ...common,
    ...(others[name] ?? { startDate: STARTED, stopDate: STOPPED, ...execution }),
  };
}

function listExecutions(): object {
  const executions = Object.entries(others)
    .map(([name, { startDate }]) => ({ executionArn: `${EXECUTION}${name}`, startDate }))
    .sort((a, b) => b.startDate - a.startDate);
  return { executions };
}

function stopTransformJob({ TransformJobName = '' }: Body): object | undefined {
  stopped.push(TransformJobName);
  const times = refusing[TransformJobName] ?? 0;
  refusing[TransformJobName] = times - 1;
  if (times > 0) return undefined;
  delete running[TransformJobName];
  return {};
}

/** One to a page. */
function listTransformJobs(body: Body): object {
  if (!body.NextToken) meanwhile(asked.filter(({ NextToken }) => !NextToken).length);
  asked.push(body);
  const at = Number(body.NextToken ?? 0);
  const after = Number(body.CreationTimeAfter ?? 0);
  const before = Number(body.CreationTimeBefore ?? Number.POSITIVE_INFINITY);
  const matches = Object.entries(running).flatMap(([name, time]) =>
    time > after && time < before && name.includes(body.NameContains ?? '') ? [name] : [],
  );
  const next = at + 1 < matches.length ? { NextToken: String(at + 1) } : {};
  const TransformJobSummaries = matches.slice(at, at + 1).map((TransformJobName) => ({
    TransformJobName,
  }));
  return { TransformJobSummaries, ...next };
}

const ANSWERS: Readonly<Record<string, (body: Body) => object | undefined>> = {
  DescribeExecution: describeExecution,
  ListExecutions: listExecutions,
  StopTransformJob: stopTransformJob,
  ListTransformJobs: listTransformJobs,
};

beforeEach(async () => {
  stopped = [];
  refusing = {};
  asked = [];
  running = {};
  others = {};
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

test.each<[string, string, string | undefined, string]>([
  ['by the name of the execution', 'nightly_1', '{}', 'nightly-1'],
  ['by the run that its input names', 'x', '{"runId":"tiles-2026"}', 'tiles-2026'],
  ['without an input', 'plain', undefined, 'plain'],
])('its running jobs are stopped, and no others: %s', async (_, name, input, runId) => {
  execution = input === undefined ? {} : { input };
  const own = [1, 2, 3].map((i) => `tiles-${markOf(runId)}-${i}`);
  running = made([...own, `tiles-${markOf('another')}-1`, `other-tiles-${markOf(runId)}-1`]);
  await handler(ended(name));
  expect(stopped).toEqual(own);
  expect(asked[0]).toMatchObject({ StatusEquals: 'InProgress' });
});

test.each(['AlreadyRunning', 'BeginFailed', 'InvalidInput', 'OverBudget'])(
  'an execution that ends with %s leaves running jobs alone',
  async (error) => {
    execution = { input: '{"runId":"nightly"}', error };
    running = made([`tiles-${markOf('nightly')}-1`]);
    await handler(ended('second'));
    expect(stopped).toEqual([]);
  },
);

const NIGHTLY = { input: '{"runId":"nightly"}' };
const [FIRST, SECOND, THIRD] = [1, 2, 3].map((i) => `tiles-${markOf('nightly')}-${i}`) as [
  ...[string, string, string],
];

test('jobs of another execution with the same run, made after this one ended, continue', async () => {
  execution = NIGHTLY;
  others = {
    next: { startDate: STOPPED + 2, ...NIGHTLY },
    another: { startDate: STOPPED + 1, input: '{}' },
    former: { startDate: STOPPED - 900, ...NIGHTLY },
  };
  running = { [FIRST]: STOPPED - 60, [SECOND]: STOPPED + 1, [THIRD]: STOPPED + 5 };
  await handler(ended('first'));
  expect(stopped).toEqual([FIRST, SECOND]);
});

test('jobs of an earlier execution with the same run, which still runs, continue', async () => {
  execution = { ...NIGHTLY, startDate: STOPPED - 3 };
  others = { former: { startDate: STOPPED - 900, ...NIGHTLY } };
  running = { [FIRST]: STOPPED - 60, [SECOND]: STOPPED - 2 };
  await handler(ended('second'));
  expect(stopped).toEqual([SECOND]);
});

test('a job that a shard makes after the run has ended is stopped too', async () => {
  execution = NIGHTLY;
  running = made([FIRST]);
  meanwhile = (look) => {
    if (look === 2) running[SECOND] = STOPPED + 90;
  };
  await handler(ended('first'));
  expect(stopped).toEqual([FIRST, SECOND]);
});

test('a job that cannot be stopped keeps no other one running, and is tried again', async () => {
  execution = NIGHTLY;
  running = made([FIRST, SECOND]);
  refusing[FIRST] = 1;
  await handler(ended('first'));
  expect(stopped).toEqual([FIRST, SECOND, FIRST]);
});

test('one that cannot be stopped at the last look either is an error, with its reason', async () => {
  execution = NIGHTLY;
  running = made([FIRST, SECOND]);
  refusing[FIRST] = 9;
  await expect(handler(ended('first'))).rejects.toThrow(
    expect.objectContaining({
      code: 'JOBS_NOT_STOPPED',
      message: expect.stringContaining(`${FIRST}: it has ended`),
    }),
  );
  expect(Object.keys(running)).toEqual([FIRST]);
});

test('an execution that was redriven keeps its jobs', async () => {
  execution = { ...NIGHTLY, status: 'RUNNING' };
  running = made([FIRST]);
  await handler(ended('first'));
  expect(stopped).toEqual([]);
});

test('an execution that cannot be asked is an error, so that Lambda tries again', async () => {
  running = made([`tiles-${markOf('x')}-1`]);
  await expect(handler({ detail: { executionArn: '' } })).rejects.toThrow();
  expect(stopped).toEqual([]);
});
