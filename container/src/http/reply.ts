/** What a route answers, and how it is written. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ServingError } from '../errors.ts';
import { isHttpError } from '../handler/http-error.ts';
import { cutText } from '../thrown.ts';
import { COPY_TURN_BYTES, nextTurn } from '../waiting/next-turn.ts';
import type { RequestSignal } from '../waiting/request-signal.ts';

/** An answer. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is sent as it is made, no faster than the client reads. */
  readonly body: readonly Uint8Array[] | AsyncIterable<Uint8Array>;
}

/** An answer whose bytes are all there. */
interface WholeReply extends Reply {
  readonly body: readonly Uint8Array[];
}

/** Characters of an error: names that a client sent stand in it. */
const LONGEST_MESSAGE = 4_000;

/** What a 503 asks its client to wait. */
const RETRY_AFTER_SECONDS = '1';

/** A JSON answer. */
export function jsonReply(value: unknown, status = 200): WholeReply {
  return {
    status,
    headers: { 'Content-Type': 'application/json' },
    body: [Buffer.from(JSON.stringify(value))],
  };
}

/** The answer for an error: `{"error", "code"}`. Other errors than ours show the client nothing. */
export function errorReply(error: unknown): WholeReply {
  const code = errorCodeOf(error);
  if (error instanceof ServingError || isHttpError(error)) {
    const message = cutText(error.message, LONGEST_MESSAGE);
    const reply = jsonReply({ error: message, code }, error.status);
    if (error.status !== 503) return reply;
    return { ...reply, headers: { ...reply.headers, 'Retry-After': RETRY_AFTER_SECONDS } };
  }
  return jsonReply({ error: 'internal error. See the log of the container.', code }, 500);
}

/** The code that the client is answered with. */
export function errorCodeOf(error: unknown): string {
  return error instanceof ServingError || isHttpError(error) ? error.code : 'INTERNAL';
}

/** Writes an answer; resolves when the last byte was handed to the connection. @returns bytes of the body */
export async function writeReply(
  response: ServerResponse,
  reply: Reply,
  signal: RequestSignal,
): Promise<number> {
  if (Array.isArray(reply.body)) return writePieces(response, reply, reply.body);
  const body = await begun(inTurns(reply.body as AsyncIterable<Uint8Array>, signal));
  let bytes = 0;
  const counted = async function* () {
    for await (const piece of body) {
      bytes += piece.byteLength;
      yield piece;
    }
  };
  response.writeHead(reply.status, reply.headers);
  await pipeline(
    Readable.from(counted(), { objectMode: false, signal: signal.standard }),
    response,
  );
  return bytes;
}

async function writePieces(
  response: ServerResponse,
  reply: Reply,
  pieces: readonly Uint8Array[],
): Promise<number> {
  const bytes = byteLengthOf(pieces);
  const headers = Object.entries(reply.headers).flat();
  response.writeHead(reply.status, [...headers, 'Content-Length', String(bytes)]);
  for (const [index, turn] of turns(pieces).entries()) {
    if (index > 0) await nextTurn();
    response.cork();
    for (const piece of turn) response.write(piece);
    response.uncork();
    if (response.writableNeedDrain && !response.destroyed) await drainedOrClosed(response);
    if (response.destroyed) break;
  }
  return bytes;
}

/** Bytes of a body in pieces. */
export function byteLengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
}

function drainedOrClosed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      response.off('drain', settle);
      response.off('close', settle);
      resolve();
    };
    response.on('drain', settle);
    response.on('close', settle);
  });
}

/** The same bytes in parts of at most {@link COPY_TURN_BYTES}, which the kernel copies. */
function turns(pieces: readonly Uint8Array[]): Uint8Array[][] {
  const parts: Uint8Array[][] = [];
  let room = 0;
  for (const piece of pieces) {
    for (let at = 0; at < piece.byteLength; ) {
      if (room === 0) {
        parts.push([]);
        room = COPY_TURN_BYTES;
      }
      const isWhole = at === 0 && piece.byteLength <= room;
      const slice = isWhole ? piece : piece.subarray(at, at + room);
      parts.at(-1)?.push(slice);
      room -= slice.byteLength;
      at += slice.byteLength;
    }
  }
  return parts;
}

/** What one stream sends in a turn of the event loop at most, where its client reads as fast as it is made. */
const STREAM_TURN = { bytes: 256 * 1024, pieces: 64 } as const;

/**
 * The pieces that hold something, in turns with other requests: a connection takes megabytes that its client never reads,
 * without anything that would let others in between.
 */
async function* inTurns(
  body: AsyncIterable<Uint8Array>,
  signal: RequestSignal,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let pieces = 0;
  for await (const piece of body) {
    if (piece.byteLength > 0) yield piece;
    bytes += piece.byteLength;
    pieces += 1;
    const isMore = bytes < STREAM_TURN.bytes && pieces < STREAM_TURN.pieces;
    if (piece.byteLength > 0 && isMore) continue;
    await nextTurn();
    signal.throwIfAborted();
    bytes = 0;
    pieces = 0;
  }
}

/** The same stream with its first piece already made, so that an early failure still becomes an error answer. */
async function begun(body: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const iterator = body[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    try {
      for (let step = first; !step.done; step = await iterator.next()) yield step.value;
    } finally {
      await iterator.return?.();
    }
  })();
}
