/** The front of `serve`: what it lets through, what it refuses, and that the image knows nothing of it. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { foreignPage } from '@sagemaker-tfs/container/foreign-pages';
import type { Exchange } from './exchange.ts';
import { type Front, startFront } from './front.ts';
import { readPage } from './page.ts';

const ROOT = join(__dirname, '..', '..', '..');
const DESCRIPTION = {
  models: [],
  hasHandler: false,
  example: null,
  hasPostprocess: false,
  minScore: null,
  labels: [],
  samples: [],
};

let runtime: Server;
let front: Front;
let url: string | undefined;
const told: Exchange[] = [];
let onTold: () => void = () => undefined;

beforeAll(async () => {
  // Tells what it got; /fail answers as the runtime fails.
  runtime = createServer(async (request, response) => {
    let bytes = 0;
    for await (const part of request) bytes += (part as Buffer).length;
    if (request.url === '/fail') {
      response.writeHead(400, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ error: 'not an image', code: 'BAD_IMAGE' }));
      return;
    }
    response.writeHead(200, { 'X-Amzn-SageMaker-Custom-Attributes': 'tfs-model-version=1' });
    response.end(JSON.stringify({ method: request.method, url: request.url, bytes }));
  }).listen(0, '127.0.0.1');
  await once(runtime, 'listening');
  url = `http://127.0.0.1:${(runtime.address() as AddressInfo).port}`;
  front = await startFront({
    port: 0,
    host: '127.0.0.1',
    page: await readPage(),
    behind: () => ({
      url,
      description: DESCRIPTION,
      samples: [],
      openApi: async () => ({ openapi: '3.1.0' }),
      switchedTensors: async ({ picture, ...asked }) =>
        picture.length > 0
          ? Buffer.from(JSON.stringify({ ...asked, bytes: picture.length }))
          : { code: 'BAD_IMAGE', message: 'the picture is empty' },
    }),
    onExchange: (exchange) => {
      told.push(exchange);
      onTold();
    },
  });
});
afterAll(async () => {
  await front?.close();
  runtime?.close();
});

/** With headers that fetch does not let through. */
async function ask(path: string, headers: Record<string, string>, method = 'GET') {
  const sent = sendRequest(`${front.url}${path}`, { method, headers });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += part;
  return { status: response.statusCode, headers: response.headers, text };
}

test('the page is one file that loads nothing and runs by its hashes alone', async () => {
  const { status, headers, text } = await ask('/', {});
  expect(status).toBe(200);
  expect(Buffer.byteLength(text)).toBeLessThan(80_000);
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'sha256-\S+' 'sha256-\S+'; style-src 'sha256-\S+'; img-src/,
  );
  expect(headers['content-security-policy']).not.toContain('unsafe');
  expect(text).not.toMatch(/(src|href)="?(https?:)?\/\//);
});

test('/openapi.json describes the model, to the same pages as the rest', async () => {
  const { status, headers, text } = await ask('/openapi.json', {});
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('application/json');
  expect(JSON.parse(text)).toEqual({ openapi: '3.1.0' });
  const foreign = await ask('/openapi.json', { 'sec-fetch-site': 'cross-site' });
  expect(foreign.status).toBe(403);
});

test.each(['', 'Expect: 100-continue\r\n'])(
  'the runtime refuses a body by its head, before any of it has come: %j',
  async (expect100) => {
    const { hostname, port } = new URL(front.url);
    const refuse = (_: IncomingMessage, response: ServerResponse) => response.writeHead(413).end();
    const before = runtime.listeners('request') as (() => void)[];
    runtime.removeAllListeners('request').on('request', refuse).on('checkContinue', refuse);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /invocations HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${expect100}Content-Length: 9999999999\r\n\r\n`,
    );
    const [first] = await once(socket, 'data');
    socket.destroy();
    runtime.removeAllListeners('checkContinue').off('request', refuse);
    for (const listener of before) runtime.on('request', listener);
    expect(String(first)).toMatch(/^HTTP\/1.1 413 /);
  },
);

test('a body goes through in both directions, and the exchange is reported', async () => {
  const next = new Promise<void>((resolve) => {
    onTold = resolve;
  });
  const body = new Uint8Array(3_000_000);
  const response = await fetch(`${front.url}/invocations?x=1`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/x-npy' },
  });
  expect(await response.json()).toEqual({
    method: 'POST',
    url: '/invocations?x=1',
    bytes: body.length,
  });
  expect(response.headers.get('X-Amzn-SageMaker-Custom-Attributes')).toBe('tfs-model-version=1');
  await next;
  expect(told.at(-1)).toMatchObject({
    method: 'POST',
    status: 200,
    contentType: 'application/x-npy',
    requestBytes: body.length,
    error: undefined,
  });
});

test('an error is reported with its code and message', async () => {
  const next = new Promise<void>((resolve) => {
    onTold = resolve;
  });
  expect((await fetch(`${front.url}/fail`)).status).toBe(400);
  await next;
  expect(told.at(-1)?.error).toEqual({ code: 'BAD_IMAGE', message: 'not an image' });
});

/** All that comes back for bytes as they are written here. */
async function exchangeRaw(bytes: string, isHalfClosed = false): Promise<string> {
  const { port } = new URL(front.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
  if (isHalfClosed) socket.end(bytes);
  else socket.write(bytes);
  let text = '';
  for await (const part of socket.setEncoding('latin1')) text += part;
  socket.destroy();
  return text;
}

/** The status line and the body of the answer to a request as it is written here. */
async function sendRaw(head: string): Promise<{ status: number; text: string }> {
  const text = await exchangeRaw(`${head}\r\nConnection: close\r\n\r\n`);
  return { status: Number(text.split(' ', 2)[1]), text };
}

const HEAD = 'POST /invocations HTTP/1.1\r\nHost: 127.0.0.1\r\n';
const PING = 'GET /ping HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

test.each([
  ['two hosts', `${HEAD}Host: localhost\r\n\r\n`, [400]],
  ['no host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', [400]],
  [
    'a coding in HTTP/1.0',
    'POST / HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    [415],
  ],
  ['another coding', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, [415]],
  [
    'both framings',
    `${HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  ['two types', `${HEAD}Content-Type: a/b\r\nContent-Type: c/d\r\n\r\n`, [400]],
  ['no HTTP', 'hello\r\n\r\n', [400]],
  ['garbage behind a request', `${PING}garbage\r\n\r\n`, [200, 400]],
])('rules of the runtime: %s', async (_, bytes, statuses) => {
  const text = await exchangeRaw(bytes);
  expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))).toEqual(
    statuses,
  );
  expect(JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n')))).toMatchObject({
    error: expect.any(String),
    code: expect.any(String),
  });
  expect((await ask('/ping', {})).status).toBe(200);
});

test('rules of the runtime: a half-closed client has its answer, and too many requests at once end the connection', async () => {
  const once = PING.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  expect(await exchangeRaw(once, true)).toContain('HTTP/1.1 200');
  const many = await exchangeRaw(PING.repeat(100)).catch(() => '');
  expect(many.split('HTTP/1.1 200').length).toBeLessThan(40);
  expect((await ask('/ping', {})).status).toBe(200);
});

test.each([
  ['a target as proxies get it', 'GET http://HOST/ping?x=1 HTTP/1.1', 200, '"url":"/ping?x=1"'],
  ['one without a path', 'GET HTTP://HOST HTTP/1.1', 200, '<!doctype html>'],
  ['one to another host', 'GET http://evil.example/ping HTTP/1.1', 403, 'HOST_REFUSED'],
  ['all of the server', 'OPTIONS * HTTP/1.1', 400, 'BAD_REQUEST'],
  ['a user in the target', 'GET http://a@HOST/ping HTTP/1.1', 403, ''],
  ['another scheme', 'GET ftp://HOST/ping HTTP/1.1', 400, ''],
  ['two slashes', 'GET //evil.example/ping HTTP/1.1', 200, '"url":"//evil.example/ping"'],
  ['no characters of a path', 'GET /p\x80\xff HTTP/1.1', 400, ''],
  ['a port that is none', 'GET http://HOST:99999999/ping HTTP/1.1', 403, ''],
])('%s', async (_, line, status, part) => {
  const host = new URL(front.url).host;
  const answer = await sendRaw(`${line.replace('HOST', host)}\r\nHost: ${host}`);
  expect(answer.status).toBe(status);
  expect(answer.text.toLowerCase()).toContain(part.toLowerCase());
  expect((await ask('/ping', {})).status).toBe(200);
});

test('while the runtime starts again the front says so', async () => {
  const before = url;
  url = undefined;
  const { status, text } = await ask('/ping', {});
  url = before;
  expect([status, JSON.parse(text).code]).toEqual([503, 'MODEL_NOT_READY']);
});

test.each([
  ['a name that resolves to this machine', { Host: 'evil.example' }, 'HOST_REFUSED'],
  ['another site', { 'Sec-Fetch-Site': 'cross-site' }, 'CROSS_SITE_REFUSED'],
  ['another port of this machine', { 'Sec-Fetch-Site': 'same-site' }, 'CROSS_SITE_REFUSED'],
  ['an old browser on another site', { Origin: 'http://evil.example' }, 'CROSS_SITE_REFUSED'],
  ['a page without an origin', { Origin: 'null' }, 'CROSS_SITE_REFUSED'],
] as [string, Record<string, string>, string][])('%s is refused', async (_who, headers, code) => {
  for (const path of ['/invocations', '/playground/model.json', '/']) {
    const { status, text } = await ask(path, headers, 'POST');
    expect([status, JSON.parse(text).code]).toEqual([403, code]);
  }
});

test.each([
  ['a program', {}],
  ['its own page', { 'Sec-Fetch-Site': 'same-origin' }],
  ['its own page in an old browser', { Host: 'localhost:80', Origin: 'http://localhost:80' }],
  ['a typed address', { 'Sec-Fetch-Site': 'none' }],
  ['a link on another site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }],
  ['IPv6', { Host: '[::1]:8080' }],
] as [string, Record<string, string>][])('%s is let in', async (_who, headers) => {
  expect((await ask('/', headers)).status).toBe(200);
});

test('bound beyond loopback, addresses are allowed and names are not', () => {
  const code = (host: string, boundTo: string) => foreignPage('GET', { host }, boundTo)?.code;
  expect(code('192.0.2.7:8080', '0.0.0.0')).toBeUndefined();
  expect(code('192.0.2.7:8080', '127.0.0.1')).toBe('HOST_REFUSED');
  expect(code('evil.example', '0.0.0.0')).toBe('HOST_REFUSED');
});

test('nothing of it is in the serving image', () => {
  const dist = join(ROOT, 'container', 'dist');
  const inputs = JSON.parse(readFileSync(join(dist, 'inputs.json'), 'utf8')) as string[];
  expect(inputs.filter((path) => /playground|preact|^cli\/|^client\//.test(path))).toEqual([]);
  for (const name of readdirSync(dist)) {
    expect([name, /preact|playground/i.test(readFileSync(join(dist, name), 'utf8'))]).toEqual([
      name,
      false,
    ]);
  }
});

test('pictures with a switched declaration: the question, the refusal, too large, and other sites', async () => {
  const query = 'model=m&signature=s&preprocess=%7B%22resize%22%3A%22cover%22%7D';
  const post = (body: Uint8Array, headers = {}) =>
    fetch(`${front.url}/playground/tensors?${query}`, { method: 'POST', body, headers });
  const made = await post(new Uint8Array(10));
  expect(await made.json()).toEqual({
    model: 'm',
    signature: 's',
    switched: '{"resize":"cover"}',
    bytes: 10,
  });
  const refused = await post(new Uint8Array(0));
  expect(refused.status).toBe(400);
  expect(await refused.json()).toEqual({ error: 'the picture is empty', code: 'BAD_IMAGE' });
  const large = await post(new Uint8Array(64 * 1024 * 1024 + 1));
  expect(large.status).toBe(413);
  const foreign = { Origin: 'https://elsewhere.example', 'Sec-Fetch-Site': 'cross-site' };
  expect((await ask(`/playground/tensors?${query}`, foreign, 'POST')).status).toBe(403);
});
