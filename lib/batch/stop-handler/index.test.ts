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
let asked: Record<string, unknown>[];
let running: string[];
let execution: { input?: string; error?: string };
/** When the execution ended, in seconds, and jobs of another one with the same run were made. */
const STOPPED = 1_790_000_000;
let later: string[];

const EXECUTION = 'arn:aws:states:us-east-1:123456789012:execution:tiles:';

const markOf = (runId: string) => createHash('sha256').update(runId).digest('hex').slice(0, 8);

beforeEach(async () => {
  stopped = [];
  asked = [];
  later = [];
  server = createServer(async (request, response) => {
    const sent = await buffer(request);
    const body = JSON.parse(String(sent)) as Record<string, string>;
    const problems = requestProblems(request, sent);
    if (problems.length > 0) {
      response.writeHead(400).end(JSON.stringify(refusal(problems)));
      return;
    }
    const target = String(request.headers['x-amz-target']);
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    if (target.endsWith('.DescribeExecution')) {
      const { executionArn = '' } = body;
      const name = executionArn.slice(EXECUTION.length);
      if (!name) response.statusCode = 400;
      response.end(JSON.stringify({ executionArn, name, stopDate: STOPPED, ...execution }));
      return;
    }
    if (target.endsWith('.StopTransformJob')) {
      stopped.push(body.TransformJobName ?? '');
      response.end('{}');
      return;
    }
    asked.push(body);
    // One to a page.
    const at = Number(body.NextToken ?? 0);
    const before = Number(body.CreationTimeBefore ?? Number.POSITIVE_INFINITY);
    const there = before > STOPPED + 5 ? [...running, ...later] : running;
    const matches = there.filter((name) => name.includes(body.NameContains ?? ''));
    const next = at + 1 < matches.length ? { NextToken: String(at + 1) } : {};
    const TransformJobSummaries = matches.slice(at, at + 1).map((TransformJobName) => ({
      TransformJobName,
    }));
    response.end(JSON.stringify({ TransformJobSummaries, ...next }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    JOB_NAME_PREFIX: 'tiles',
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
  running = [...own, `tiles-${markOf('another')}-1`, `other-tiles-${markOf(runId)}-1`];
  await handler(ended(name));
  expect(stopped).toEqual(own);
  expect(asked[0]).toMatchObject({ StatusEquals: 'InProgress' });
});

test.each(['AlreadyRunning', 'BeginFailed', 'InvalidInput', 'OverBudget'])(
  'an execution that ends with %s leaves running jobs alone',
  async (error) => {
    execution = { input: '{"runId":"nightly"}', error };
    running = [`tiles-${markOf('nightly')}-1`];
    await handler(ended('second'));
    expect(stopped).toEqual([]);
  },
);

test('jobs of another execution with the same run, made after this one ended, continue', async () => {
  execution = { input: '{"runId":"nightly"}' };
  const [own, next] = [`tiles-${markOf('nightly')}-1`, `tiles-${markOf('nightly')}-2`];
  running = [own];
  later = [next];
  await handler(ended('first'));
  expect(stopped).toEqual([own]);
});

test('an execution that cannot be asked is an error, so that Lambda tries again', async () => {
  running = [`tiles-${markOf('x')}-1`];
  await expect(handler({ detail: { executionArn: '' } })).rejects.toThrow();
  expect(stopped).toEqual([]);
});
