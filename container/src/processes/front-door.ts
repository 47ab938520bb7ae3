/**
 * The port, held by the primary: it takes every connection and hands it to a worker, and keeps it open itself, so
 * that nobody is refused or cut off while a worker starts again. When one dies, its connections end with an answer
 * that says so, unless it had begun an answer. None goes to another worker: the dead one may have read a part of a
 * request, and the rest would be taken for the next request.
 */
import type { Worker } from 'node:cluster';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Logger } from 'pino';
import type { ErrorCode } from '../errors.ts';
import { connectionsPossible } from '../http/connection-limit.ts';
import { type ListenOptions, listen } from '../http/listen.ts';
import { errorReply } from '../http/reply.ts';
import {
  CONNECTION_STATE,
  closeStates,
  createStates,
  noteState,
  readStates,
} from './connection-states.ts';
import type { PrimaryMessage, WorkerMessage } from './messages.ts';
import { errorOf, rawReply } from './raw-reply.ts';

/** What the front door is opened with. */
export interface FrontDoorOptions extends ListenOptions {
  readonly log: Logger;
  readonly maxConnections: number;
}

interface Connection {
  readonly slot: number;
  readonly socket: Socket;
  /** Ends the wait for a worker. */
  timer: NodeJS.Timeout | undefined;
}

/** A worker as the door knows it. */
interface Attendant {
  readonly worker: Worker;
  readonly states: number;
  readonly connections: Set<Connection>;
  accepts: boolean;
}

/** How long a connection waits for a worker before the primary answers itself; SageMaker waits 2 s for a ping. */
const LONGEST_WAIT_MS = 800;
/** How long what a client still sends is read, so that it sees the answer. */
const DRAIN_MS = 2000;
/** Between two lines of the log about the same. */
const QUIET_MS = 10_000;
/** Beyond the workers' own limits, which answer what is too much. */
const CONNECTIONS_BEYOND = 128;

/** Takes the connections of all workers. */
export class FrontDoor {
  readonly #server = createServer({ pauseOnConnect: true, allowHalfOpen: true });
  readonly #attendants = new Map<Worker, Attendant>();
  readonly #waiting = new Set<Connection>();
  readonly #freeSlots: number[] = [];
  readonly #fallback = fallbackServer();
  readonly #options: FrontDoorOptions;
  #slots = 0;
  #turn = 0;
  #toldAt = -Infinity;
  #isClosing = false;

  constructor(options: FrontDoorOptions) {
    this.#options = options;
    const most = options.maxConnections + CONNECTIONS_BEYOND;
    this.#server.maxConnections = Math.min(most, connectionsPossible());
    this.#server.on('drop', () => this.#tellDrop());
    this.#server.on('connection', (socket) => this.#take(socket));
  }

  /** Starts to listen. @returns the port @throws where it is taken */
  async open(): Promise<number> {
    await listen(this.#server, this.#options);
    const { port } = this.#server.address() as AddressInfo;
    this.#options.log.info({ port }, 'listening');
    return port;
  }

  /** The file that the next worker is to inherit at {@link STATES_FILE}. */
  createStates(): number {
    return createStates();
  }

  /** Hands connections to this worker from when it says so until it ends. */
  attend(worker: Worker, states: number): void {
    const attendant: Attendant = { worker, states, connections: new Set(), accepts: false };
    this.#attendants.set(worker, attendant);
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'accepts') {
        attendant.accepts = true;
        for (const connection of [...this.#waiting]) this.#place(connection);
      }
      if (message.kind === 'accepts-no-more') attendant.accepts = false;
      if (message.kind === 'closed') this.#closed(attendant, message.slot);
    });
    worker.once('exit', () => this.#lose(attendant));
  }

  /** Takes no more connections, and ends those that no worker has. */
  close(): void {
    this.#isClosing = true;
    this.#server.close();
    for (const connection of [...this.#waiting]) this.#answer(connection, 'SHUTTING_DOWN');
  }

  #tellDrop(): void {
    if (performance.now() - this.#toldAt < QUIET_MS) return;
    this.#toldAt = performance.now();
    this.#options.log.warn('far too many connections: new ones are closed');
  }

  #take(socket: Socket): void {
    socket.on('error', () => undefined);
    const slot = this.#freeSlots.pop() ?? this.#slots++;
    this.#place({ slot, socket, timer: undefined });
  }

  /** To the worker with the fewest, in turns, else into the waiting room. */
  #place(connection: Connection): void {
    const owner = this.#next();
    if (!owner) {
      if (this.#isClosing) this.#answer(connection, 'SHUTTING_DOWN');
      else this.#wait(connection);
      return;
    }
    this.#waiting.delete(connection);
    clearTimeout(connection.timer);
    owner.connections.add(connection);
    noteState(owner.states, connection.slot, CONNECTION_STATE.idle);
    const message: PrimaryMessage = { kind: 'connection', slot: connection.slot };
    // The handle itself, because of a socket the channel would close our end.
    const handle = handleOf(connection.socket);
    if (handle) owner.worker.send(message, handle as Socket, {}, () => undefined);
    else this.#closed(owner, connection.slot);
  }

  #next(): Attendant | undefined {
    const accepting = [...this.#attendants.values()].filter(
      ({ accepts, worker }) => accepts && worker.isConnected(),
    );
    this.#turn += 1;
    return accepting
      .map((_, index) => accepting[(index + this.#turn) % accepting.length])
      .reduce((best, next) => {
        return best && next && best.connections.size <= next.connections.size ? best : next;
      }, undefined);
  }

  #wait(connection: Connection): void {
    this.#waiting.add(connection);
    connection.timer = setTimeout(() => {
      this.#waiting.delete(connection);
      this.#free(connection);
      this.#fallback.emit('connection', connection.socket);
      connection.socket.resume();
    }, LONGEST_WAIT_MS);
  }

  #closed(attendant: Attendant, slot: number): void {
    for (const connection of attendant.connections) {
      if (connection.slot !== slot) continue;
      attendant.connections.delete(connection);
      this.#free(connection);
      connection.socket.destroy();
    }
  }

  #lose(attendant: Attendant): void {
    this.#attendants.delete(attendant.worker);
    const states = readStates(attendant.states, this.#slots);
    closeStates(attendant.states);
    let asked = 0;
    let cut = 0;
    for (const connection of attendant.connections) {
      const state = states[connection.slot];
      if (state === CONNECTION_STATE.asked) asked += 1;
      if (state === CONNECTION_STATE.answering) {
        cut += 1;
        this.#free(connection);
        connection.socket.destroy();
      } else this.#answer(connection, this.#isClosing ? 'SHUTTING_DOWN' : 'PROCESS_GONE');
    }
    if (asked + cut > 0) {
      const { log } = this.#options;
      log.error(
        { worker: attendant.worker.id, refused: asked, cut },
        'requests lost with a worker',
      );
    }
  }

  /** Answers a request that is known to be there, or would be the next. */
  #answer(connection: Connection, code: ErrorCode): void {
    this.#waiting.delete(connection);
    clearTimeout(connection.timer);
    this.#free(connection);
    const { socket } = connection;
    socket.end(rawReply(code));
    socket.resume();
    setTimeout(() => socket.destroy(), DRAIN_MS).unref();
  }

  #free(connection: Connection): void {
    this.#freeSlots.push(connection.slot);
  }
}

/** Answers while no worker does, so that it is known that someone is there. */
function fallbackServer() {
  return createHttpServer((_request, response) => {
    const { status, headers, body } = errorReply(errorOf('MODEL_NOT_READY'));
    response.writeHead(status, { ...headers, Connection: 'close' });
    response.end(Buffer.concat(body as readonly Uint8Array[]));
  });
}

/** Undefined if the connection is gone already. */
function handleOf(socket: Socket): unknown {
  return (socket as { readonly _handle?: unknown })._handle ?? undefined;
}
