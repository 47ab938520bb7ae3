import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pino from 'pino';
import { until } from '../testing/runtime-process.ts';
import { Admission, type AdmissionLimits } from './admission.ts';
import { MAX_WAITING } from './pipelines.ts';
import { readBody } from './read-body.ts';
import { jsonReply } from './reply.ts';
import type { Routes } from './route-match.ts';
import { type RunningServer, type ServerOptions, startServer } from './server.ts';

const log = pino({ level: 'silent' });
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Started {
  readonly server: RunningServer;
  readonly admission: Admission;
  /** A connection that collects what it is sent. */
  client(text?: string): Client;
}

interface Client {
  readonly socket: Socket;
  received(): string;
  /** Everything, once the server has closed. */
  readonly whole: Promise<string>;
  /** Resolves when this much text has come. */
  sees(text: string | RegExp): Promise<void>;
}

async function start(
  routes: Routes,
  options: Partial<ServerOptions> & { limits?: Partial<AdmissionLimits> } = {},
): Promise<Started> {
  const { limits, ...rest } = options;
  const admission = new Admission({ maxRequests: 1000, maxHeldBytes: 1e9, ...limits });
  const server = await startServer(routes, {
    port: 0,
    address: '127.0.0.1',
    timeoutMs: 60_000,
    log,
    admission,
    ...rest,
  });
  cleanups.push(() => server.close(0));
  return { server, admission, client: (text) => clientOf(server.port, text) };
}

function clientOf(port: number, text?: string): Client {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => undefined);
  if (text) socket.write(text);
  cleanups.push(() => socket.destroy());
  return {
    socket,
    received: () => received,
    whole: new Promise((resolve) => socket.once('close', () => resolve(received))),
    sees: (wanted) => until(() => received.search(wanted) >= 0),
  };
}

/** Answers the length of the body, once it is let go. */
function holding() {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let begun = 0;
  const routes: Routes = {
    '/ping': { GET: () => jsonReply('pong') },
    '/': {
      POST: async (exchange) => {
        const { request, signal } = exchange;
        const ticket = exchange.admit(Number(request.headers['content-length'] ?? 0));
        begun += 1;
        exchange.acceptBody();
        const body = await readBody(request, { maxBytes: 1e9, signal, onBytes: ticket.received });
        await held;
        return jsonReply(body.length);
      },
    },
  };
  return { routes, begun: () => begun, letGo: () => letGo() };
}

const post = (fields: string, body = '') =>
  `POST / HTTP/1.1\r\nHost: x\r\n${fields}\r\n\r\n${body}`;
const ofLength = (length: number, body = 'a'.repeat(length)) =>
  post(`Content-Length: ${length}`, body);
const PING = 'GET /ping HTTP/1.1\r\nHost: x\r\n\r\n';
const REFUSED = /^HTTP\/1.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*OVERLOADED/;

describe('more than is taken on', () => {
  test('a request too many gets 503 before its body is asked for; /ping is answered', async () => {
    const { routes, begun, letGo } = holding();
    const { client } = await start(routes, { limits: { maxRequests: 2 } });
    const first = [client(ofLength(3)), client(ofLength(3))];
    await until(() => begun() === 2);
    const third = client(post('Content-Length: 3\r\nExpect: 100-continue'));
    await third.sees('OVERLOADED');
    expect(third.received()).toMatch(REFUSED);
    await client(PING).sees('pong');
    letGo();
    for (const { sees } of first) await sees(/200 OK[\s\S]*\r\n\r\n3$/);
    await client(ofLength(4)).sees(/\r\n\r\n4$/);
  });

  test('announced bytes count until the connection is done with the answer', async () => {
    const { routes, begun, letGo } = holding();
    const { client, admission } = await start(routes, { limits: { maxHeldBytes: 100 } });
    const first = client(ofLength(60));
    await until(() => begun() === 1);
    const second = client(ofLength(60));
    await second.sees('OVERLOADED');
    expect(second.received()).toMatch(REFUSED);
    letGo();
    await first.sees(/\r\n\r\n60$/);
    await until(() => admission.heldBytes === 0 && admission.requests === 0);
    await client(ofLength(60)).sees(/\r\n\r\n60$/);
  });

  test('a body in chunks is refused once there is no room for what comes', async () => {
    const { routes, begun } = holding();
    const { client, admission } = await start(routes, { limits: { maxHeldBytes: 100 } });
    client(ofLength(60));
    await until(() => begun() === 1);
    const chunked = client(post('Transfer-Encoding: chunked', `14\r\n${'a'.repeat(20)}\r\n`));
    await until(() => admission.heldBytes === 80);
    chunked.socket.write(`28\r\n${'a'.repeat(40)}\r\n`);
    await chunked.sees('OVERLOADED');
    await until(() => admission.heldBytes === 60);
  });

  test('a body larger than the limit is taken where there is little else, and only one', async () => {
    const { routes, begun, letGo } = holding();
    const { client } = await start(routes, { limits: { maxHeldBytes: 100 } });
    const small = client(ofLength(20));
    const large = client(ofLength(500));
    await until(() => begun() === 2);
    await client(ofLength(500)).sees('OVERLOADED');
    letGo();
    await large.sees(/\r\n\r\n500$/);
    await small.sees(/\r\n\r\n20$/);
  });

  test('requests on a connection too many get 503, but /ping is answered; then there is room again', async () => {
    const { routes, letGo } = holding();
    letGo();
    const { client, server } = await start(routes, { maxConnections: 2 });
    const first = [client(ofLength(3)), client()];
    await first[0]?.sees(/\r\n\r\n3$/);
    const busy = client(post('Content-Length: 10', 'a'));
    await client(PING).sees('pong');
    const third = client(ofLength(3));
    const [answer] = await Promise.all([third.whole]);
    expect(answer).toMatch(REFUSED);
    expect(answer).toMatch(/Connection: close/);
    for (const { socket } of [...first, busy]) socket.destroy();
    await until(async () => {
      const next = clientOf(server.port, ofLength(3));
      await next.sees(/\r\n\r\n/);
      next.socket.destroy();
      return next.received().startsWith('HTTP/1.1 200');
    });
  });

  test.each([
    ['nothing is asked', ''],
    ['a head begins', 'GET /ping HTTP/1.1\r\nX: '],
    ['a second head begins', `${PING}GET /ping HTTP/1.1\r\nX: `],
  ])('connections on which %s do not keep /ping out, however many', async (_what, text) => {
    const { routes } = holding();
    const { client } = await start(routes, { maxConnections: 2 });
    const silent = Array.from({ length: 200 }, () => client(text));
    await Promise.all(silent.map(({ socket }) => once(socket, 'connect')));
    await client(PING).sees('pong');
  });
});

describe('slow clients', () => {
  const pace = { minBytesPerSecond: 1000, patienceMs: 600 };

  test('one that sends a byte now and then gets 408; one that sends steadily does not', async () => {
    const { routes, letGo } = holding();
    letGo();
    const { client } = await start(routes, { pace });
    const slow = client(post('Content-Length: 1000', 'a'));
    const steady = client(post('Content-Length: 40000'));
    const dribble = setInterval(() => {
      if (slow.socket.writable) slow.socket.write('a');
    }, 50);
    cleanups.push(() => clearInterval(dribble));
    void (async () => {
      // Ten times as fast as it must be.
      for (let i = 0; i < 40; i++) {
        steady.socket.write('a'.repeat(1000));
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    })();
    expect(await slow.whole).toMatch(/^HTTP\/1.1 408 [\s\S]*CLIENT_TOO_SLOW/);
    await steady.sees(/^HTTP\/1.1 200 [\s\S]*\r\n\r\n40000$/);
  });

  test('bytes that were announced and do not come stop to count before that', async () => {
    const { routes, letGo } = holding();
    letGo();
    const slow = { ...pace, patienceMs: 4000 };
    const { client, admission } = await start(routes, {
      pace: slow,
      limits: { maxHeldBytes: 16e9 },
    });
    client(post('Content-Length: 1000000000', 'a'));
    await until(() => admission.heldBytes === 1e9);
    await until(() => admission.heldBytes === 1);
  });

  test('one that never reads loses its connection, and its memory is free', async () => {
    const large = Buffer.alloc(50_000_000);
    let closed = 0;
    const { client, admission } = await start(
      {
        '/': {
          GET: (exchange) => {
            exchange.admit(0);
            exchange.onClosed(() => {
              closed += 1;
            });
            return { status: 200, headers: {}, body: [large] };
          },
        },
      },
      { pace },
    );
    const deaf = client();
    deaf.socket.pause();
    deaf.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => admission.heldBytes === large.length);
    await until(() => closed === 1 && admission.heldBytes === 0);
    const honest = client('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect((await honest.whole).length).toBeGreaterThan(large.length);
  });

  test('many that read large answers slowly keep only a share: the slowest are cut for honest requests', async () => {
    const large = Buffer.alloc(10_000_000);
    const { routes, letGo } = holding();
    letGo();
    const { client, admission } = await start(
      {
        ...routes,
        '/large': {
          GET: (exchange) => {
            exchange.admit(0);
            return { status: 200, headers: {}, body: [large] };
          },
        },
      },
      // Slow enough to be never cut otherwise.
      { pace: { minBytesPerSecond: 1, patienceMs: 60_000 }, limits: { maxHeldBytes: 200_000_000 } },
    );
    const deaf = Array.from({ length: 24 }, () => client());
    for (const { socket } of deaf) {
      socket.pause();
      socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    }
    await until(() => admission.heldBytes === 24 * large.length);
    const answered: string[] = [];
    // Until they were seen to wait, nobody knows who reads slowly.
    await until(async () => {
      const honest = client(ofLength(3));
      await honest.sees(/\r\n\r\n/);
      answered.push(honest.received());
      return honest.received().startsWith('HTTP/1.1 200');
    });
    for (let more = 0; more < 20; more++) await client(ofLength(3)).sees(/200 OK[\s\S]*\r\n\r\n3$/);
    expect(admission.heldBytes).toBe(19 * large.length);
    expect(answered.slice(0, -1).every((text) => REFUSED.test(text))).toBe(true);
  });

  test('one that waits for a slow answer is not a slow client', async () => {
    const { routes, begun, letGo } = holding();
    const { client } = await start(routes, { pace });
    const waiting = client(ofLength(3));
    await until(() => begun() === 1);
    await new Promise((resolve) => setTimeout(resolve, 3 * pace.patienceMs));
    letGo();
    await waiting.sees(/^HTTP\/1.1 200 [\s\S]*\r\n\r\n3$/);
  });

  test('one that does not send its headers gets 408', async () => {
    const { client } = await start({}, { pace });
    const answer = await client('POST / HTTP/1.1\r\nHost: x\r\nContent-').whole;
    expect(answer).toMatch(/^HTTP\/1.1 408 [\s\S]*CLIENT_TOO_SLOW/);
  });
});

describe('a body in chunks of one byte', () => {
  const chunks = (count: number) => '1\r\na\r\n'.repeat(count);
  const head = post('Transfer-Encoding: chunked');

  test('others are answered before it is read, and it is answered right', async () => {
    const { routes, begun, letGo } = holding();
    const { client, admission } = await start(routes);
    letGo();
    const senders = Array.from({ length: 4 }, () => client(head));
    await until(() => begun() === senders.length);
    const count = 300_000;
    for (const { socket } of senders) socket.write(`${chunks(count)}0\r\n\r\n${PING}`);
    await until(() => admission.heldBytes > 0);
    await client(PING).sees('pong');
    expect(admission.heldBytes).toBeLessThan((senders.length * count) / 10);
    // And the request behind it, on the same connection.
    for (const { sees } of senders) await sees(/\r\n\r\n300000[\s\S]*pong/);
  });

  test('one that is not read waits in the socket, and one that ends midway is forgotten', async () => {
    let resume: () => void = () => undefined;
    const read = new Promise<void>((resolve) => {
      resume = resolve;
    });
    let waiting: IncomingMessage | undefined;
    const { client, admission } = await start({
      '/': {
        POST: async (exchange) => {
          const { request, signal } = exchange;
          waiting = request;
          exchange.acceptBody();
          await read;
          return jsonReply((await readBody(request, { maxBytes: 1e9, signal })).length);
        },
      },
    });
    const sender = client(head);
    sender.socket.write(`${chunks(400_000)}0\r\n\r\n`);
    await until(
      () => (waiting?.readableLength ?? 0) >= (waiting?.readableHighWaterMark ?? Infinity),
    );
    resume();
    await sender.sees(/\r\n\r\n400000$/);
    const midway = client(`${head}${chunks(1_000)}`);
    await midway.sees(/^$/);
    midway.socket.destroy();
    await until(() => admission.heldBytes === 0);
  });
});

describe('what is no HTTP', () => {
  const chunked = 'Transfer-Encoding: chunked';
  test.each([
    ['a length and chunks', post(`Content-Length: 3\r\n${chunked}`, '0\r\n\r\n')],
    ['chunks and a length', post(`${chunked}\r\nContent-Length: 3`, '0\r\n\r\n')],
    ['two lengths', post('Content-Length: 3\r\nContent-Length: 4', 'abcd')],
    ['a length with a sign', post('Content-Length: +3', 'abc')],
    ['a length that is a list', post('Content-Length: 3, 3', 'abc')],
    ['a coding beside chunked', post('Transfer-Encoding: chunked, identity', '0\r\n\r\n')],
    ['a folded header', post('X-A: b\r\n c: d\r\nContent-Length: 3', 'abc')],
    ['a space before the colon', post('Content-Length : 3', 'abc')],
    ['a chunk size that is none', post(chunked, 'xyz\r\nabc\r\n0\r\n\r\n')],
    ['a chunk longer than its size', post(chunked, '3\r\nabcdef\r\n0\r\n\r\n')],
    ['lines ended by \\n', 'POST / HTTP/1.1\nHost: x\nContent-Length: 3\n\nabc'],
    ['a NUL in a header', post('X-A: \0b\r\nContent-Length: 3', 'abc')],
    ['no Host', 'POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc'],
    ['two Hosts', post('Host: y\r\nContent-Length: 3', 'abc')],
    ['the same Host twice', post('host: x\r\nContent-Length: 3', 'abc')],
    ['no Host but in the target', 'POST http://x/ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc'],
    ['two media types', post('Content-Type: a/b\r\ncontent-type: a/c\r\nContent-Length: 3', 'abc')],
    ['HTTP/2.0 in the line', 'POST / HTTP/2.0\r\nHost: x\r\n\r\n'],
    ['HTTP/0.9 in the line', 'POST / HTTP/0.9\r\nHost: x\r\n\r\n'],
    ['HTTP/1.2', 'POST / HTTP/1.2\r\nHost: x\r\n\r\n'],
    ['no method', ' / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('%s gets 400, and nothing behind it is a request', async (_name, text) => {
    const { routes, letGo } = holding();
    letGo();
    const { client } = await start(routes);
    const answer = await client(text + PING).whole;
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer.match(/HTTP\/1.1 \d+/g)).toHaveLength(1);
  });

  test.each([
    'gzip, chunked',
    'Gzip,Chunked',
    'x, chunked',
    'identity, chunked',
    'chunked, chunked',
    ', chunked',
    'deflate\r\nTransfer-Encoding: chunked',
    'gzip',
    'identity',
    'x',
    'chunked, gzip',
    'chunked;q=1',
    '"chunked"',
  ])('the transfer coding %j is refused, and nothing behind it is a request', async (coding) => {
    const { routes, begun, letGo } = holding();
    letGo();
    const { client } = await start(routes);
    const body = '3\r\nabc\r\n0\r\n\r\n';
    const answer = await client(post(`Transfer-Encoding: ${coding}`, body) + PING).whole;
    expect(answer).toMatch(/^HTTP\/1.1 (415 [\s\S]*UNSUPPORTED_MEDIA_TYPE|400 )/);
    expect(answer.match(/HTTP\/1.1 \d+/g)).toHaveLength(1);
    expect(begun()).toBe(0);
  });

  test.each(['Chunked', 'CHUNKED ', '\tchunked'])('the coding %j is chunked', async (coding) => {
    const { routes, letGo } = holding();
    letGo();
    const { client } = await start(routes);
    const taken = client(post(`Transfer-Encoding: ${coding}`, '3\r\nabc\r\n0\r\n\r\n'));
    await taken.sees(/\r\n\r\n3$/);
  });

  test('HTTP/1.0 has no chunks', async () => {
    const { routes, letGo } = holding();
    letGo();
    const { client } = await start(routes);
    const head = 'POST / HTTP/1.0\r\nConnection: keep-alive\r\n';
    const chunks = 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
    const answer = await client(head + chunks + PING).whole;
    expect(answer).toMatch(/^HTTP\/1.\d 4\d\d /);
    expect(answer.match(/HTTP\/1.\d \d+/g)).toHaveLength(1);
  });

  const UPGRADE = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';

  test.each([
    ['a request', PING, ''],
    ['the head of a request, its body later', post('Content-Length: 100'), PING],
    ['half a request, the other half later', PING.slice(0, 20), PING.slice(20) + PING],
    ['nothing, a request later', '', PING],
  ])('an upgrade is answered as any request, and closes what follows: %s', async (...texts) => {
    const [, inOnePiece, later] = texts;
    const { routes, begun, letGo } = holding();
    const { client } = await start(routes);
    const { socket, whole } = client(post(`${UPGRADE}Content-Length: 3`, 'abc') + inOnePiece);
    await until(() => begun() === 1);
    socket.write(later);
    // What is sent later is read later.
    await client(PING).sees('pong');
    letGo();
    const answer = await whole;
    expect(answer).toMatch(/^HTTP\/1.1 200 [\s\S]*\r\nConnection: close\r\n[\s\S]*\r\n\r\n3$/);
    expect(answer.match(/HTTP\/1.1 \d+/g)).toHaveLength(1);
    expect(begun()).toBe(1);
  });

  test('headers without end get 431', async () => {
    const { client } = await start({});
    const answer = await client(post(`X-A: ${'a'.repeat(100_000)}`)).whole;
    expect(answer).toMatch(/^HTTP\/1.1 431 /);
  });

  test.each([
    ['empty ones', 'a:\r\n'.repeat(5_000)],
    [
      'empty ones of different names',
      Array.from({ length: 3_000 }, (_, i) => `h${i}:\r\n`).join(''),
    ],
    ['small ones', 'ab: c\r\n'.repeat(2_500)],
  ])('more than 16 KiB of headers get 431, though they are %s', async (_name, fields) => {
    const { client } = await start(holding().routes);
    const answer = client(`GET /ping HTTP/1.1\r\nHost: x\r\n${fields}Connection: close\r\n\r\n`);
    expect(await answer.whole).toMatch(/^HTTP\/1.1 431 [\s\S]*SAGEMAKER_TFS_MAX_HEADER_BYTES/);
  });

  test('no header is dropped for its number', async () => {
    const routes: Routes = {
      '/': { GET: ({ request }) => jsonReply(request.headers['x-last'] ?? 'dropped') },
    };
    const { client } = await start(routes, { maxHeaderBytes: 64_000 });
    const fields = 'a:\r\n'.repeat(4_000);
    const text = `GET / HTTP/1.1\r\nHost: x\r\n${fields}X-Last: seen\r\nConnection: close\r\n\r\n`;
    expect(await client(text).whole).toMatch(/^HTTP\/1.1 200 [\s\S]*"seen"/);
  });

  test('the same media type twice is one', async () => {
    const { routes, letGo } = holding();
    letGo();
    const { client } = await start(routes);
    const type = 'Content-Type: a/b\r\n';
    const answer = client(post(`${type}${type}Content-Length: 3\r\nConnection: close`, 'abc'));
    expect(await answer.whole).toMatch(/^HTTP\/1.1 200 /);
  });

  test.each([
    ['http://other/ping', 'other'],
    ['HTTPS://other:8080/ping?a=b', 'other:8080'],
    ['http://[::1]/ping', '[::1]'],
    ['/ping', 'x'],
    ['http://other', 'other', '/'],
    ['http://other?a=b', 'other', '/?a=b'],
  ])(
    'the target %s is of the host %s',
    async (target, host, url = target.replace(/^.*\/ping/, '/ping')) => {
      const seen = {
        GET: ({ request }: { request: IncomingMessage }) =>
          jsonReply(`${request.headers.host} ${request.url}`),
      };
      const { client } = await start({ '/ping': seen, '/': seen });
      const answer = await client(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
        .whole;
      expect(answer).toMatch(/^HTTP\/1.1 200 /);
      expect(answer).toContain(JSON.stringify(`${host} ${url}`));
    },
  );

  test.each(['http://user@x/ping', 'ftp://x/ping', '*'])(
    'the target %s is none',
    async (target) => {
      const { client } = await start(holding().routes);
      const answer = await client(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
        .whole;
      expect(answer).toMatch(/^HTTP\/1.1 40[04] /);
    },
  );

  test('the limit of headers is a setting', async () => {
    const { routes, letGo } = holding();
    letGo();
    const { client } = await start(routes, { maxHeaderBytes: 2_000 });
    const ping = (size: number) =>
      `GET /ping HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(size)}\r\n\r\n`;
    const allowed = client(ping(1_800));
    await allowed.sees(/^HTTP\/1.1 200 [\s\S]*"pong"$/);
    expect(await client(ping(2_000)).whole).toMatch(/^HTTP\/1.1 431 /);
  });

  test('a body of many tiny chunks is kept in few pieces', async () => {
    const { routes, letGo } = holding();
    letGo();
    const { client } = await start(routes);
    const concat = jest.spyOn(Buffer, 'concat');
    try {
      const count = 30_000;
      const chunked = client(
        post('Transfer-Encoding: chunked', `${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`),
      );
      await chunked.sees(new RegExp(`\r\n\r\n${count}$`));
      const most = Math.max(...concat.mock.calls.map(([pieces]) => pieces.length));
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThan(20);
    } finally {
      concat.mockRestore();
    }
  });

  test('requests sent in one go are answered in order', async () => {
    const { routes, letGo } = holding();
    letGo();
    const { client } = await start(routes);
    const piped = client(ofLength(1) + ofLength(2) + PING + ofLength(3));
    await piped.sees(/\r\n\r\n3$/);
    const bodies = [...piped.received().matchAll(/\r\n\r\n("pong"|\d)/g)].map(([, body]) => body);
    expect(bodies).toEqual(['1', '2', '"pong"', '3']);
  });
});

describe('a client that closes behind its request', () => {
  test.each([
    ['a body', ofLength(5), /\r\n\r\n5$/],
    ['a chunked body', post('Transfer-Encoding: chunked', '3\r\nabc\r\n0\r\n\r\n'), /\r\n\r\n3$/],
    ['two requests', ofLength(1) + ofLength(2), /\r\n\r\n1HTTP[\s\S]*\r\n\r\n2$/],
    ['HTTP/1.0', 'POST / HTTP/1.0\r\nContent-Length: 4\r\n\r\nabcd', /\r\n\r\n4$/],
  ])('only its half, with %s: it gets its answer and then the end', async (_what, text, answer) => {
    const { routes, begun, letGo } = holding();
    const { client } = await start(routes);
    const half = client(text);
    half.socket.end();
    await until(() => begun() > 0);
    // Longer than the first tries whether it is still there.
    await delay(500);
    letGo();
    expect(await half.whole).toMatch(answer);
  });

  test('is tried with what clients of HTTP/1.1 pass over, and those of HTTP/1.0 never see', async () => {
    const { routes, begun, letGo } = holding();
    const { server, client } = await start(routes);
    const old = client('POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\na');
    old.socket.end();
    const answered = new Promise<number>((resolve, reject) => {
      const asked = request({ port: server.port, method: 'POST', path: '/' }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      asked.on('error', reject);
      asked.on('finish', () => asked.socket?.end());
      asked.end('abc');
    });
    await until(() => begun() === 2);
    await delay(500);
    letGo();
    expect(await answered).toBe(200);
    expect(await old.whole).toMatch(/^HTTP\/1.1 200 /);
  });

  test.each([
    ['closed', (socket: Socket) => socket.destroy()],
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('wholly (%s): its request is dropped', async (_how, leave) => {
    let signal: { readonly aborted: boolean } | undefined;
    const { client, admission } = await start({
      '/': {
        POST: async (exchange) => {
          exchange.admit(1);
          exchange.acceptBody();
          await readBody(exchange.request, { maxBytes: 1e9, signal: exchange.signal });
          ({ signal } = exchange);
          return new Promise(() => undefined);
        },
      },
    });
    const gone = client(ofLength(5));
    await until(() => signal !== undefined);
    expect(admission.requests).toBe(1);
    leave(gone.socket);
    await until(() => signal?.aborted === true);
    await until(() => admission.requests === 0);
  });

  test('in the middle of its body gets 400', async () => {
    const { routes } = holding();
    const { client } = await start(routes);
    const half = client(ofLength(5, 'ab'));
    half.socket.end();
    expect(await half.whole).toMatch(/^HTTP\/1.1 400 /);
  });
});

describe('pipelined requests', () => {
  test.each([
    ['a broken line', 'GET / HTTP/9.9\r\n\r\n'],
    ['two lengths', `${post('Content-Length: 1\r\nContent-Length: 2', 'ab')}`],
    ['a broken chunk', post('Transfer-Encoding: chunked', 'x\r\n')],
  ])('whole ones before %s get their answers first, in their order', async (_, broken) => {
    const { routes, begun, letGo } = holding();
    const { client } = await start(routes);
    const { whole } = client(ofLength(3) + ofLength(4) + broken + PING);
    await until(() => begun() >= 1);
    letGo();
    const text = await whole;
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(['200', '200', '400']);
    expect(text).toMatch(/\r\n\r\n3HTTP[\s\S]*\r\n\r\n4HTTP[\s\S]*BAD_REQUEST/);
  });

  test('are worked on one after the other', async () => {
    const { routes, begun, letGo } = holding();
    const { client } = await start(routes);
    const { whole } = client(
      ofLength(3) + ofLength(4) + ofLength(5) + post('Content-Length: 0\r\nConnection: close'),
    );
    const other = client(ofLength(6));
    await until(() => begun() === 2);
    letGo();
    const text = await whole;
    expect([...text.matchAll(/200 OK/g)]).toHaveLength(4);
    expect(text).toMatch(/\r\n\r\n3HTTP[\s\S]*\r\n\r\n4HTTP[\s\S]*\r\n\r\n5HTTP/);
    await other.sees(/\r\n\r\n6$/);
    expect(begun()).toBe(5);
  });

  test('whole ones get their answers before what is broken, whenever that comes', async () => {
    const { routes, begun, letGo } = holding();
    letGo();
    const { client } = await start(routes);
    for (let pause = 0; pause < 10; pause++) {
      const before = begun();
      const { socket, whole } = client(ofLength(3) + ofLength(4));
      for (let turns = 0; turns < pause; turns++) await new Promise(setImmediate);
      if (pause > 5) await until(() => begun() > before);
      socket.write('no HTTP\r\n\r\n');
      const text = await whole;
      expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
        '200',
        '200',
        '400',
      ]);
    }
  });

  test('and what is broken in many packets is one refusal, which nobody listens for twice', async () => {
    const warnings: string[] = [];
    const warn = ({ message }: Error) => void warnings.push(message);
    process.on('warning', warn);
    cleanups.push(() => process.off('warning', warn));
    const { routes, begun, letGo } = holding();
    const { client } = await start(routes);
    const { socket, whole } = client(ofLength(3));
    await until(() => begun() === 1);
    for (let packet = 0; packet < 30; packet++) {
      socket.write('no HTTP\r\n\r\n');
      await delay(2);
    }
    letGo();
    const text = await whole;
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      '200',
      '400',
    ]);
    expect(warnings).toEqual([]);
  });

  test('are dropped with a client that leaves', async () => {
    const { routes, begun, letGo } = holding();
    const { client, admission } = await start(routes);
    const gone = client(ofLength(3).repeat(50));
    await until(() => begun() === 1);
    gone.socket.destroy();
    await until(() => admission.requests === 0);
    letGo();
    await client(ofLength(4)).sees(/\r\n\r\n4$/);
    expect(begun()).toBe(2);
  });

  test('more than a connection may have close it, and others notice nothing', async () => {
    const { routes, begun } = holding();
    const { client } = await start(routes);
    const many = Array.from({ length: 200 }, () => client(ofLength(3) + PING.repeat(2_000)));
    await Promise.all(
      many.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve))),
    );
    await client(PING).sees(/200 OK/);
    expect(begun()).toBeLessThanOrEqual(200);
    const most = client(PING.repeat(MAX_WAITING + 1));
    await until(() => most.received().split('200 OK').length === MAX_WAITING + 2);
  });

  test('a request that names no version is refused', async () => {
    const { client } = await start(holding().routes);
    expect(await client('GET /ping\r\n\r\n').whole).toMatch(
      /^HTTP\/1.1 400 [\s\S]*names no version/,
    );
  });
});

test('CONNECT is answered, after what came before it, and its connection closes', async () => {
  const routes: Routes = { '/ping': { GET: async () => jsonReply({ is: 'up' }) } };
  const { client } = await start(routes);
  const ping = 'GET /ping HTTP/1.1\r\nHost: a\r\n\r\n';
  const whole = await client(`${ping}CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n`).whole;
  expect(whole).toMatch(
    /^HTTP\/1\.1 200 [\s\S]*\{"is":"up"\}[\s\S]*HTTP\/1\.1 501 Not Implemented\r\n/,
  );
  expect(whole).toContain('"code":"METHOD_NOT_ALLOWED"');
  expect(whole.match(/HTTP\/1\.1 /g)).toHaveLength(2);
});
