/**
 * How many connections a process keeps. A connection beyond the limit is still taken, so that its client gets an
 * answer and `/ping` can be asked; far beyond it, and before the process may open no more files, the oldest of those
 * is closed on which no request has come: a part of its head is not enough.
 */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { ServingError } from '../errors.ts';
import { nowAndThen } from '../observability/now-and-then.ts';
import type { ServerLog } from './server-log.ts';

/** Which connections are one too many. */
export interface ConnectionLimit {
  isOver(socket: Socket): boolean;
  /** The head of a request has come whole. */
  asks(socket: Socket): void;
  /** It has its answer. */
  rests(socket: Socket): void;
  /** Resolves when there is none left. */
  gone(): Promise<void>;
  /** For requests on a connection that is one too many. */
  refusal(): ServingError;
}

/** Connections beyond the limit whose requests are answered with a refusal. */
const ANSWERED_BEYOND = 128;
/** Files that the process itself needs: libraries, pipes, connections to the model server. */
const FILES_KEPT = 64;

/** Limits the connections of a server. */
export function limitConnections(
  server: Server,
  { maxConnections = Infinity, log }: { readonly maxConnections?: number; readonly log: ServerLog },
): ConnectionLimit {
  const files = connectionsPossible();
  const beyond = Math.min(ANSWERED_BEYOND, Math.floor(files / 8));
  const limit = Math.min(maxConnections, files - 2 * beyond);
  const over = new WeakSet<Socket>();
  let overNow = 0;
  let connections = 0;
  let onGone: () => void = () => undefined;
  const quietly = nowAndThen();
  const tell = (message: string) => quietly(() => log.warn({ connections, limit }, message));
  /** Without a request now, oldest first. */
  const resting = new Set<Socket>();
  if (Number.isFinite(limit)) server.maxConnections = limit + 2 * beyond;
  server.on('drop', () => tell('far too many connections: new ones are closed'));
  server.on('connection', (socket) => {
    connections += 1;
    resting.add(socket);
    // Whoever asks nothing must not keep /ping out.
    if (connections > limit + beyond) closeOldest(resting, socket);
    const isOver = connections > limit;
    if (isOver) {
      over.add(socket);
      overNow += 1;
      tell(
        'too many connections: requests on further ones get 503 (SAGEMAKER_TFS_MAX_CONNECTIONS)',
      );
      // Whoever asks nothing makes room for whoever does.
      server.closeIdleConnections();
    }
    socket.once('close', () => {
      connections -= 1;
      resting.delete(socket);
      if (isOver) overNow -= 1;
      if (connections === 0) onGone();
    });
  });
  return {
    isOver: (socket) => overNow > 0 && over.has(socket),
    asks(socket) {
      resting.delete(socket);
    },
    rests(socket) {
      if (!socket.destroyed) resting.add(socket);
    },
    gone: () =>
      new Promise((resolve) => {
        onGone = resolve;
        if (connections === 0) resolve();
      }),
    refusal: () =>
      new ServingError(
        'OVERLOADED',
        `there are more than ${limit} connections, the limit of this process (SAGEMAKER_TFS_MAX_CONNECTIONS, or the files that it may open). Send the request again later.`,
      ),
  };
}

/** Its 'close' comes later. */
function closeOldest(resting: Set<Socket>, newest: Socket): void {
  const [oldest = newest] = resting;
  resting.delete(oldest);
  oldest.destroy();
}

/** Connections that this process can have beside the files that it needs. */
export function connectionsPossible(): number {
  return Math.max(8, openFilesLimit() - FILES_KEPT);
}

/** Files and sockets that this process may have open; Node raises the limit as far as it may. */
function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
