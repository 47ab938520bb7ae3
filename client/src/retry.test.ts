import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePorts } from '@sagemaker-tfs/container/testing';
import { RUNTIME_ERRORS } from '@sagemaker-tfs/tensors/runtime-errors';
import { clientOf, ENDPOINT, standIn } from '../test/sagemaker-stand-in.ts';
import { serve, type TestServer } from '../test/servers.ts';
import { predict, predictStream } from './index.ts';

/** What a server does with one request: answer with a status, or end the connection. */
type Step = { status: number; body?: string; headers?: Record<string, string> } | 'reset' | 'cut';

let server: TestServer | undefined;

afterEach(() => server?.stop());

/** A server that takes one step a request, the last for all that follow. */
async function script(...steps: Step[]): Promise<TestServer> {
  server = await serve((request, response) => {
    const step = steps.length > 1 ? steps.shift() : steps[0];
    if (step === 'reset') request.socket.resetAndDestroy();
    else if (step === 'cut') {
      response.writeHead(200, { 'Content-Length': '100' }).write('{"predictions"');
      setTimeout(() => request.socket.destroy(), 20);
    } else if (step) response.writeHead(step.status, step.headers).end(step.body);
  });
  return server;
}

const ok: Step = { status: 200, body: '{"predictions":[1.0]}' };
const notReady: Step = {
  status: 503,
  body: '{"error":"model m is loading","code":"MODEL_NOT_READY"}',
};

test.each<[string, Step]>([
  ['429', { status: 429 }],
  ['503', { status: 503, body: 'Service Unavailable' }],
  ['503 of a model that loads', notReady],
  ['a connection that ends before an answer', 'reset'],
  ['429 with Retry-After', { status: 429, headers: { 'Retry-After': '1' } }],
])('%s is tried again', async (_name, step) => {
  const { url, requests } = await script(step, ok);
  expect((await predict({ url }, '{}')).json()).toEqual({ predictions: [1] });
  expect(requests).toHaveLength(2);
});

test.each<[string, Step, string]>([
  ['400', { status: 400, body: '{"error":"bad","code":"BAD_INPUT"}' }, 'BAD_INPUT'],
  [
    'a request that ends the model server',
    { status: 400, body: '{"error":"twice","code":"FATAL_REQUEST"}' },
    'FATAL_REQUEST',
  ],
  ['404', { status: 404, body: 'Not Found' }, 'HTTP_404'],
  ['500', { status: 500, body: '{"error":"oh","code":"HANDLER_FAILED"}' }, 'HANDLER_FAILED'],
  ['504', { status: 504 }, 'HTTP_504'],
  ['an answer that ends too early', 'cut', 'ANSWER_CUT'],
  ['a long Retry-After', { status: 429, headers: { 'Retry-After': '3600' } }, 'HTTP_429'],
])('%s is not', async (_name, step, code) => {
  const { url, requests } = await script(step, ok);
  await expect(predict({ url }, '{}')).rejects.toMatchObject({ code });
  expect(requests).toHaveLength(1);
});

test('a stream that ends too early says so where it ends', async () => {
  const { url } = await script('cut');
  const { chunks } = await predictStream({ url }, '{}');
  const received: Uint8Array[] = [];
  const reading = (async () => {
    for await (const chunk of chunks) received.push(chunk);
  })();
  await expect(reading).rejects.toMatchObject({ code: 'ANSWER_CUT' });
  expect(Buffer.concat(received).toString()).toBe('{"predictions"');
});

test('retries are counted, and the last error is the one that is thrown', async () => {
  const { url, requests } = await script(notReady);
  await expect(predict({ url }, '{}', { retries: 1 })).rejects.toMatchObject({
    code: 'MODEL_NOT_READY',
    status: 503,
    message: `${url}/invocations answered 503: model m is loading`,
  });
  expect(requests).toHaveLength(2);
});

test('a handler that must not see a request twice does not', async () => {
  const lost = await script('reset', ok);
  const once = { idempotent: false };
  await expect(predict({ url: lost.url }, '{}', once)).rejects.toMatchObject({
    code: 'CONNECTION_LOST',
  });
  expect(lost.requests).toHaveLength(1);
  await lost.stop();
  const loading = await script(notReady, ok);
  expect((await predict({ url: loading.url }, '{}', once)).status).toBe(200);
});

const refusedWith = Object.entries(RUNTIME_ERRORS)
  .filter(([, { status }]) => status === 503)
  .map(([code, { notBegun }]) => [code, notBegun === true] as const);

test.each(refusedWith)('after %s such a request is sent again: %s', async (code, again) => {
  const body = JSON.stringify({ error: 'not now', code });
  const { url, requests } = await script({ status: 503, body }, ok);
  const call = predict({ url }, '{}', { idempotent: false });
  if (again) expect((await call).status).toBe(200);
  else await expect(call).rejects.toMatchObject({ code });
  expect(requests).toHaveLength(again ? 2 : 1);
});

test('the client for Python sends the same again', () => {
  const file = '../../client-python/src/sagemaker_tfs_client/retry.py';
  const text = readFileSync(join(__dirname, file), 'utf8');
  const [, codes = ''] = /^_NOT_BEGUN = \{(.+)\}$/m.exec(text) ?? [];
  const notBegun = refusedWith.flatMap(([code, again]) => (again ? [code] : []));
  expect(codes.replaceAll('"', '').split(', ').sort()).toEqual(
    [...notBegun, 'CONNECTION_REFUSED'].sort(),
  );
});

test('a server that starts meanwhile is found', async () => {
  const port = await freePorts(1);
  const call = predict({ url: `http://127.0.0.1:${port}` }, '{}', { retries: 8 });
  const late = createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'));
  });
  setTimeout(() => late.listen(port, '127.0.0.1'), 100);
  expect((await call).json()).toEqual({});
  late.close();
});

test('nothing that listens, and no such host, are distinguished', async () => {
  const url = `http://127.0.0.1:${await freePorts(1)}`;
  await expect(predict({ url }, '{}', { retries: 0 })).rejects.toMatchObject({
    code: 'CONNECTION_REFUSED',
    status: undefined,
    message: `nothing listens at ${url}/invocations. Is the runtime started?`,
  });
  await expect(predict({ url: 'http://no-such-host.invalid' }, '{}')).rejects.toMatchObject({
    code: 'HOST_NOT_FOUND',
  });
});

test('what fetch itself refuses is reported', async () => {
  // Port 9 is among the ports that the Fetch Standard blocks.
  await expect(predict({ url: 'http://127.0.0.1:9' }, '{}', { retries: 0 })).rejects.toMatchObject({
    code: 'NETWORK_FAILED',
    message: expect.stringContaining('failed (bad port)'),
  });
});

test('what is no address is BAD_OPTION', async () => {
  for (const url of ['localhost:8080', 'ftp://host', '']) {
    await expect(predict({ url }, '{}')).rejects.toMatchObject({ code: 'BAD_OPTION' });
  }
});

test('a URL with a path is used as it is; one without is a runtime', async () => {
  const { url, requests } = await script(ok);
  await predict({ url }, '{}');
  await predict({ url: `${url}/` }, '{}', { targetModel: 'a/b' });
  await predict({ url: `${url}/stage/predict?key=1` }, '{}');
  expect(requests.map((request) => request.url)).toEqual([
    '/invocations',
    '/models/a%2Fb/invoke',
    '/stage/predict?key=1',
  ]);
});

describe('through the SDK', () => {
  test('the container’s 503 is tried again with a client that leaves it to us', async () => {
    const runtime = await script(notReady, ok);
    const sagemaker = await standIn(runtime.url);
    const target = { endpointName: ENDPOINT, client: clientOf(sagemaker) };
    expect((await predict(target, '{}')).json()).toEqual({ predictions: [1] });
    expect(runtime.requests).toHaveLength(2);
    await sagemaker.stop();
  });

  test('a client with repetitions of its own gets none of ours on top', async () => {
    const throttled = { status: 429, headers: { 'x-amzn-errortype': 'ThrottlingException' } };
    const { requests, ...rest } = await script({ ...throttled, body: '{"Message":"slow down"}' });
    const client = clientOf({ requests, ...rest }, 2);
    await expect(predict({ endpointName: ENDPOINT, client }, '{}')).rejects.toMatchObject({
      code: 'ThrottlingException',
      status: 429,
    });
    expect(requests).toHaveLength(2);
  });

  test('a region’s own client repeats nothing that predict does', async () => {
    const { url, requests } = await script({ status: 500, body: '{"Message":"oh"}' });
    const saved = { ...process.env };
    Object.assign(process.env, {
      AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: url,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    });
    await expect(
      predict({ endpointName: ENDPOINT, region: 'eu-west-3' }, '{}'),
    ).rejects.toMatchObject({ status: 500 });
    process.env = saved;
    expect(requests).toHaveLength(1);
  });
});
