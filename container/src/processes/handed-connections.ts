/** A worker's connections: the primary takes them and hands them over. */
import { Socket, type SocketConstructorOpts } from 'node:net';
import type { ConnectionSource } from '../http/connection-source.ts';
import { CONNECTION_STATE, noteState, STATES_FILE } from './connection-states.ts';
import { HANDED_PORT, type PrimaryMessage, type WorkerMessage } from './messages.ts';

interface Handed {
  readonly slot: number;
  /** Requests without a whole answer; more than one where the client does not wait for answers. */
  requests: number;
}

/** Takes connections from the primary once it is started. */
export function handedConnections(highWaterMark: number): ConnectionSource {
  const known = new WeakMap<Socket, Handed>();
  let take: ((socket: Socket) => void) | undefined;
  process.on('message', (message: PrimaryMessage, handle: unknown) => {
    if (message.kind !== 'connection' || !handle) return;
    const socket = socketOf(handle, highWaterMark);
    const { slot } = message;
    known.set(socket, { slot, requests: 0 });
    socket.once('close', () => {
      noteState(STATES_FILE, slot, CONNECTION_STATE.idle);
      tell({ kind: 'closed', slot });
    });
    if (take) take(socket);
    else socket.destroy();
  });
  return {
    port: Number(process.env[HANDED_PORT]),
    start(taker) {
      take = taker;
      tell({ kind: 'accepts' });
    },
    // What is on its way here is still taken: it may hold a request.
    stop: () => tell({ kind: 'accepts-no-more' }),
    requestBegan(socket) {
      const handed = known.get(socket);
      if (!handed) return;
      handed.requests += 1;
      const { asked, answering } = CONNECTION_STATE;
      noteState(STATES_FILE, handed.slot, handed.requests === 1 ? asked : answering);
    },
    answerBegan(socket) {
      const handed = known.get(socket);
      if (handed) noteState(STATES_FILE, handed.slot, CONNECTION_STATE.answering);
    },
    requestDone(socket) {
      const handed = known.get(socket);
      if (!handed) return;
      handed.requests -= 1;
      if (handed.requests === 0) noteState(STATES_FILE, handed.slot, CONNECTION_STATE.idle);
    },
  };
}

/** As a server of Node makes it, which lets its port choose; the option that takes a handle has no type. */
function socketOf(handle: unknown, highWaterMark: number): Socket {
  const options = { handle, readable: true, writable: true, allowHalfOpen: true, highWaterMark };
  const socket = new Socket(options as SocketConstructorOpts);
  socket.setNoDelay(true);
  return socket;
}

function tell(message: WorkerMessage): void {
  if (process.connected) process.send?.(message);
}
