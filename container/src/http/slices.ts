/**
 * Reads what clients send in small slices once one has sent too many requests at once: Node parses a packet to its end,
 * also after the connection was closed for the requests in it. Normally Node reads by itself, which takes a seventh less
 * of a small picture's time. Bodies of a known length are passed on whole.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes that are parsed at once: a dozen or two of the smallest requests. */
const HEAD_SLICE = 512;
/** The same where a body comes in chunks, whose end is not known. */
const CHUNKS_SLICE = 4_096;
/** How long new connections are read in slices after the last client of that kind. */
const ALERT_MS = 60_000;

/** What is expected next on a connection that is read in slices. */
interface Expected {
  /** Bytes of a body, at most, before another request can begin. */
  body: number;
  slice: number;
  /** Whatever else comes is not looked at: because what came is no HTTP, or by wish. */
  isOver: boolean;
}

type Parse = (this: Socket, chunk: Buffer) => void;

/** How the connections of a server are read. */
export interface Slices {
  /** From now on in slices, for a while: all connections that are open, and new ones. Not while one of them is parsed. */
  begin(): void;
  /** Passes over all that a connection sends from now on, where it is read in slices. */
  passOver(socket: Socket): void;
}

/**
 * To be called before the server listens. The server must end what is no HTTP itself (`clientError`): Node does that
 * only where nobody listens.
 * @param always whether all connections are read in slices, from the beginning. Default: false
 */
export function slicesOf(server: Server, { always = false } = {}): Slices {
  const sockets = new Set<Socket>();
  const expected = new WeakMap<Socket, Expected>();
  let until = always ? Infinity : -Infinity;
  const note = ({ headers, socket }: IncomingMessage): void => {
    const next = expected.get(socket);
    if (!next) return;
    next.body = Number(headers['content-length'] ?? 0) || 0;
    next.slice = headers['transfer-encoding'] === undefined ? HEAD_SLICE : CHUNKS_SLICE;
  };
  const passOver = (socket: Socket): void => {
    const next = expected.get(socket);
    if (next) next.isOver = true;
  };
  const slice = (socket: Socket): void => {
    // Node's own: it parses, and must be called with the socket.
    const [parse] = socket.listeners('data') as Parse[];
    if (!parse || socket.destroyed || expected.has(socket)) return;
    const next: Expected = { body: 0, slice: HEAD_SLICE, isOver: false };
    expected.set(socket, next);
    socket.off('data', parse);
    socket.on('data', (chunk: Buffer) => parseInSlices(socket, parse, chunk, next));
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.prependListener(event, note);
  }
  server.prependListener('clientError', (_error, socket) => passOver(socket as Socket));
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (performance.now() < until) slice(socket);
  });
  return {
    begin() {
      if (performance.now() >= until) for (const socket of sockets) slice(socket);
      until = performance.now() + ALERT_MS;
    },
    passOver,
  };
}

function parseInSlices(socket: Socket, parse: Parse, chunk: Buffer, next: Expected): void {
  let at = 0;
  while (at < chunk.length && !socket.destroyed && !next.isOver) {
    if (socket.isPaused()) {
      // Too many answers wait to be read: Node continues when they are.
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
