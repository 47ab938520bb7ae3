/** Cuts off clients that neither send nor read: they would keep a connection and the memory of a request for ever. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How slow a client may be. */
export interface PaceLimits {
  /** Least rate at which a body must come and an answer must be read. 0: any. */
  readonly minBytesPerSecond: number;
  /** How long a client may be slower, and may take for the headers, in ms. */
  readonly patienceMs: number;
}

/** What the client is waited for. */
export type Waiting = 'body' | 'reader';

/** One request as it is watched. */
export interface Paced {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** False until the client is asked for its body (100 Continue). */
  readonly isBodyWanted: () => boolean;
  /** The client has been slow for a moment: what it announced is not counted on. */
  readonly onSlow: () => void;
  /** The client's patience is used up. */
  readonly onTooSlow: (waiting: Waiting) => void;
}

/** Least number of times that a client is looked at while its patience lasts. */
const LOOKS = 4;
/** Time between two looks, in ms, at most: what is kept for a body that does not come is kept no longer. */
const LONGEST_STEP_MS = 1000;
/** An answer waits for its reader only now and then where that is fast. */
const READER_MS = 500;

/** Watches one client. Times are in ms. */
export interface Pacer {
  /** Looks now and then. */
  look(now: number): void;
  /** Bytes a second at which it reads its answer; undefined if it has not kept that waiting for a while. */
  readingRate(now: number): number | undefined;
}

/** Checks every client of `all` at intervals, until it is stopped. */
export function startPaceWatch(
  { patienceMs, minBytesPerSecond }: PaceLimits,
  all: () => Iterable<{ readonly pacer: Pacer }>,
): { stop(): void } {
  if (minBytesPerSecond === 0) return { stop: () => undefined };
  const timer = setInterval(
    () => {
      const now = performance.now();
      // A copy, because those that are cut leave the list.
      for (const { pacer } of [...all()]) pacer.look(now);
    },
    Math.min(patienceMs / LOOKS, LONGEST_STEP_MS),
  ).unref();
  return { stop: () => clearInterval(timer) };
}

/** What watches one client: compares what moved since it was first found waiting with what should have. */
export function pacer(paced: Paced, { minBytesPerSecond, patienceMs }: PaceLimits): Pacer {
  let waiting: Waiting | undefined;
  let since = 0;
  let movedThen = 0;
  return {
    look(now) {
      const found = waitingFor(paced);
      const moved = found && bytesMoved(paced.request.socket, found);
      if (found === undefined || moved === undefined || found !== waiting) {
        waiting = found;
        since = now;
        movedThen = moved ?? 0;
        return;
      }
      const isSlow = moved - movedThen < (minBytesPerSecond * (now - since)) / 1000;
      if (isSlow) paced.onSlow();
      if (now - since < patienceMs * (1 - 1 / (2 * LOOKS))) return;
      if (isSlow) paced.onTooSlow(found);
      since = now;
      movedThen = moved;
    },
    readingRate(now) {
      if (waiting !== 'reader' || now - since < READER_MS) return undefined;
      if (waitingFor(paced) !== 'reader') return undefined;
      return (bytesMoved(paced.request.socket, 'reader') - movedThen) / (now - since);
    },
  };
}

/** Undefined if nothing is expected from the client. */
function waitingFor({ request, response, isBodyWanted }: Paced): Waiting | undefined {
  if (response.headersSent) return request.socket.writableLength > 0 ? 'reader' : undefined;
  const isBodyDue = !request.complete && request.readableLength === 0;
  return isBodyDue && isBodyWanted() ? 'body' : undefined;
}

/** Parts of a socket that Node keeps to itself, and its own time limit is made of. */
interface SocketInternals {
  readonly _bytesDispatched?: number;
  readonly _handle?: { readonly writeQueueSize?: number } | null;
}

/** Bytes received, or bytes that the kernel has taken: of one large write that is known only inside of Node. */
function bytesMoved(socket: Socket, waiting: Waiting): number {
  if (waiting === 'body') return socket.bytesRead;
  const { _bytesDispatched: dispatched, _handle: handle } = socket as SocketInternals;
  const queued = handle?.writeQueueSize;
  if (dispatched !== undefined && queued !== undefined) return dispatched - queued;
  return socket.bytesWritten - socket.writableLength;
}
