/** Clients that can call the model server: the usual ones and the runtime's own, over REST and over gRPC. */
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:http2';
import { credentials, Client as GrpcJs } from '@grpc/grpc-js';
import { HttpClient, UnaryChannel } from '@sagemaker-tfs/container/transport';
import { GRPC_METHODS } from '@sagemaker-tfs/tensors/grpc-methods';
import { H2CClient, Pool } from 'undici';

/** A client with the one request that it sends. */
export interface ModelServerClient {
  readonly name: string;
  /** Sends the request and reads the answer whole. @returns its bytes */
  call(): Promise<number>;
  close(): unknown;
}

const REST_PATH = '/v1/models/model:predict';
const MAX_BYTES = 2 ** 30;

/** Clients of the REST API; the baseline first. */
export function restClients(port: number, body: Buffer): ModelServerClient[] {
  return [nodeHttp(port, body), undici(port, body), ownRest(port, body)];
}

/** Clients of the gRPC API; the baseline first. */
export function grpcClients(port: number, message: Buffer): ModelServerClient[] {
  return [
    nodeHttp2(port, message),
    grpcJs(port, message),
    undiciHttp2(port, message),
    ownGrpc(port, message),
  ];
}

function nodeHttp(port: number, body: Buffer): ModelServerClient {
  const agent = new Agent({ keepAlive: true, noDelay: true });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
  const options = { host: '127.0.0.1', port, method: 'POST', path: REST_PATH, agent, headers };
  const call = () =>
    new Promise<number>((resolve, reject) => {
      const request = httpRequest(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks).length));
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(body);
    });
  return { name: 'node:http', call, close: () => agent.destroy() };
}

function undici(port: number, body: Buffer): ModelServerClient {
  const pool = new Pool(`http://127.0.0.1:${port}`);
  const headers = { 'content-type': 'application/json' };
  const call = async () => {
    const answer = await pool.request({ method: 'POST', path: REST_PATH, headers, body });
    return (await answer.body.arrayBuffer()).byteLength;
  };
  return { name: 'undici', call, close: () => pool.destroy() };
}

function ownRest(port: number, body: Buffer): ModelServerClient {
  const client = new HttpClient({ maxReplyBytes: MAX_BYTES });
  const options = {
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: REST_PATH,
    body: [body],
  } as const;
  const call = async () => (await client.call(options)).body.length;
  return { name: 'ours', call, close: () => client.close() };
}

/** A message behind its prefix: not compressed, and its length. */
function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

const GRPC_HEADERS = { 'content-type': 'application/grpc', te: 'trailers' };
/** As far as HTTP/2 allows, near enough: replies are not stopped on their way. */
const WINDOW_BYTES = 2 ** 30;
const FRAME_BYTES = 2 ** 24 - 1;

function nodeHttp2(port: number, message: Buffer): ModelServerClient {
  const settings = { initialWindowSize: WINDOW_BYTES, maxFrameSize: FRAME_BYTES };
  const session = connect(`http://127.0.0.1:${port}`, { settings });
  session.once('connect', () => session.setLocalWindowSize(WINDOW_BYTES));
  const body = framed(message);
  const headers = { ':method': 'POST', ':path': GRPC_METHODS.predict, ...GRPC_HEADERS };
  const call = () =>
    new Promise<number>((resolve, reject) => {
      const stream = session.request(headers);
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => resolve(Buffer.concat(chunks).length));
      stream.on('error', reject);
      stream.end(body);
    });
  return { name: 'node:http2', call, close: () => session.close() };
}

function grpcJs(port: number, message: Buffer): ModelServerClient {
  const client = new GrpcJs(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  });
  const same = (bytes: Buffer) => bytes;
  const call = () =>
    new Promise<number>((resolve, reject) => {
      client.makeUnaryRequest(GRPC_METHODS.predict, same, same, message, (error, reply) => {
        if (reply) resolve(reply.length);
        else reject(error);
      });
    });
  return { name: '@grpc/grpc-js', call, close: () => client.close() };
}

function undiciHttp2(port: number, message: Buffer): ModelServerClient {
  const streams = { maxConcurrentStreams: 100, pipelining: 100 };
  const client = new H2CClient(`http://127.0.0.1:${port}`, streams);
  const body = framed(message);
  const options = {
    method: 'POST',
    path: GRPC_METHODS.predict,
    headers: GRPC_HEADERS,
    body,
  } as const;
  const call = async () => {
    const answer = await client.request(options);
    return (await answer.body.arrayBuffer()).byteLength;
  };
  return { name: 'undici', call, close: () => client.destroy() };
}

function ownGrpc(port: number, message: Buffer): ModelServerClient {
  const channel = new UnaryChannel({ host: '127.0.0.1', port }, { maxReplyBytes: MAX_BYTES });
  const options = { path: GRPC_METHODS.predict, message: [message] };
  const call = async () => (await channel.call(options)).length;
  return { name: 'ours', call, close: () => channel.close() };
}
