/**
 * The port, held by the primary: it takes every connection and hands it to a worker, and keeps it open itself, so
 * that nobody is refused or cut off while a worker starts again. When one dies, its connections end with an answer
 * that says so, unless it had begun an answer. None goes to another worker: the dead one may have read a part of a
 * request, and the rest would be taken for the next request.
 *
 * Node hands a connection over when the one before it has arrived: a worker takes one in each turn of its event loop.
 * Those that come faster, such as connections that are opened and dropped, wait here in order, few enough to learn
 * soon that there are too many. `/ping` is then answered by the primary.
 */
import type { Worker } from 'node:cluster';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Logger } from 'pino';
import type { ErrorCode } from '../errors.ts';
import { connectionsPossible } from '../http/connection-limit.ts';
import { errorReply } from '../http/reply.ts';
import { slicesOf } from '../http/slices.ts';
import { nowAndThen } from '../observability/now-and-then.ts';
import { type ListenOptions, listen } from '../waiting/listen.ts';
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
interface FrontDoorOptions extends ListenOptions {
  readonly log: Logger;
  readonly maxConnections: number;
  /** Workers that share them. */
  readonly processes: number;
}

interface Connection {
  readonly slot: number;
  readonly socket: Socket;
  /** Ends the wait for a worker. */
  timer: NodeJS.Timeout | undefined;
}

/** A worker as the door knows it. */
interface WorkerState {
  readonly worker: Worker;
  readonly states: number;
  /** By slot. */
  readonly connections: Map<number, Connection>;
  accepts: boolean;
  /** Its models can be called. */
  isReady: boolean;
  /** Connections on their way to it. */
  inTransit: number;
}

/** How long a connection waits for a worker before the primary answers itself; SageMaker waits 2 s for a ping. */
const LONGEST_WAIT_MS = 800;
/** Connections on their way to a worker: one that travels, and the next. */
const MAX_IN_TRANSIT = 2;
/** As many wait for workers as long as it takes: a handler that computes keeps its event loop for seconds. */
const MAX_PATIENT = 128;
/** How long what a client still sends is read, so that it sees the answer. */
const DRAIN_MS = 2000;
/** How long a connection that the primary answers itself may take, its request included. */
const FALLBACK_MS = 10_000;
/** Beyond its share, of each worker: it answers some with a refusal, and closes the oldest of those that ask nothing. */
const CONNECTIONS_BEYOND = 256;

/** Takes the connections of all workers. */
export class FrontDoor {
  readonly #server = createServer({ pauseOnConnect: true, allowHalfOpen: true });
  readonly #workers = new Map<Worker, WorkerState>();
  readonly #waiting = new Set<Connection>();
  readonly #freeSlots: number[] = [];
  readonly #fallback = fallbackServer(() => this.#state());
  readonly #options: FrontDoorOptions;
  #slots = 0;
  #turn = 0;
  readonly #dropsQuietly = nowAndThen();
  readonly #overrunQuietly = nowAndThen();
  /** More came than the workers take, and some of them still wait. */
  #isOverrun = false;
  #isClosing = false;

  constructor(options: FrontDoorOptions) {
    this.#options = options;
    const most = options.maxConnections + CONNECTIONS_BEYOND * options.processes;
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

  /** The file that the next worker is to inherit as `STATES_FILE` (connection-states.ts). */
  createStates(): number {
    return createStates();
  }

  /** Hands connections to this worker from when it says so until it ends. */
  attend(worker: Worker, states: number): void {
    const owner: WorkerState = {
      worker,
      states,
      connections: new Map(),
      accepts: false,
      isReady: false,
      inTransit: 0,
    };
    this.#workers.set(worker, owner);
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'accepts') {
        owner.accepts = true;
        this.#placeWaiting();
      }
      if (message.kind === 'ready') owner.isReady = true;
      if (message.kind === 'accepts-no-more') owner.accepts = false;
      if (message.kind === 'closed') this.#closed(owner, message.slot);
    });
    worker.once('exit', () => this.#lose(owner));
  }

  /** Takes no more connections, and ends those that no worker has. */
  close(): void {
    this.#isClosing = true;
    this.#server.close();
    for (const connection of [...this.#waiting]) this.#answer(connection, 'SHUTTING_DOWN');
  }

  #tellDrop(): void {
    this.#dropsQuietly(() =>
      this.#options.log.warn('far too many connections: new ones are closed'),
    );
  }

  /** No worker knows of them, so that neither its log nor its metrics count them. */
  #tellOverrun(): void {
    const waiting = this.#waiting.size;
    this.#overrunQuietly(() =>
      this.#options.log.warn(
        { waiting },
        'more connections are opened than the processes take: some are answered 503 OVERLOADED. SAGEMAKER_TFS_PROCESSES sets more processes.',
      ),
    );
  }

  #take(socket: Socket): void {
    socket.on('error', () => undefined);
    const slot = this.#freeSlots.pop() ?? this.#slots++;
    const connection = { slot, socket, timer: undefined };
    if (this.#isClosing && !this.#next()) this.#answer(connection, 'SHUTTING_DOWN');
    else this.#wait(connection);
    this.#placeWaiting();
  }

  /** In the order in which they came, as far as workers have room. */
  #placeWaiting(): void {
    for (const connection of this.#waiting) {
      const owner = this.#next();
      if (!owner) return;
      this.#place(connection, owner);
    }
    this.#isOverrun = false;
  }

  #place(connection: Connection, owner: WorkerState): void {
    this.#waiting.delete(connection);
    clearTimeout(connection.timer);
    owner.connections.set(connection.slot, connection);
    noteState(owner.states, connection.slot, CONNECTION_STATE.idle);
    const message: PrimaryMessage = { kind: 'connection', slot: connection.slot };
    // The handle itself, because of a socket the channel would close our end.
    const handle = handleOf(connection.socket);
    if (!handle) {
      this.#closed(owner, connection.slot);
      return;
    }
    owner.inTransit += 1;
    owner.worker.send(message, handle as Socket, {}, () => {
      owner.inTransit -= 1;
      this.#placeWaiting();
    });
  }

  /** The worker with the fewest, in turns, of those that have room. */
  #next(): WorkerState | undefined {
    const accepting = [...this.#workers.values()].filter(
      ({ accepts, worker, inTransit }) =>
        accepts && inTransit < MAX_IN_TRANSIT && worker.isConnected(),
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
    connection.timer = setTimeout(() => this.#waited(connection), LONGEST_WAIT_MS);
  }

  /** The primary answers itself if no worker takes connections, or if there are more than they will soon take. */
  #waited(connection: Connection): void {
    if (this.#waiting.size > MAX_PATIENT) this.#isOverrun = true;
    if (this.#state() !== 'starting' && !this.#isOverrun) {
      connection.timer?.refresh();
      return;
    }
    if (this.#isOverrun) this.#tellOverrun();
    this.#waiting.delete(connection);
    this.#free(connection);
    this.#fallback.emit('connection', connection.socket);
    connection.socket.resume();
  }

  #state(): WorkersState {
    const accepting = [...this.#workers.values()].filter(
      ({ accepts, worker }) => accepts && worker.isConnected(),
    );
    if (accepting.some(({ isReady }) => isReady)) return 'ready';
    return accepting.length > 0 ? 'loading' : 'starting';
  }

  #closed(owner: WorkerState, slot: number): void {
    const connection = owner.connections.get(slot);
    if (!connection) return;
    owner.connections.delete(slot);
    this.#free(connection);
    connection.socket.destroy();
  }

  #lose(owner: WorkerState): void {
    this.#workers.delete(owner.worker);
    const states = readStates(owner.states, this.#slots);
    closeStates(owner.states);
    let asked = 0;
    let cut = 0;
    for (const connection of owner.connections.values()) {
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
      log.error({ worker: owner.worker.id, refused: asked, cut }, 'requests lost with a worker');
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

/** Whether workers take connections, and can call their models. */
type WorkersState = 'starting' | 'loading' | 'ready';

/** Answers while no worker does, so that it is known that someone is there. */
function fallbackServer(stateOf: () => WorkersState) {
  const answered = new WeakSet<Socket>();
  const server = createHttpServer((request, response) => {
    // The first answer closes the connection: what else was sent on it has none.
    if (answered.has(request.socket)) return;
    answered.add(request.socket);
    slices.passOver(request.socket);
    const state = stateOf();
    if (state === 'ready' && request.method === 'GET' && request.url === '/ping') {
      response.writeHead(200, { Connection: 'close' }).end();
      return;
    }
    const error = errorOf(state === 'ready' ? 'OVERLOADED' : 'MODEL_NOT_READY');
    const { status, headers, body } = errorReply(error);
    response.writeHead(status, { ...headers, Connection: 'close' });
    response.end(Buffer.concat(body));
  });
  // What is taken here is more than the workers take.
  const slices = slicesOf(server, { always: true });
  server.on('clientError', (_error, socket) => socket.destroy());
  server.on('connection', (socket) => {
    const timer = setTimeout(() => socket.destroy(), FALLBACK_MS).unref();
    socket.once('close', () => clearTimeout(timer));
  });
  return server;
}

/** Undefined if the connection is gone already. */
function handleOf(socket: Socket): unknown {
  return (socket as { readonly _handle?: unknown })._handle ?? undefined;
}
