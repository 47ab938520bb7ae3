import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import {
  type AddressInfo,
  createServer as createRawServer,
  type Server,
  type Socket,
} from 'node:net';
import { ConnectionLost } from '../connection-lost.ts';
import { UnusableReply } from '../unusable-reply.ts';
import { type HttpCall, HttpClient } from './http-client.ts';

const clients: HttpClient[] = [];
const servers: Server[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
});

async function listening<Running extends Server>(
  server: Running,
): Promise<Running & { port: number }> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(server, { port: (server.address() as AddressInfo).port });
}

const httpServer = (listener: RequestListener) => listening(createServer(listener));
const rawServer = (onConnection: (socket: Socket) => void) =>
  listening(createRawServer({ noDelay: true }, onConnection));

function client(maxReplyBytes = 1e9): HttpClient {
  const made = new HttpClient({ maxReplyBytes });
  clients.push(made);
  return made;
}

function post(port: number, text: string, more: Partial<HttpCall> = {}): HttpCall {
  const half = text.length >> 1;
  const body = [Buffer.from(text.slice(0, half)), Buffer.from(text.slice(half))];
  return { host: '127.0.0.1', port, method: 'POST', path: '/v1/models/m:predict', body, ...more };
}

const echo: RequestListener = async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  response.setHeader('X-Type', request.headers['content-type'] ?? '');
  if (request.url?.endsWith(':predict')) response.setHeader('Content-Length', body.length);
  response.writeHead(request.url === '/missing' ? 404 : 200);
  response.end(request.method === 'GET' ? `GET ${request.url}` : body);
};

const answered = (text: string) =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;

test('sends bodies of any size, and gets them back, announced or in chunks', async () => {
  const { port } = await httpServer(echo);
  const calls = client();
  for (const path of ['/v1/models/m:predict', '/chunks']) {
    for (const size of [0, 1, 1_000, 65_536, 5_000_000]) {
      const text = 'abcdefg'.repeat(size).slice(0, size);
      const { status, body } = await calls.call(post(port, text, { path }));
      expect([status, body.length, body.equals(Buffer.from(text))]).toEqual([200, size, true]);
    }
  }
  expect(await calls.call({ host: '127.0.0.1', port, method: 'GET', path: '/missing' })).toEqual({
    status: 404,
    body: Buffer.from('GET /missing'),
  });
});

test('keeps as many connections as there are calls at a time', async () => {
  const { port } = await httpServer(echo);
  const calls = client();
  for (let round = 0; round < 5; round++) {
    const texts = Array.from({ length: 4 }, (_, index) => `${round}.${index}`.repeat(1_000));
    const replies = await Promise.all(texts.map((text) => calls.call(post(port, text))));
    expect(replies.map(({ body }) => body.toString())).toEqual(texts);
  }
  expect(sockets.length).toBe(4);
});

test('a kept connection that the server has closed meanwhile is replaced', async () => {
  const { port } = await httpServer(echo);
  const calls = client();
  await calls.call(post(port, 'one'));
  for (const socket of sockets) socket.destroy();
  const again = () => calls.call(post(port, 'two')).catch(() => undefined);
  // Lost if it is made before the end of the connection is seen.
  const second = (await again()) ?? (await again());
  expect(second?.body.toString()).toBe('two');
});

test('a call that ends the server on a kept connection is not made again', async () => {
  let requests = 0;
  const { port } = await rawServer((socket) => {
    socket.on('data', () => {
      requests++;
      if (requests === 2) socket.destroy();
      else socket.write(answered(String(requests)));
    });
  });
  const calls = client();
  expect((await calls.call(post(port, 'a'))).body.toString()).toBe('1');
  await expect(calls.call(post(port, 'b'))).rejects.toMatchObject({ wasSent: true });
  expect(requests).toBe(2);
});

test('a new connection that is closed, or an answer that is cut short, is not tried again', async () => {
  let requests = 0;
  const { port } = await rawServer((socket) => {
    socket.on('data', () => {
      requests++;
      socket.end(requests === 1 ? '' : 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
    });
  });
  const calls = client();
  await expect(calls.call(post(port, 'a'))).rejects.toThrow(/connection was closed/);
  const second = await calls.call(post(port, 'b')).catch((error: Error) => error);
  expect(second).toBeInstanceOf(ConnectionLost);
  expect((second as Error).message).toMatch(/cut short/);
  expect(requests).toBe(2);
});

test('nobody there is reported', async () => {
  const { port } = await httpServer(echo);
  await new Promise((done) => servers.splice(0)[0]?.close(done));
  const lost = await client()
    .call(post(port, 'a'))
    .catch((error: Error) => error);
  expect(lost).toBeInstanceOf(ConnectionLost);
  expect((lost as Error).message).toMatch(/no answer from the model server: .*ECONNREFUSED/);
});

test('an answer that is no HTTP is reported', async () => {
  const { port } = await rawServer((socket) => socket.write('220 smtp.example.org\r\n\r\n'));
  await expect(client().call(post(port, 'a'))).rejects.toThrow(/instead of HTTP/);
});

test.each([
  ['announced', answered('x'.repeat(2_000))],
  [
    'in chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n'.concat('x'.repeat(2_000)),
  ],
])('too large an answer, %s, is refused', async (_name, answer) => {
  const { port } = await rawServer((socket) => socket.once('data', () => socket.write(answer)));
  const refused = await client(1_000)
    .call(post(port, 'a'))
    .catch((error: Error) => error);
  expect(refused).toBeInstanceOf(UnusableReply);
  expect(refused).toMatchObject({ isTooLarge: true });
});

test('an abort ends the call and its connection; the next call has another', async () => {
  const { port } = await rawServer((socket) => {
    socket.on('data', (data) => {
      if (data.includes('answer')) socket.write(answered('yes'));
    });
  });
  const calls = client();
  const abort = new AbortController();
  const call = calls.call(post(port, 'silence', { signal: abort.signal }));
  await once(servers[0] as Server, 'connection');
  const closed = once(sockets[0] as Socket, 'close');
  abort.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  await closed;
  expect((await calls.call(post(port, 'answer'))).body.toString()).toBe('yes');
  await expect(calls.call(post(port, 'answer', { signal: abort.signal }))).rejects.toThrow(
    'enough',
  );
  expect(sockets.length).toBe(2);
});

test('a call given up while the server works on it ends with its answer, and its connection is kept', async () => {
  let release: (() => void) | undefined;
  const { port } = await rawServer((socket) => {
    socket.on('data', (data) => {
      if (data.includes('slow')) release = () => socket.write(answered('late'));
      else socket.write(answered('yes'));
    });
  });
  const calls = client();
  const abort = new AbortController();
  let ended: Promise<void> | undefined;
  let hasEnded = false;
  const onAbandoned = (end: Promise<void>) => {
    ended = end.then(() => {
      hasEnded = true;
    });
  };
  const call = calls.call(post(port, 'slow', { signal: abort.signal, onAbandoned }));
  while (!release) await new Promise(setImmediate);
  abort.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  expect((await calls.call(post(port, 'answer'))).body.toString()).toBe('yes');
  expect(hasEnded).toBe(false);
  release();
  await ended;
  await Promise.all([calls.call(post(port, 'one')), calls.call(post(port, 'two'))]);
  expect(sockets.length).toBe(2);
});

test.each([
  ['is given up before it is sent whole', 'x'.repeat(50_000_000), false],
  ['is given up and then lost', 'silence', true],
])('a call that %s ends with its connection', async (_what, body, closes) => {
  const { port } = await rawServer((socket) => {
    if (body === 'silence') socket.resume();
  });
  const abort = new AbortController();
  let ended: Promise<void> | undefined;
  const onAbandoned = (end: Promise<void>) => {
    ended = end;
  };
  const calls = client();
  const call = calls.call(post(port, body, { signal: abort.signal, onAbandoned }));
  while (sockets.length === 0 || (closes && sockets[0]?.bytesRead === 0)) {
    await new Promise(setImmediate);
  }
  abort.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  if (closes) sockets[0]?.destroy();
  await ended;
  expect(ended).toBeDefined();
});

test('an answer before the request was sent leaves no connection that is kept', async () => {
  const { port } = await rawServer((socket) => {
    socket.once('data', (data) => {
      socket.pause();
      socket.write(answered(data.includes('POST') ? 'early' : 'other'));
    });
  });
  const calls = client();
  const large = 'x'.repeat(30_000_000);
  expect((await calls.call(post(port, large))).body.toString()).toBe('early');
  expect((await calls.call(post(port, 'a'))).body.toString()).toBe('early');
  expect(sockets.length).toBe(2);
});

test('what the server says unasked ends the connection', async () => {
  const { port } = await rawServer((socket) => {
    socket.on('data', () => {
      socket.write(answered('yes'));
      setTimeout(
        () => socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'),
        20,
      );
    });
  });
  const calls = client();
  await calls.call(post(port, 'a'));
  await once(sockets[0] as Socket, 'close');
  expect((await calls.call(post(port, 'b'))).body.toString()).toBe('yes');
  expect(sockets.length).toBe(2);
});

test('close ends what is in flight', async () => {
  const { port } = await rawServer(() => undefined);
  const calls = client();
  const call = calls.call(post(port, 'a'));
  await once(servers[0] as Server, 'connection');
  calls.close();
  await expect(call).rejects.toThrow(ConnectionLost);
});
