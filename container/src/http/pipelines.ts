/**
 * Requests that a client sends before it has the answers to those before them (RFC 9112, 9.3.2): worked on one after the
 * other, and dropped with their connection. A client may ask for more in one packet than a process answers in a minute.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { nowAndThen } from '../observability/now-and-then.ts';
import type { ServerLog } from './server-log.ts';
import type { Slices } from './slices.ts';

/** Requests that may wait behind the one at work; a connection with more is closed. */
export const MAX_WAITING = 32;

/** A request that waits for those before it. */
interface Waiting {
  readonly response: ServerResponse;
  readonly work: () => Promise<void>;
}

/** The requests of all connections. */
export interface Pipelines {
  /** Does the work, which never rejects, as soon as the requests before it on the connection are done. */
  enter(response: ServerResponse, work: () => Promise<void>): void;
  /** Requests of a connection that wait for those before them. */
  waiting(socket: Socket): readonly ServerResponse[];
}

export function createPipelines(log: ServerLog, slices: Slices): Pipelines {
  const connections = new WeakMap<Socket, Waiting[]>();
  const quietly = nowAndThen();

  /** A response that waits behind another does not hear of the end of its connection: so none begins before. */
  const begin = async (socket: Socket, first: Waiting): Promise<void> => {
    const behind: Waiting[] = [];
    connections.set(socket, behind);
    await workedOff(first);
    let last = first;
    for (let next = behind[0]; next && !saysClose(last); next = behind[0]) {
      // Other connections have their turn in between; it is one of those that wait until it begins.
      await turn();
      if (socket.destroyed) break;
      behind.shift();
      await workedOff(next);
      last = next;
    }
    connections.delete(socket);
  };

  const close = (socket: Socket, behind: Waiting[]): void => {
    behind.length = 0;
    socket.destroy();
    slices.begin();
    quietly(() =>
      log.warn(
        { limit: MAX_WAITING },
        'a client sent too many requests without waiting for an answer: its connection is closed',
      ),
    );
  };

  return {
    enter(response, work) {
      const { socket } = response.req;
      const behind = connections.get(socket);
      if (socket.destroyed) return;
      if (!behind) void begin(socket, { response, work });
      else if (behind.length < MAX_WAITING) behind.push({ response, work });
      else close(socket, behind);
    },
    waiting: (socket) => (connections.get(socket) ?? []).map(({ response }) => response),
  };
}

/** What follows has no answer on this connection, and may be no request. */
function saysClose({ response }: Waiting): boolean {
  return response.getHeader('connection') === 'close';
}

/** Resolves when the work is done and the connection is done with the answer. */
async function workedOff({ response, work }: Waiting): Promise<void> {
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  await work();
  await closed;
}
