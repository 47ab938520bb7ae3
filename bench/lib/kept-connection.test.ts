import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { KeptConnection } from './kept-connection.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers each request (a body of one byte) with the next of `answers`, in pieces of `size` bytes. */
async function serve(answers: readonly string[], size: number, ends = false): Promise<string> {
  const left = [...answers];
  const server = createServer({ noDelay: true }, (socket) => {
    let text = '';
    socket.on('data', async (data) => {
      text += data.toString('latin1');
      if (!text.endsWith('\r\n\r\nx')) return;
      text = '';
      await send(socket, left.shift() ?? '', size);
      if (ends) socket.end();
    });
    socket.on('error', () => undefined);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function send(socket: Socket, answer: string, size: number): Promise<void> {
  for (let at = 0; at < answer.length; at += size) {
    socket.write(answer.slice(at, at + size), 'latin1');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function connectionTo(url: string): KeptConnection {
  const headers = { 'content-type': 'text/plain' };
  return new KeptConnection({ url, path: '/', headers, body: Buffer.from('x'), timeoutMs: 500 });
}

const SIZED = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const EMPTY = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const CHUNKED =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nc;x=y\r\n, wonderful!\r\n0\r\n\r\n';
const REFUSED = 'HTTP/1.1 400 Bad Request\r\ncontent-length: 6\r\n\r\nno, no';

test.each([1, 2, 3, 7, 19, 1000])('answers in pieces of %i bytes are counted', async (size) => {
  const connection = connectionTo(await serve([SIZED, EMPTY, CHUNKED, REFUSED, SIZED], size));
  expect(await connection.ask()).toEqual({ status: 200, bytes: 5, text: '' });
  expect(await connection.ask()).toEqual({ status: 200, bytes: 0, text: '' });
  expect(await connection.ask()).toEqual({ status: 200, bytes: 17, text: '' });
  expect(await connection.ask()).toEqual({ status: 400, bytes: 6, text: 'no, no' });
  expect(await connection.ask()).toEqual({ status: 200, bytes: 5, text: '' });
  connection.close();
});

test('a server that closes after each answer is asked again on another connection', async () => {
  const connection = connectionTo(await serve([SIZED, CHUNKED], 1000, true));
  expect(await connection.ask()).toMatchObject({ bytes: 5 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await connection.ask()).toMatchObject({ bytes: 17 });
  connection.close();
});

test.each([
  ['no answer', '', /silent for 0.5 s/, false],
  ['half an answer', SIZED.slice(0, -2), /cut short/, true],
  ['another protocol', '220 smtp.example.org\r\n\r\n', /instead of HTTP/, false],
])('%s is an error', async (_, answer, message, ends) => {
  const connection = connectionTo(await serve([answer], 1000, ends));
  await expect(connection.ask()).rejects.toThrow(message);
  connection.close();
});
