/**
 * Reads what clients send in small slices where it may hold many requests: Node parses a packet to its end, also after
 * the connection was closed for the requests in it. Bodies of a known length are passed on whole.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes that are parsed at once: a dozen or two of the smallest requests. */
const HEAD_SLICE = 512;
/** The same where a body comes in chunks, whose end is not known. */
const CHUNKS_SLICE = 4_096;

/** What is expected next on a connection. */
interface Expected {
  /** Bytes of a body, at most, before another request can begin. */
  body: number;
  slice: number;
  /** Whatever else comes is not looked at: because what came is no HTTP, or by wish. */
  isOver: boolean;
}

type Parse = (this: Socket, chunk: Buffer) => void;

/**
 * Has a server read in slices; to be called before it listens. It must end what is no HTTP itself (`clientError`): Node
 * does that only where nobody listens.
 * @returns what makes it pass over all that a connection sends from now on
 */
export function readInSlices(server: Server): (socket: Socket) => void {
  const expected = new WeakMap<Socket, Expected>();
  const note = ({ headers, socket }: IncomingMessage): void => {
    const next = expected.get(socket);
    if (!next) return;
    next.body = Number(headers['content-length'] ?? 0) || 0;
    next.slice = headers['transfer-encoding'] === undefined ? HEAD_SLICE : CHUNKS_SLICE;
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.prependListener(event, note);
  }
  const passOver = (socket: Socket): void => {
    const next = expected.get(socket);
    if (next) next.isOver = true;
  };
  server.prependListener('clientError', (_error, socket) => passOver(socket as Socket));
  server.on('connection', (socket: Socket) => {
    const next: Expected = { body: 0, slice: HEAD_SLICE, isOver: false };
    // Node's own: it parses, and must be called with the socket.
    const [parse] = socket.listeners('data') as Parse[];
    if (!parse) return;
    expected.set(socket, next);
    socket.off('data', parse);
    socket.on('data', (chunk: Buffer) => parseInSlices(socket, parse, chunk, next));
  });
  return passOver;
}

function parseInSlices(socket: Socket, parse: Parse, chunk: Buffer, next: Expected): void {
  let at = 0;
  while (at < chunk.length && !socket.destroyed && !next.isOver) {
    if (socket.isPaused()) {
      // Too many answers wait to be read: Node goes on when they are.
      socket.unshift(chunk.subarray(at));
      return;
    }
    const length = Math.min(Math.max(next.body, next.slice), chunk.length - at);
    next.body = Math.max(0, next.body - length);
    // Of a request that begins in it, `body` is set anew.
    parse.call(socket, chunk.subarray(at, at + length));
    at += length;
  }
}
