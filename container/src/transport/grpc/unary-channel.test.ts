import { once } from 'node:events';
import {
  constants,
  createServer as createHttp2Server,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { until } from '../../testing/runtime-process.ts';
import { ConnectionLost } from '../connection-lost.ts';
import { UnaryChannel } from './unary-channel.ts';

const PATH = '/test.Echo/Call';

type Behavior = grpc.handleUnaryCall<Buffer, Buffer>;

/** A server of the reference implementation. */
async function grpcServer(behavior: Behavior, address = '127.0.0.1:0') {
  const server = new grpc.Server({
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  });
  const identity = (bytes: Buffer) => bytes;
  server.addService(
    {
      call: {
        path: PATH,
        requestStream: false,
        responseStream: false,
        requestSerialize: identity,
        requestDeserialize: identity,
        responseSerialize: identity,
        responseDeserialize: identity,
      },
    },
    { call: behavior },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { server, port };
}

/** An HTTP/2 server that does what no well-behaved gRPC server does. */
async function rawServer(onStream: (stream: ServerHttp2Stream) => void) {
  const server = createHttp2Server();
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    onStream(stream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function channelTo(port: number, maxReplyBytes = 2 ** 31 - 1, socket?: string): UnaryChannel {
  const target = { host: '127.0.0.1', port, ...(socket ? { socket } : {}) };
  const channel = new UnaryChannel(target, { maxReplyBytes });
  cleanups.push(() => channel.close());
  return channel;
}

async function channelFor(behavior: Behavior, maxReplyBytes?: number): Promise<UnaryChannel> {
  const { server, port } = await grpcServer(behavior);
  cleanups.push(() => server.forceShutdown());
  return channelTo(port, maxReplyBytes);
}

async function channelForRaw(onStream: (stream: ServerHttp2Stream) => void) {
  const { server, port } = await rawServer(onStream);
  cleanups.push(() => server.close());
  return { channel: channelTo(port), server: server as Http2Server };
}

const echo: Behavior = (call, callback) => callback(null, call.request);

describe('UnaryChannel against the reference implementation', () => {
  test('an error text that TensorFlow Serving cut at 1,024 bytes, inside a character', async () => {
    const whole = Buffer.from(`${'x'.repeat(1_010)} \u00fc\u6f22`.padEnd(1_020, '!'));
    const cuts = [whole.length - 1, 1_011, 1_012, 1_014, 1_015];
    for (const cut of cuts) {
      const bytes = Buffer.concat([whole.subarray(0, cut), Buffer.from('...TRUNCATED')]);
      const message = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
      const { channel } = await channelForRaw((stream) =>
        stream.respond(
          {
            ':status': 200,
            'content-type': 'application/grpc',
            'grpc-status': '3',
            'grpc-message': message,
          },
          { endStream: true },
        ),
      );
      const text = await channel.call({ path: PATH, message: [] }).catch((e: Error) => e.message);
      expect(text).not.toContain('\ufffd');
      expect(text).toMatch(/^x{1010} ?[\u00fc\u6f22!]*\.\.\.TRUNCATED$/);
    }
  });

  test('a message goes out in pieces and comes back whole, at any size around the frame limits', async () => {
    const channel = await channelFor(echo);
    for (const size of [0, 1, 16_383, 16_384, 65_535, 65_536, 3_000_001]) {
      const message = Buffer.alloc(size, 'abcdefg');
      const pieces = [message.subarray(0, 1), message.subarray(1, 7), message.subarray(7)];
      const reply = await channel.call({ path: PATH, message: pieces });
      expect(reply.equals(message)).toBe(true);
    }
  });

  test('many calls share the connection without mixing their replies', async () => {
    const channel = await channelFor(echo);
    const messages = Array.from({ length: 64 }, (_, i) => Buffer.alloc(40_000 + i, i));
    const replies = await Promise.all(
      messages.map((message) => channel.call({ path: PATH, message: [message] })),
    );
    expect(replies.every((reply, i) => reply.equals(messages[i] as Buffer))).toBe(true);
  });

  test('a status other than OK is a StatusError with the decoded message', async () => {
    const details = 'Matrix size-incompatible: In[0]: [1,2], In[1]: [3,4] — 100% größer\n';
    const channel = await channelFor((_call, callback) =>
      callback({ code: grpc.status.INVALID_ARGUMENT, details }),
    );
    const error = await channel.call({ path: PATH, message: [] }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(StatusError);
    expect(error).toMatchObject({ code: GrpcStatus.INVALID_ARGUMENT, message: details });
  });

  test('a method that is not there is UNIMPLEMENTED', async () => {
    const channel = await channelFor(echo);
    await expect(channel.call({ path: '/no.Such/Method', message: [] })).rejects.toMatchObject({
      code: GrpcStatus.UNIMPLEMENTED,
    });
  });

  test('the deadline is sent to the server', async () => {
    const deadlines: (Date | number)[] = [];
    const channel = await channelFor((call, callback) => {
      deadlines.push(call.getDeadline());
      callback(null, call.request);
    });
    await channel.call({ path: PATH, message: [], timeoutMs: 60_000 });
    const left = Number(deadlines[0]) - Date.now();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
  });

  test('an abort rejects with its reason and cancels the call on the server', async () => {
    let cancelled: () => void = () => {};
    const onServer = new Promise<void>((resolve) => {
      cancelled = resolve;
    });
    let arrived: () => void = () => {};
    const onArrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const channel = await channelFor((call) => {
      call.on('cancelled', cancelled);
      arrived();
    });
    const controller = new AbortController();
    const call = channel.call({ path: PATH, message: [], signal: controller.signal });
    await onArrival;
    controller.abort(new Error('the client has gone'));
    await expect(call).rejects.toThrow('the client has gone');
    await onServer;
  });

  test('a reply over the limit is refused, the connection stays', async () => {
    const channel = await channelFor(echo, 1000);
    const call = channel.call({ path: PATH, message: [Buffer.alloc(1001)] });
    await expect(call).rejects.toMatchObject({ isTooLarge: true });
    expect(await channel.call({ path: PATH, message: [Buffer.alloc(1000)] })).toHaveLength(1000);
  });

  test('the next call after a restart of the server opens a new connection', async () => {
    const first = await grpcServer(echo);
    const channel = channelTo(first.port);
    await channel.call({ path: PATH, message: [Buffer.from('a')] });
    first.server.forceShutdown();
    await expect(channel.call({ path: PATH, message: [] })).rejects.toBeInstanceOf(ConnectionLost);
    const second = await grpcServer(echo, `127.0.0.1:${first.port}`);
    cleanups.push(() => second.server.forceShutdown());
    const reply = await channel.call({ path: PATH, message: [Buffer.from('b')] });
    expect(reply.toString()).toBe('b');
  });

  test('nobody listening is a lost connection', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await expect(channelTo(port).call({ path: PATH, message: [] })).rejects.toBeInstanceOf(
      ConnectionLost,
    );
  });

  test('a port is taken for large requests only, while the server is there on its own socket', async () => {
    const socket = join(tmpdir(), `unary-channel-${process.pid}.sock`);
    const named = (name: string): Behavior =>
      ((_call, done) => done(null, Buffer.from(name))) as Behavior;
    // Of another program it may be.
    const overTcp = await grpcServer(named('port'));
    cleanups.push(() => overTcp.server.forceShutdown());
    let losses = 0;
    const channel = new UnaryChannel(
      { host: '127.0.0.1', port: overTcp.port, socket },
      { maxReplyBytes: MB, onLost: () => (losses += 1) },
    );
    cleanups.push(() => channel.close());
    const answer = async (bytes: number) => {
      const reply = await channel.call({ path: PATH, message: [Buffer.alloc(bytes)] });
      return reply.toString();
    };
    for (const bytes of [0, MB]) await expect(answer(bytes)).rejects.toThrow(ConnectionLost);

    const own = await grpcServer(named('socket'), `unix:${socket}`);
    expect([await answer(MB), await answer(0), await answer(MB)]).toEqual([
      'socket',
      'socket',
      'port',
    ]);
    const before = losses;
    own.server.forceShutdown();
    await until(() => losses > before);
    await expect(answer(MB)).rejects.toThrow(ConnectionLost);
  });
});

const MB = 2 ** 20;

/** Echoes through node:http2, several times over, with the windows and frames that a case asks for. */
async function echoServer(options: ServerOptions, address: number | string = 0, times = 1) {
  const server = createHttp2Server(options);
  server.on('session', (session) => session.setLocalWindowSize(2 ** 30));
  server.on('stream', async (stream) => {
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part as Buffer);
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    const request = Buffer.concat(parts);
    const prefix = Buffer.from(request.subarray(0, 5));
    prefix.writeUInt32BE((request.length - 5) * times, 1);
    stream.end(Buffer.concat([prefix, ...Array(times).fill(request.subarray(5))]));
  });
  server.listen(address);
  await once(server, 'listening');
  cleanups.push(() => server.close());
  return server;
}

async function channelToEcho(options: ServerOptions): Promise<UnaryChannel> {
  const server = await echoServer(options);
  return channelTo((server.address() as AddressInfo).port);
}

/** Sends messages of different content at a time and expects each back. */
async function expectEchoes(channel: UnaryChannel, count: number, bytes: number, times = 1) {
  const messages = Array.from({ length: count }, (_, i) => Buffer.alloc(bytes + i, `message ${i}`));
  const replies = await Promise.all(
    messages.map((message) => channel.call({ path: PATH, message: [message] })),
  );
  const wanted = messages.map((message) => Buffer.concat(Array<Buffer>(times).fill(message)));
  expect(replies.map((reply, i) => reply.equals(wanted[i] as Buffer))).toEqual(
    messages.map(() => true),
  );
}

/** Sends one message after the other, so that some requests are on their way while replies are. */
async function sendInTurn(channel: UnaryChannel, count: number, bytes: number, times = 1) {
  for (let i = 0; i < count; i++) {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
    await expectEchoes(channel, 1, bytes, times);
  }
}

describe('UnaryChannel with much on the way', () => {
  const windows = { settings: { initialWindowSize: 2 ** 30 }, maxSessionMemory: 1000 };

  // node:http2 does not read while a write of its own has not gone out; two of them can wait for ever.
  test('large requests and large replies at a time do not wait for each other, over TCP', async () => {
    const channel = await channelToEcho(windows);
    await Promise.all(Array.from({ length: 8 }, () => sendInTurn(channel, 3, 3 * MB)));
  });

  test('nor over a Unix domain socket', async () => {
    const socket = join(tmpdir(), `unary-channel-large-${process.pid}.sock`);
    await echoServer(windows, socket, 32);
    const channel = channelTo(1, undefined, socket);
    await Promise.all(Array.from({ length: 16 }, () => sendInTurn(channel, 3, 90_000, 32)));
  });

  test('a window smaller than the message is waited for', async () => {
    await expectEchoes(await channelToEcho({ settings: { initialWindowSize: 1000 } }), 4, 300_000);
  });

  test('a server that takes few calls at a time gets no more', async () => {
    await expectEchoes(await channelToEcho({ settings: { maxConcurrentStreams: 2 } }), 20, 100_000);
  });

  test('padded frames', async () => {
    const paddingStrategy = constants.PADDING_STRATEGY_MAX;
    await expectEchoes(await channelToEcho({ paddingStrategy }), 4, 500_000);
  });

  test('the window of the connection is opened again', async () => {
    const server = await echoServer(windows);
    const session = once(server, 'session');
    const channel = channelTo((server.address() as AddressInfo).port);
    for (let i = 0; i < 5; i++) await expectEchoes(channel, 1, 40 * MB);
    const [{ state }] = (await session) as [ServerHttp2Session];
    expect(state.remoteWindowSize).toBeGreaterThan(2 ** 31 - 1 - 120 * MB);
  });
});

describe('UnaryChannel against a server that misbehaves', () => {
  test('trailers without a body', async () => {
    const { channel } = await channelForRaw((stream) =>
      stream.respond(
        { ':status': 200, 'grpc-status': '5', 'grpc-message': 'Servable%20not found' },
        { endStream: true },
      ),
    );
    await expect(channel.call({ path: PATH, message: [] })).rejects.toMatchObject({
      code: GrpcStatus.NOT_FOUND,
      message: 'Servable not found',
    });
  });

  test('a reply one byte at a time', async () => {
    const { channel } = await channelForRaw(async (stream) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      for (const byte of Buffer.from([0, 0, 0, 0, 3, 7, 8, 9])) {
        await new Promise((resolve) => stream.write(Buffer.from([byte]), resolve));
      }
      stream.end();
    });
    expect([...(await channel.call({ path: PATH, message: [] }))]).toEqual([7, 8, 9]);
  });

  test.each([
    [
      'ends the stream without trailers',
      (stream: ServerHttp2Stream) => stream.respond({ ':status': 200 }, { endStream: true }),
    ],
    ['resets the stream', (stream: ServerHttp2Stream) => stream.close(2)],
    ['cuts the connection', (stream: ServerHttp2Stream) => stream.session?.destroy()],
  ])('a server that %s is a lost connection', async (_name, onStream) => {
    const { channel } = await channelForRaw(onStream);
    await expect(channel.call({ path: PATH, message: [] })).rejects.toBeInstanceOf(ConnectionLost);
  });

  test('a reply cut short is a lost connection', async () => {
    const { channel } = await channelForRaw((stream) => {
      stream.respond({ ':status': 200 });
      stream.write(Buffer.from([0, 0, 0, 0, 9, 1, 2]), () => stream.session?.destroy());
    });
    await expect(channel.call({ path: PATH, message: [] })).rejects.toBeInstanceOf(ConnectionLost);
  });

  test('HTTP without gRPC is said', async () => {
    const { channel } = await channelForRaw((stream) => {
      stream.respond({ ':status': 502 });
      stream.end('bad gateway');
    });
    await expect(channel.call({ path: PATH, message: [] })).rejects.toThrow(/HTTP 502/);
  });

  test('a ping is answered', async () => {
    const { channel } = await channelForRaw((stream) => {
      stream.session?.ping(() => {
        stream.respond({ ':status': 200 }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.from([0, 0, 0, 0, 1, 42]));
      });
    });
    expect([...(await channel.call({ path: PATH, message: [] }))]).toEqual([42]);
  });

  test('headers too long for one frame', async () => {
    const { channel } = await channelForRaw((stream) =>
      stream.respond(
        { ':status': 200, 'grpc-status': '3', 'grpc-message': 'no '.repeat(15_000) },
        { endStream: true },
      ),
    );
    const call = channel.call({ path: PATH, message: [] });
    await expect(call).rejects.toMatchObject({ message: 'no '.repeat(15_000) });
  });

  test('an answer before the request was read is taken', async () => {
    const { channel } = await channelForRaw((stream) =>
      stream.respond({ ':status': 200, 'grpc-status': '8' }, { endStream: true }),
    );
    const call = channel.call({ path: PATH, message: [Buffer.alloc(MB)] });
    await expect(call).rejects.toMatchObject({ code: GrpcStatus.RESOURCE_EXHAUSTED });
  });

  test('a server of HTTP/1.1 is a lost connection that says so', async () => {
    const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const call = channelTo(port).call({ path: PATH, message: [] });
    await expect(call).rejects.toThrow(/not HTTP\/2/);
  });

  test('frames that have come apart are a lost connection, not a wait for what never comes', async () => {
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    // Sixteen megabytes of an unknown type. Nothing of them follows.
    const noise = Buffer.from([0xff, 0xff, 0xff, 0x63, 0, 0x12, 0x34, 0x56, 0x79]);
    const server = createServer((socket) => {
      socket.on('error', () => undefined).resume();
      socket.write(Buffer.concat([settings, noise]));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const call = channelTo(port).call({ path: PATH, message: [] });
    await expect(call).rejects.toBeInstanceOf(ConnectionLost);
  });

  test('GOAWAY: what is in flight finishes, the next call takes a new connection', async () => {
    const sessions = new Set<unknown>();
    const { channel } = await channelForRaw((stream) => {
      sessions.add(stream.session);
      stream.session?.goaway(0, stream.id as number);
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.from([0, 0, 0, 0, 1, 42]));
    });
    expect([...(await channel.call({ path: PATH, message: [] }))]).toEqual([42]);
    expect([...(await channel.call({ path: PATH, message: [] }))]).toEqual([42]);
    expect(sessions.size).toBe(2);
  });
});
