import { EventEmitter, once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pino from 'pino';
import { checkLength, readBody, streamBody } from './read-body.ts';
import { jsonReply } from './reply.ts';
import type { Routes } from './route-match.ts';
import { type RunningServer, type ServerOptions, startServer } from './server.ts';

const log = pino({ level: 'silent' });
const MAX_BYTES = 1000;
let server: RunningServer | undefined;

afterEach(async () => {
  await server?.close(0);
  server = undefined;
});

async function start(
  routes: Routes,
  timeoutMs = 10_000,
  more: Partial<ServerOptions> = {},
): Promise<string> {
  server = await startServer(routes, { port: 0, address: '127.0.0.1', timeoutMs, log, ...more });
  return `http://127.0.0.1:${server.port}`;
}

const length: Routes = {
  '/length': {
    POST: async (exchange) => {
      const { request, signal } = exchange;
      checkLength(request, { maxBytes: MAX_BYTES });
      exchange.acceptBody();
      return jsonReply((await readBody(request, { maxBytes: MAX_BYTES, signal })).length);
    },
  },
};

/** What arrives on a plain connection until all of `wanted` is there, or the server closes it. */
function raw(url: string, text: string, wanted: RegExp): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
      if (wanted.test(received)) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(received));
    socket.write(text);
  });
}

describe('routes', () => {
  test('path and method decide; parameters are decoded', async () => {
    const url = await start({
      '/models/:name': { GET: (_exchange, { name }) => jsonReply({ name }) },
    });
    expect(await (await fetch(`${url}/models/a%20b`)).json()).toEqual({ name: 'a b' });
    const missing = await fetch(`${url}/nothing`);
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ code: 'ROUTE_NOT_FOUND' });
    const method = await fetch(`${url}/models/a`, { method: 'POST' });
    expect(method.status).toBe(405);
    expect(await method.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
    expect(method.headers.get('Allow')).toBe('GET');
    expect((await fetch(`${url}/models/%ff`)).status).toBe(400);
  });

  test.each<[Record<string, string>, string | undefined]>([
    [{}, undefined],
    [{ Host: 'localhost:1' }, undefined],
    [{ Host: 'evil.example' }, 'HOST_REFUSED'],
    [{ 'Sec-Fetch-Site': 'cross-site' }, 'CROSS_SITE_REFUSED'],
    [{ Origin: 'http://evil.example' }, 'CROSS_SITE_REFUSED'],
  ])('%j: a page of another site is refused where that is asked for', async (headers, code) => {
    const routes: Routes = { '/': { POST: () => jsonReply({}) } };
    for (const foreignPages of ['refuse', 'allow'] as const) {
      const url = await start(routes, 10_000, { foreignPages });
      const asked = httpRequest(url, { method: 'POST', headers }).end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      let text = '';
      for await (const part of response.setEncoding('utf8')) text += part;
      const expected = foreignPages === 'refuse' ? code : undefined;
      expect(response.statusCode).toBe(expected ? 403 : 200);
      expect(JSON.parse(text).code).toBe(expected);
      await server?.close(0);
    }
  });

  test.each([
    ['GET / HTTP/1.1', 400, /Host/],
    ['GET / HTTP/1.1\r\nHost: a\r\nExpect: tea', 417, /Expect/],
  ])('%j is refused in JSON', async (head, status, message) => {
    const url = await start({ '/': { GET: () => jsonReply({}) } });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`${head}\r\nConnection: close\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const { error, code } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    expect([error, code]).toEqual([expect.stringMatching(message), 'BAD_REQUEST']);
  });

  test('an error that is not ours says nothing of the inside', async () => {
    const url = await start({
      '/': {
        GET: () => {
          throw new Error('secret');
        },
      },
    });
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret');
  });
});

describe('bodies', () => {
  test('with a length, in chunks, and empty', async () => {
    const url = await start(length);
    const post = async (body: string | ReadableStream) => {
      const init = { method: 'POST', body, duplex: 'half' };
      return (await fetch(`${url}/length`, init as RequestInit)).json();
    };
    expect(await post('a'.repeat(1000))).toBe(1000);
    const parts = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.alloc(300));
        controller.enqueue(Buffer.alloc(400));
        controller.close();
      },
    });
    expect(await post(parts)).toBe(700);
    expect(await post('')).toBe(0);
  });

  test('an announced length over the limit is refused before a byte of it is read', async () => {
    const url = await start(length);
    const answer = await raw(
      url,
      'POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n',
      /REQUEST_TOO_LARGE/,
    );
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer).toContain('REQUEST_TOO_LARGE');
  });

  test('chunks over the limit are refused, and the client sees the answer while it still sends', async () => {
    const url = await start(length);
    const chunk = `400\r\n${'a'.repeat(0x400)}\r\n`;
    const head = 'POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const refusal = /^HTTP\/1.1 413 [\s\S]*REQUEST_TOO_LARGE/;
    expect(await raw(url, head + chunk.repeat(3), refusal)).toMatch(refusal);
  });

  test('Expect: 100-continue is answered before the body, and not where it would be refused', async () => {
    const url = await start(length);
    const send = (bytes: number) =>
      raw(
        url,
        `POST /length HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n`,
        /\r\n\r\n/,
      );
    expect(await send(10)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    expect(await send(1001)).toMatch(/^HTTP\/1.1 413 /);
  });

  test('a stream of chunks is limited as well', async () => {
    const url = await start({
      '/': {
        POST: async ({ request }) => {
          let bytes = 0;
          for await (const chunk of streamBody(request, { maxBytes: MAX_BYTES }))
            bytes += chunk.length;
          return jsonReply(bytes);
        },
      },
    });
    const post = async (bytes: number) =>
      (await fetch(url, { method: 'POST', body: Buffer.alloc(bytes) })).status;
    expect(await post(1000)).toBe(200);
    expect(await post(1001)).toBe(413);
  });

  test('a route that leaves a stream of chunks early has its connection until the answer is written', async () => {
    const sockets: unknown[] = [];
    const url = await start({
      '/': {
        POST: async ({ request }) => {
          for await (const _ of streamBody(request, { maxBytes: MAX_BYTES })) break;
          sockets.push(request.socket);
          return jsonReply('early');
        },
      },
    });
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc';
    expect(await raw(url, head, /early/)).toMatch(/^HTTP\/1.1 200 [\s\S]*Connection: close/i);
    expect(sockets).toEqual([expect.any(Socket)]);
  });

  test('a connection is kept for the next request', async () => {
    const url = await start(length);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let i = 0; i < 3; i++) {
      const request = httpRequest(`${url}/length`, { method: 'POST', agent });
      request.end('abc');
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      ports.add(response.socket.localPort);
      for await (const _ of response);
    }
    agent.destroy();
    expect(ports.size).toBe(1);
  });
});

describe('time', () => {
  test('a route that hangs is cut at the limit', async () => {
    const url = await start({ '/': { GET: () => new Promise(() => undefined) } }, 100);
    const response = await fetch(url);
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ code: 'REQUEST_TIMEOUT' });
  });

  test('a stream that hangs before its first piece gets 504, one that hangs later is cut', async () => {
    const hanging = (pieces: readonly Uint8Array[]) => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield* pieces;
        await new Promise(() => undefined);
      })(),
    });
    const routes: Routes = {
      '/first': { GET: () => hanging([]) },
      '/later': { GET: () => hanging([Buffer.from('piece')]) },
    };
    const url = await start(routes, 200);
    expect((await fetch(`${url}/first`)).status).toBe(504);
    const later = await fetch(`${url}/later`);
    expect(later.status).toBe(200);
    await expect(later.text()).rejects.toThrow();
  });

  test('a client that goes away aborts the signal', async () => {
    let aborted: (code: string) => void = () => {};
    const reason = new Promise<string>((resolve) => {
      aborted = resolve;
    });
    const url = await start({
      '/': {
        GET: ({ signal }) => {
          const { standard } = signal;
          standard.addEventListener('abort', () => aborted(standard.reason.code));
          client.destroy();
          return new Promise(() => undefined);
        },
      },
    });
    const client = connect(Number(new URL(url).port), '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await reason).toBe('CLIENT_CLOSED_REQUEST');
  });

  test('a stream goes no faster than the client reads', async () => {
    let made = 0;
    const url = await start({
      '/': {
        GET: () => ({
          status: 200,
          headers: {},
          body: (async function* () {
            for (; made < 1000; made++) yield Buffer.alloc(100_000);
          })(),
        }),
      },
    });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    for (let before = 0; made === 0 || made !== before; await delay(100)) before = made;
    expect(made).toBeLessThan(1000);
    socket.destroy();
  });
});

describe('the way down', () => {
  test('what is in flight finishes, nothing new is accepted', async () => {
    const asked = new EventEmitter();
    const url = await start({
      '/': {
        GET: async () => {
          asked.emit('asked');
          await once(asked, 'finish');
          return jsonReply('done');
        },
      },
    });
    const entered = once(asked, 'asked');
    const response = fetch(url);
    await entered;
    const closed = server?.close(5000);
    await expect(fetch(url)).rejects.toThrow();
    asked.emit('finish');
    expect((await response).headers.get('connection')).toBe('close');
    expect(await (await response).json()).toBe('done');
    await closed;
    server = undefined;
  });

  test('a request that comes on a kept connection is answered, and told that it was the last', async () => {
    const { port } = new URL(await start({ '/': { GET: async () => jsonReply('done') } }));
    const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
    const answers: string[] = [];
    socket.on('data', (text) => answers.push(String(text)));
    const ask = async () => {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, 'data');
    };
    await ask();
    const ended = once(socket, 'close');
    const closed = server?.close(5000);
    await ask();
    await Promise.all([ended, closed]);
    server = undefined;
    expect(answers[0]).toMatch(/^HTTP\/1.1 200 [\s\S]*Connection: keep-alive/);
    expect(answers[1]).toMatch(/^HTTP\/1.1 200 [\s\S]*Connection: close/);
  });

  test('what takes longer than the limit gets 503', async () => {
    const asked = new EventEmitter();
    const url = await start({
      '/': {
        GET: () => {
          asked.emit('asked');
          return new Promise(() => undefined);
        },
      },
    });
    const entered = once(asked, 'asked');
    const response = fetch(url);
    await entered;
    const closed = server?.close(100);
    expect((await response).status).toBe(503);
    expect(await (await response).json()).toMatchObject({ code: 'SHUTTING_DOWN' });
    await closed;
    server = undefined;
  });
});

describe('large answers', () => {
  test('arrive whole, whatever the sizes of their pieces, and leave no listeners behind', async () => {
    const pieces = [1, 30_000_000, 0, 7_000_001, 12].map((size, i) => Buffer.alloc(size, i + 1));
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const url = await start({
      '/large': { GET: () => ({ status: 200, headers: {}, body: pieces }) },
    });
    const response = await fetch(`${url}/large`);
    const body = Buffer.from(await response.arrayBuffer());
    process.off('warning', onWarning);
    expect(response.headers.get('content-length')).toBe(String(body.length));
    expect(body.equals(Buffer.concat(pieces))).toBe(true);
    expect(warnings).toEqual([]);
  });
});
