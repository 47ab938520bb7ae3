/**
 * A gRPC server on node:http2. Of @grpc/grpc-js it spares the copies of large messages and opens the flow
 * control windows: a reply of tens of megabytes takes a third of the time.
 */

import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { StatusError, toStatusError } from '@sagemaker-tfs/libtensorflow/serving';
import { type AbortSignalLike, deadlineIn } from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import { log } from '../log.ts';
import type { CallThreads } from './call-threads.ts';
import { ACCEPT_ENCODING, encodeStatusMessage, readMessage, timeoutMs } from './framing.ts';
import type { GrpcMethods } from './methods.ts';

/** A server that is not listening yet: `listen` on it as on any of node:net. */
export interface GrpcHttp2Server {
  readonly server: Http2Server;
  /** Refuses new calls and waits for those in flight, `graceMs` at most. */
  close(graceMs: number): Promise<void>;
}

/** Bytes that a client may send ahead, so that a large tensor need not wait for window updates. */
const WINDOW_BYTES = 2 ** 30;
const MAX_FRAME_BYTES = 2 ** 24 - 1;
/** Megabytes that one connection may hold in node:http2, whose own limit of 10 refuses large messages. */
const SESSION_MEMORY_MB = 16_384;
/** Where TensorFlow Serving cuts texts, be it inside a character (grpc_status_util.cc). */
const MAX_TEXT_BYTES = 1_024;
const CUT = Buffer.from('...TRUNCATED');

/** Serves the methods; other paths are UNIMPLEMENTED. */
export function createGrpcServer(methods: GrpcMethods, threads: CallThreads): GrpcHttp2Server {
  const server = createServer({
    settings: { initialWindowSize: WINDOW_BYTES, maxFrameSize: MAX_FRAME_BYTES },
    maxSessionMemory: SESSION_MEMORY_MB,
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session: ServerHttp2Session) => {
    session.setLocalWindowSize(WINDOW_BYTES);
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', (error) => log.warning(`gRPC connection: ${error.message}`));
  });
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    // Without a listener, a client that goes away in the middle of a call would end the process.
    stream.on('error', () => undefined);
    void serve(methods, threads, stream, headers);
  });
  return { server, close: (graceMs) => close(server, sessions, graceMs) };
}

async function close(
  server: Http2Server,
  sessions: ReadonlySet<ServerHttp2Session>,
  graceMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  for (const session of sessions) session.close();
  const force = setTimeout(() => {
    for (const session of sessions) session.destroy();
  }, graceMs);
  await closed;
  clearTimeout(force);
}

async function serve(
  methods: GrpcMethods,
  threads: CallThreads,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
): Promise<void> {
  const path = headers[':path'] ?? '';
  if (!headers['content-type']?.startsWith('application/grpc')) {
    stream.respond({ ':status': 415 }, { endStream: true });
    return;
  }
  try {
    const limit = timeoutMs(String(headers['grpc-timeout'] ?? ''));
    const signal = limit === undefined ? undefined : deadlineIn(limit);
    await withDeadline(limit, call(methods, threads, path, stream, headers, signal), stream);
  } catch (error) {
    const { code, message } = toStatusError(error);
    if (code === Code.INTERNAL) log.error(`${path} failed: ${message}`);
    sendError(stream, code, message);
  }
}

async function call(
  methods: GrpcMethods,
  threads: CallThreads,
  path: string,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  signal: AbortSignalLike | undefined,
): Promise<void> {
  const unary = methods.unary.get(path);
  const streaming = methods.streaming.get(path);
  if (!unary && !streaming) {
    throw new StatusError(Code.UNIMPLEMENTED, '');
  }
  // A request that is refused half-read must leave the stream open for the answer.
  const body = stream.iterator({ destroyOnReturn: false });
  const request = await readMessage(body, String(headers['grpc-encoding'] ?? 'identity'));
  if (unary) {
    await threads.run(async () => {
      const reply = await unary(request, signal);
      startReply(stream);
      if (stream.writable) stream.end(reply);
    });
  } else {
    streaming?.(request, (reply) => {
      startReply(stream);
      if (stream.writable) stream.write(reply);
    });
  }
}

/** Answers DEADLINE_EXCEEDED in time; the call's own answer then finds the stream closed. */
async function withDeadline(
  milliseconds: number | undefined,
  work: Promise<void>,
  stream: ServerHttp2Stream,
): Promise<void> {
  if (milliseconds === undefined) return work;
  const timer = setTimeout(
    () => sendError(stream, Code.DEADLINE_EXCEEDED, 'Deadline Exceeded'),
    Math.min(milliseconds, 2 ** 31 - 1),
  );
  stream.once('close', () => clearTimeout(timer));
  return work;
}

const REPLY_HEADERS = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-accept-encoding': ACCEPT_ENCODING,
};

function startReply(stream: ServerHttp2Stream): void {
  if (stream.headersSent || stream.destroyed || stream.closed) return;
  stream.respond(REPLY_HEADERS, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(Code.OK) }));
}

function cut(text: Buffer): Buffer {
  if (text.length <= MAX_TEXT_BYTES) return text;
  return Buffer.concat([text.subarray(0, MAX_TEXT_BYTES), CUT]);
}

function sendError(stream: ServerHttp2Stream, code: Code, message: string): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return;
  const headers = {
    ...REPLY_HEADERS,
    'grpc-status': String(code),
    'grpc-message': encodeStatusMessage(cut(Buffer.from(message))),
  };
  stream.respond(headers, { endStream: true });
  // Where the request has not been read to its end, nobody will.
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
}
