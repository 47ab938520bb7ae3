/** gRPC as it is on the wire, by clients of other making than the server: @grpc/grpc-js and node:http2. */
import { once } from 'node:events';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { StatusError } from '@sagemaker-tfs/libtensorflow/serving';
import {
  decodePredictResponse,
  encodePredictRequest,
  tensorFromValues,
} from '@sagemaker-tfs/tensors';
import { Code, GRPC_METHODS } from '@sagemaker-tfs/tensors/protos';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import {
  freePort,
  GrpcClient,
  grpcError,
  type ServerProcess,
  startServerProcess,
} from '../../test/server-process.ts';
import { temporaryDirectory } from '../../test/temporary.ts';
import { CallThreads } from './call-threads.ts';
import { encodeStatusMessage, frameMessage, readMessage, timeoutMs } from './framing.ts';
import { createGrpcServer } from './http2-server.ts';

let server: ServerProcess;
let socketPath: string;

beforeAll(async () => {
  socketPath = join(await temporaryDirectory(), 'grpc.sock');
  server = await startServerProcess([
    `--model_base_path=${fixtureModel('half_plus_two', '1').basePath}`,
    '--enable_grpc_healthcheck_service',
    '--enable_serialization_as_tensor_content',
    `--grpc_socket_path=${socketPath}`,
  ]);
});

afterAll(() => server.stop());

const request = Buffer.concat(
  encodePredictRequest({
    model: { name: 'default' },
    signature: '',
    inputs: { x: tensorFromValues('float32', [1, 1], [2]) },
  }),
);
const asIs = (bytes: Buffer): Buffer => bytes;

/** A raw exchange: headers, body and trailers of the answer. */
async function exchange(headers: Record<string, string>, ...body: Buffer[]) {
  const session = connect(`http://127.0.0.1:${server.grpcPort}`);
  const stream = session.request({
    ':method': 'POST',
    ':path': GRPC_METHODS.predict,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  let answer: Record<string, unknown> = {};
  stream.on('response', (received) => {
    answer = { ...answer, ...received };
  });
  stream.on('trailers', (received) => {
    answer = { ...answer, ...received };
  });
  const chunks: Buffer[] = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  for (const part of body) stream.write(part);
  stream.end();
  await once(stream, 'close');
  session.close();
  return { answer, message: Buffer.concat(chunks) };
}

test('a UNIX socket answers as the port does, with tensor_content', async () => {
  const client = new Client(`unix:${socketPath}`, credentials.createInsecure());
  const reply = await new Promise<Buffer>((resolve, reject) => {
    client.makeUnaryRequest(GRPC_METHODS.predict, asIs, asIs, request, (error, bytes) =>
      bytes ? resolve(bytes) : reject(error),
    );
  });
  client.close();
  expect(decodePredictResponse(reply).outputs.y?.shape).toEqual([1, 1]);
});

test('health: the server and its services serve; others are unknown', async () => {
  const client = new GrpcClient(server);
  const serving = Buffer.from([0x08, 0x01]);
  expect(await client.call(GRPC_METHODS.healthCheck, new Uint8Array(0))).toEqual(serving);
  const unknown = await grpcError(client.call(GRPC_METHODS.healthCheck, Buffer.from('\n\x01x')));
  expect(unknown.code).toBe(status.NOT_FOUND);
  client.close();
  const watcher = new Client(`127.0.0.1:${server.grpcPort}`, credentials.createInsecure());
  const watch = watcher.makeServerStreamRequest(
    '/grpc.health.v1.Health/Watch',
    asIs,
    asIs,
    Buffer.alloc(0),
  );
  const [first] = await once(watch, 'data');
  expect(first).toEqual(serving);
  watch.on('error', () => undefined).cancel();
  watcher.close();
});

test('compressed requests are unpacked', async () => {
  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ] as const) {
    const frame = frameMessage([compress(request)]);
    frame[0] = 1;
    const { answer } = await exchange({ 'grpc-encoding': encoding }, frame);
    expect(answer).toMatchObject({ ':status': 200, 'grpc-status': '0' });
  }
});

test.each([
  [
    'a method that is not there',
    { ':path': '/a.B/C' },
    [frameMessage([request])],
    status.UNIMPLEMENTED,
  ],
  ['no message', {}, [], status.INTERNAL],
  ['half a message', {}, [frameMessage([request]).subarray(0, 20)], status.INTERNAL],
  ['two messages', {}, [frameMessage([request]), frameMessage([request])], status.INTERNAL],
  [
    'an unknown encoding',
    { 'grpc-encoding': 'br' },
    [Buffer.from([1, 0, 0, 0, 1, 0])],
    status.UNIMPLEMENTED,
  ],
  [
    'what does not decompress',
    { 'grpc-encoding': 'gzip' },
    [Buffer.from([1, 0, 0, 0, 1, 0])],
    status.INTERNAL,
  ],
  [
    'a length beyond 2 GiB',
    {},
    [Buffer.from([0, 255, 255, 255, 255, 0])],
    status.RESOURCE_EXHAUSTED,
  ],
])('%s is answered with its code', async (_, headers, body, code) => {
  const { answer } = await exchange(headers, ...body);
  expect(answer).toMatchObject({ ':status': 200, 'grpc-status': String(code) });
});

test('what is not gRPC is refused', async () => {
  const { answer } = await exchange({ 'content-type': 'text/plain' }, Buffer.from('x'));
  expect(answer[':status']).toBe(415);
});

test('messages in many pieces are put together', async () => {
  const frame = frameMessage([request]);
  async function* pieces() {
    for (let at = 0; at < frame.length; at += 3) yield frame.subarray(at, at + 3);
  }
  expect(await readMessage(pieces(), 'identity')).toEqual(request);
});

describe('deadlines and clients that go away', () => {
  let calls = 0;
  let release = (): void => undefined;
  const grpc = createGrpcServer(
    {
      unary: new Map([
        [
          '/slow',
          async () => {
            calls += 1;
            await new Promise<void>((resolve) => {
              release = resolve;
            });
            return frameMessage([Buffer.from('late')]);
          },
        ],
      ]),
      streaming: new Map(),
    },
    new CallThreads(8),
  );
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    grpc.server.listen(port, '127.0.0.1');
    await once(grpc.server, 'listening');
  });

  afterAll(() => grpc.close(0));

  /** The error of a call, or null. */
  async function call(deadline: number): Promise<ServiceError | null> {
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    const options = { deadline: Date.now() + deadline };
    const error = await new Promise<ServiceError | null>((resolve) => {
      client.makeUnaryRequest('/slow', asIs, asIs, Buffer.alloc(0), options, resolve);
    });
    client.close();
    return error;
  }

  async function begun(before: number): Promise<void> {
    while (calls === before) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async function expectAnswer(): Promise<void> {
    const before = calls;
    const next = call(10_000);
    await begun(before);
    release();
    expect(await next).toBeNull();
  }

  test('a call past its deadline is answered, and the server answers after the late answer', async () => {
    expect((await call(50))?.code).toBe(status.DEADLINE_EXCEEDED);
    release();
    await expectAnswer();
  });

  test('the server answers after a client disconnected in the middle of a call', async () => {
    const session = connect(`http://127.0.0.1:${port}`);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/slow',
      'content-type': 'application/grpc',
    });
    stream.on('error', () => undefined);
    stream.write(frameMessage([Buffer.alloc(0)]));
    const before = calls;
    stream.end();
    await begun(before);
    session.destroy();
    release();
    await expectAnswer();
  });
});

test('timeouts and texts in headers', () => {
  expect([timeoutMs('5S'), timeoutMs('200m'), timeoutMs('1H'), timeoutMs('250000u')]).toEqual([
    5_000, 200, 3_600_000, 250,
  ]);
  expect([timeoutMs(''), timeoutMs('x'), timeoutMs('123456789S')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(encodeStatusMessage(Buffer.from('a "b" {c}: 50%\n\u00fc'))).toBe(
    'a "b" {c}: 50%25%0A%C3%BC',
  );
});

test('calls beyond --grpc_max_threads but one are refused at once, and one that is abandoned keeps its thread', async () => {
  const open: (() => void)[] = [];
  const unary = async () => {
    await new Promise<void>((resolve) => open.push(resolve));
    return frameMessage([Buffer.from('ok')]);
  };
  const methods = { unary: new Map([['/slow', unary]]), streaming: new Map() };
  const grpc = createGrpcServer(methods, new CallThreads(3));
  grpc.server.listen(0, '127.0.0.1');
  await once(grpc.server, 'listening');
  const { port } = grpc.server.address() as AddressInfo;
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const call = () => {
    let cancel = (): void => undefined;
    const answer = new Promise<ServiceError | null>((resolve) => {
      const started = client.makeUnaryRequest('/slow', asIs, asIs, Buffer.alloc(0), resolve);
      cancel = () => started.cancel();
    });
    return { answer, cancel };
  };
  const calls = [call(), call()];
  while (open.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const refused = { code: status.RESOURCE_EXHAUSTED, details: 'Server Threadpool Exhausted' };
  expect(await call().answer).toMatchObject(refused);
  calls[0]?.cancel();
  expect((await calls[0]?.answer)?.code).toBe(status.CANCELLED);
  expect(await call().answer).toMatchObject(refused);
  for (const answer of open.splice(0)) answer();
  expect(await calls[1]?.answer).toBeNull();
  const last = call().answer;
  while (open.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  open.shift()?.();
  expect(await last).toBeNull();
  client.close();
  await grpc.close(0);
});

test('texts are cut at 1,024 bytes, be it inside a character', async () => {
  const unary = async () => {
    throw new StatusError(Code.INVALID_ARGUMENT, `a${'\u00fc'.repeat(600)}`);
  };
  const methods = { unary: new Map([['/text', unary]]), streaming: new Map() };
  const grpc = createGrpcServer(methods, new CallThreads(3));
  grpc.server.listen(0, '127.0.0.1');
  await once(grpc.server, 'listening');
  const session = connect(`http://127.0.0.1:${(grpc.server.address() as AddressInfo).port}`);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/text',
    'content-type': 'application/grpc',
  });
  stream.end(frameMessage([Buffer.alloc(0)]));
  const [headers] = (await once(stream, 'response')) as [Record<string, string>];
  expect(headers['grpc-message']).toBe(`a${'%C3%BC'.repeat(511)}%C3...TRUNCATED`);
  session.destroy();
  await grpc.close(0);
});
