/** The function that stops jobs, against a SageMaker over HTTP. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { handler } from './index.ts';

let server: Server;
let stopped: string[];
let asked: Record<string, unknown>[];
let running: string[];

const markOf = (runId: string) => createHash('sha256').update(runId).digest('hex').slice(0, 8);

beforeEach(async () => {
  stopped = [];
  asked = [];
  server = createServer(async (request, response) => {
    const body = JSON.parse(String(await buffer(request))) as Record<string, string>;
    const target = String(request.headers['x-amz-target']);
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    if (target.endsWith('.StopTransformJob')) {
      stopped.push(body.TransformJobName ?? '');
      response.end('{}');
      return;
    }
    asked.push(body);
    // One to a page.
    const at = Number(body.NextToken ?? 0);
    const matches = running.filter((name) => name.includes(body.NameContains ?? ''));
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

test.each<[string, { name: string; input?: string | null }, string]>([
  ['by the name of the execution', { name: 'nightly_1', input: '{}' }, 'nightly-1'],
  ['by the run that its input names', { name: 'x', input: '{"runId":"tiles-2026"}' }, 'tiles-2026'],
  ['without an input', { name: 'plain', input: null }, 'plain'],
])('its running jobs are stopped, and no others: %s', async (_, detail, runId) => {
  const own = [1, 2, 3].map((i) => `tiles-${markOf(runId)}-${i}`);
  running = [...own, `tiles-${markOf('another')}-1`, `other-tiles-${markOf(runId)}-1`];
  await handler({ detail });
  expect(stopped).toEqual(own);
  expect(asked[0]).toMatchObject({ StatusEquals: 'InProgress' });
});

test.each(['AlreadyRunning', 'BeginFailed', 'InvalidInput'])(
  'an execution that ends with %s leaves the jobs of the run that goes on',
  async (error) => {
    running = [`tiles-${markOf('nightly')}-1`];
    await handler({ detail: { name: 'second', input: '{"runId":"nightly"}', error } });
    expect(stopped).toEqual([]);
  },
);
