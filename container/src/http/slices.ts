/**
 * Reads what clients send in small slices, and parses them in turns with everything else. It begins on a connection whose
 * body comes in chunks: a chunk of one byte costs as much as one of 64 kB, and Node parses two megabytes of them in one
 * turn of the event loop. It begins on all connections once a client has sent too many requests or too many of
 * such chunks: Node parses a packet to its end, also after the connection was closed for the requests in it. Normally
 * Node reads by itself, which takes a seventh less of a small picture's time. Bodies of a known length are passed on whole.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { nextTurn } from '../waiting/next-turn.ts';

/** Bytes that are parsed at once: a dozen or two of the smallest requests. */
const HEAD_SLICE = 512;
/** The same where a body comes in chunks, whose end is not known. */
const CHUNKS_SLICE = 4_096;
/** Of a body of a known length. */
const MAX_SLICE = 65_536;
/** Milliseconds that a connection is parsed before others have their turn. */
const TURN_MS = 1;
/** Slices of one connection that took longer before all are read in slices: one or two may be a busy machine's. */
const MAX_SLOW_SLICES = 8;
/** How long new connections are read in slices after the last client of that kind. */
const ALERT_MS = 60_000;

/** What is expected next on a connection that is read in slices. */
interface Expected {
  /** Bytes of a body, at most, before another request can begin. */
  body: number;
  slice: number;
  /** The request whose body comes; nothing more is parsed while it holds as much as it may. */
  request: IncomingMessage | undefined;
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
  const note = (request: IncomingMessage): void => {
    const { headers, socket } = request;
    const isChunked = headers['transfer-encoding'] !== undefined;
    const next = expected.get(socket);
    // Not while Node parses this very packet.
    if (!next && isChunked) process.nextTick(slice, socket, request);
    if (!next) return;
    next.body = Number(headers['content-length'] ?? 0) || 0;
    next.slice = isChunked ? CHUNKS_SLICE : HEAD_SLICE;
    next.request = request;
  };
  const passOver = (socket: Socket): void => {
    const next = expected.get(socket);
    if (next) next.isOver = true;
  };
  const begin = (): void => {
    if (performance.now() >= until) for (const socket of sockets) slice(socket);
    until = performance.now() + ALERT_MS;
  };
  /** @param request whose chunks come */
  const slice = (socket: Socket, request?: IncomingMessage): void => {
    // Node's own: it parses, and must be called with the socket.
    const [parse] = socket.listeners('data') as Parse[];
    if (!parse || socket.destroyed || expected.has(socket)) return;
    const next: Expected = {
      body: 0,
      slice: request ? CHUNKS_SLICE : HEAD_SLICE,
      request,
      isOver: false,
    };
    expected.set(socket, next);
    socket.off('data', parse);
    const work = workOf(socket, parse, next, begin);
    // Node resumes the socket once a request has room again.
    socket.on('readable', work).on('resume', work);
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
  return { begin, passOver };
}

/** Parses what has come, until there is no more. @param tooSlow called once its slices take long */
function workOf(socket: Socket, parse: Parse, next: Expected, tooSlow: () => void) {
  let isAtWork = false;
  let slow = 0;
  return async () => {
    if (isAtWork) return;
    isAtWork = true;
    let began = performance.now();
    for (let piece = pieceOf(socket, next); piece; piece = pieceOf(socket, next)) {
      parse.call(socket, piece);
      if (performance.now() - began < TURN_MS) continue;
      if (++slow === MAX_SLOW_SLICES) tooSlow();
      await nextTurn();
      began = performance.now();
    }
    isAtWork = false;
  };
}

/** What is parsed next; null if nothing has come, or nothing may be parsed now. */
function pieceOf(socket: Socket, next: Expected): Buffer | null {
  const { request, body, slice } = next;
  if (socket.destroyed) return null;
  if (next.isOver) {
    // Read to the end, so that the end is seen.
    while (socket.read() !== null);
    return null;
  }
  if (request && request.readableLength >= request.readableHighWaterMark) return null;
  const most = Math.min(Math.max(body, slice), MAX_SLICE);
  const piece: Buffer | null = socket.read(Math.min(most, socket.readableLength));
  // Of a request that begins in it, `body` is set anew.
  next.body = Math.max(0, body - (piece?.length ?? 0));
  return piece;
}
