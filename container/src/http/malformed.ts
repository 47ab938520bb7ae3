/** Answers to what is no request of HTTP/1.1. */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ServingError } from '../errors.ts';
import type { PaceLimits } from './client-pace.ts';
import { DRAIN_PAUSE_MS } from './drain.ts';
import type { Pipelines } from './pipelines.ts';
import { errorReply } from './reply.ts';

/** What is on its way on the connections of a server. */
interface Answering {
  readonly pace: PaceLimits;
  readonly inFlight: Iterable<{ readonly response: ServerResponse }>;
  readonly pipelines: Pipelines;
}

/** Answers what is no HTTP, or comes too slowly to become a request. */
export function malformedRefuser(
  state: Answering,
): (error: Error & { code?: string }, socket: Socket) => Promise<void> {
  const refused = new WeakSet<Socket>();
  return async (error, socket) => {
    if (error.code !== 'ECONNRESET') {
      // Each further packet is another error; one answer is enough.
      if (refused.has(socket)) return;
      refused.add(socket);
      await answeredBefore(state, socket);
    }
    refuse(state, error, socket);
  };
}

function refuse(state: Answering, error: Error & { code?: string }, socket: Socket): void {
  const begun = [...state.inFlight].some(
    ({ response }) => response.req.socket === socket && response.headersSent,
  );
  if (begun || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  endWith(socket, malformed(error, state.pace));
}

/**
 * Answers CONNECT, which Node hands over with its connection and no response. A server that is no proxy has no resource that
 * could take it (RFC 9110 9.3.6, 15.6.2).
 */
export function connectRefuser(state: Answering): (socket: Socket) => Promise<void> {
  return async (socket) => {
    socket.on('error', () => socket.destroy());
    await answeredBefore(state, socket);
    const message = 'CONNECT is for proxies. Send POST /invocations to this server.';
    endWith(socket, new ServingError('METHOD_NOT_ALLOWED', message, { status: 501 }));
  };
}

/** Writes the error without a response of Node's, and closes the connection. */
function endWith(socket: Socket, error: ServingError): void {
  const { status, headers, body } = errorReply(error);
  const bytes = Buffer.concat(body);
  const fields = { ...headers, 'Content-Length': bytes.length, Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`;
  socket.end(Buffer.concat([Buffer.from(head), bytes]));
  // What else comes is not read as HTTP any more.
  setTimeout(() => socket.destroy(), DRAIN_PAUSE_MS).unref();
}

/** Requests that came whole before it have answers of their own, which come first. */
async function answeredBefore({ inFlight, pipelines }: Answering, socket: Socket): Promise<void> {
  const atWork = [...inFlight]
    .map(({ response }) => response)
    .filter(({ req }) => req.socket === socket);
  const whole = [...atWork, ...pipelines.waiting(socket)].filter(({ req }) => req.complete);
  await Promise.all(
    whole.map((response) => new Promise<void>((resolve) => response.once('close', resolve))),
  );
}

function malformed({ code, message }: Error & { code?: string }, pace: PaceLimits): ServingError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const seconds = pace.patienceMs / 1000;
    return new ServingError(
      'CLIENT_TOO_SLOW',
      `the headers did not come within ${seconds} s (SAGEMAKER_TFS_CLIENT_PATIENCE_SECONDS).`,
    );
  }
  const text = `this is not a request of HTTP/1.1: ${message.replace(/^Parse Error: /, '')}`;
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  return new ServingError('BAD_REQUEST', text, { status });
}
