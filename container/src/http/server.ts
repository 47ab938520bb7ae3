/** The HTTP server: time limits, disconnects and shutdown. The routes produce the replies. */
import {
  createServer,
  type IncomingMessage,
  maxHeaderSize,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { ServingError } from '../errors.ts';
import { isHttpError } from '../handler/http-error.ts';
import { type ListenOptions, listen } from '../waiting/listen.ts';
import { untilAborted } from '../waiting/or-aborted.ts';
import { type RequestSignal, timedSignal } from '../waiting/request-signal.ts';
import { takeAbsoluteTarget } from './absolute-target.ts';
import { Admission } from './admission.ts';
import { type PaceLimits, startPaceWatch } from './client-pace.ts';
import { type ConnectionLimit, limitConnections } from './connection-limit.ts';
import type { ConnectionSource } from './connection-source.ts';
import { drain } from './drain.ts';
import { createExchange, type Exchange, type Outcome } from './exchange.ts';
import { foreignPage } from './foreign-pages.ts';
import { answerHalfClosed } from './half-closed.ts';
import { type InFlight, inFlightOf, type RequestInFlight } from './in-flight.ts';
import { connectRefuser, malformedRefuser } from './malformed.ts';
import { createPipelines, type Pipelines } from './pipelines.ts';
import { clientClosed } from './read-body.ts';
import { byteLengthOf, errorReply, type Reply, writeReply } from './reply.ts';
import { asksUpgrade, checkHead, isPlainlyFramed } from './request-head.ts';
import { pathOf, type Responder, type Routes, responderOf } from './route-match.ts';
import type { ServerLog } from './server-log.ts';
import { slicesOf } from './slices.ts';
import { slowestReader } from './slow-readers.ts';

/** Settings of the server. */
export interface ServerOptions extends ListenOptions {
  /** How long a request may take, in ms. */
  readonly timeoutMs: number;
  readonly log: ServerLog;
  /** What is taken on at once. Default: anything. */
  readonly admission?: Admission;
  /** Default: clients may be as slow as they like. */
  readonly pace?: PaceLimits;
  /** Connections at once. Default: any number. */
  readonly maxConnections?: number;
  /** Bytes of a request's line and headers. Default: Node's. */
  readonly maxHeaderBytes?: number;
  /** Whether pages of other sites may call, from a browser on this machine. Default: `allow`. */
  readonly foreignPages?: 'allow' | 'refuse';
  /** Supplies the connections if the server does not listen itself. */
  readonly source?: ConnectionSource | undefined;
}

/** A listening server. */
export interface RunningServer {
  readonly port: number;
  /**
   * Stops accepting, lets what is in flight finish for `timeoutMs`, then cuts it. What comes on a kept connection is
   * answered for a moment longer, as its client could not know.
   */
  close(timeoutMs: number): Promise<void>;
  /**
   * Answers all requests in flight with the error before it returns, for a process that is about to be
   * killed; connections that have begun an answer are closed.
   */
  cut(error: ServingError): RequestInFlight[];
  /** Bytes of bodies, tensors and answers that the requests in flight hold now. */
  readonly heldBytes: number;
}

/** Of a response. Node takes the eleventh for a leak, and a stream to a client that leaves has as many. */
const MAX_LISTENERS = 20;
/** Longer than any proxy keeps an idle connection, so that it is never us who closes under a request. */
const KEEP_ALIVE_MS = 620_000;
/**
 * More than one read of a socket (64 KiB): a body that came in one piece must not fill its stream, which would stop
 * and start the socket, two system calls a request.
 */
export const BUFFERED_BYTES = 131_072;
/** Largest answer, in bytes, that is sent in one piece. */
const SMALL_BYTES = 16_384;
/**
 * How long a kept connection stays open during shutdown. A request may be on its way then: it is answered, and the
 * answer tells the client to open another connection, which is refused. Clients and balancers retry a refused
 * connection elsewhere, so no request is lost.
 */
const LAST_REQUESTS_MS = 250;
/** After it, connections that became idle are closed this often. */
const SWEEP_MS = 50;
/** Time for answers of aborted requests to leave. */
const LAST_ANSWERS_MS = 500;
/** No limit of a client's pace. */
const ANY_PACE: PaceLimits = { minBytesPerSecond: 0, patienceMs: 60_000 };

/** Starts to listen. @throws where the port is taken */
export async function startServer(
  routes: Routes | Responder,
  options: ServerOptions,
): Promise<RunningServer> {
  const pace = options.pace ?? ANY_PACE;
  const server = httpServer(options, pace);
  const state: ServerState = {
    respond: typeof routes === 'function' ? routes : responderOf(routes),
    options,
    pace,
    admission: options.admission ?? new Admission(),
    connections: limitConnections(server, options),
    closing: false,
    pipelines: createPipelines(options.log, slicesOf(server)),
    inFlight: new Set(),
    served: 0,
  };
  state.admission.reclaim = () => {
    const reader = slowestReader(state.inFlight, state.admission, performance.now());
    reader?.giveUp();
    return reader !== undefined;
  };
  const { enter } = state.pipelines;
  const take = (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) =>
    enter(response, () => serve(state, request, response, expectsContinue));
  server.on('request', take(false));
  server.on('checkContinue', take(true));
  server.on('checkExpectation', take(true));
  const refuse = malformedRefuser(state);
  server.on('clientError', (error, socket) => void refuse(error, socket as Socket));
  const refuseConnect = connectRefuser(state);
  server.on('connect', (_, socket) => void refuseConnect(socket as Socket));
  answerHalfClosed(server, () => state.inFlight);
  const { source } = options;
  if (source) {
    // From here on Node knows which connections are idle, and which send no headers.
    server.emit('listening');
    source.start((socket) => server.emit('connection', socket));
  } else await listen(server, options);
  const watch = startPaceWatch(pace, () => state.inFlight);
  return {
    port: source?.port ?? (server.address() as AddressInfo).port,
    async close(timeoutMs) {
      await close(server, state, timeoutMs);
      watch.stop();
    },
    cut: (error) => [...state.inFlight].map(({ cut }) => cut(error)),
    get heldBytes() {
      return state.admission.heldBytes;
    },
  };
}

function httpServer({ maxHeaderBytes }: ServerOptions, { patienceMs }: PaceLimits): Server {
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
    highWaterMark: BUFFERED_BYTES,
    headersTimeout: patienceMs,
    connectionsCheckingInterval: patienceMs / 4,
    // A body may take as long as the request itself, as long as it comes; see `client-pace.ts`.
    requestTimeout: 0,
    ...(maxHeaderBytes && { maxHeaderSize: maxHeaderBytes }),
    // Node would refuse a request without it with an empty body. Proxies may name the host in the target alone.
    requireHostHeader: false,
  });
  // Beyond a number of its own Node drops fields without a word; what counts is their size.
  server.maxHeadersCount = 0;
  return server;
}

interface ServerState {
  readonly respond: Responder;
  readonly options: ServerOptions;
  readonly pace: PaceLimits;
  readonly admission: Admission;
  readonly connections: ConnectionLimit;
  readonly pipelines: Pipelines;
  closing: boolean;
  /** Until the connection is done with the answer. */
  readonly inFlight: Set<InFlight>;
  served: number;
}

async function serve(
  state: ServerState,
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
): Promise<void> {
  const { timeoutMs, log } = state.options;
  const { signal, timer } = timedSignal(timeoutMs);
  state.served += 1;
  const { exchange, finish, ticket } = createExchange(request, response, {
    signal,
    expectsContinue,
    number: state.served,
    admission: state.admission,
    log,
  });
  const inFlight = inFlightOf(exchange, response, ticket, state);
  state.inFlight.add(inFlight);
  const { socket } = request;
  state.connections.asks(socket);
  state.options.source?.requestBegan(socket);
  response.setMaxListeners(MAX_LISTENERS);
  response.once('close', () => {
    state.options.source?.requestDone(socket);
    state.connections.rests(socket);
    if (!response.writableFinished) signal.abort(clientClosed());
    ticket()?.release();
    state.inFlight.delete(inFlight);
  });
  const isOneTooMany = state.connections.isOver(socket);
  if (isOneTooMany) response.setHeader('Connection', 'close');
  try {
    const outcome = await answer(state, exchange, response);
    clearTimeout(timer);
    finish(outcome);
    if (outcome.error && !isExpected(outcome.error)) {
      log.error({ requestId: exchange.id, err: outcome.error }, 'request failed');
    }
    if (!request.complete && exchange.bodyAccepted) await drain(request, state.pace.patienceMs);
  } catch (error) {
    log.error({ requestId: exchange.id, err: error }, 'request could not be finished');
    if (!response.writableEnded) abandon(response);
  } finally {
    clearTimeout(timer);
    response.end();
  }
}

function isExpected(error: unknown): boolean {
  return error instanceof ServingError || isHttpError(error);
}

/** An answer that says nothing of why; where another has begun, its client must see that it is not whole. */
function abandon(response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers, body } = errorReply(undefined);
  response.writeHead(status, { ...headers, Connection: 'close' });
  response.write(Buffer.concat(body));
}

/** Never rejects: what goes wrong becomes the answer, or is in the outcome where nothing can be sent. */
async function answer(
  state: ServerState,
  exchange: Exchange,
  response: ServerResponse,
): Promise<Outcome> {
  const { request } = exchange;
  let error: unknown;
  let reply: Reply;
  let isSound = false;
  try {
    checkHead(request, state.options.maxHeaderBytes || maxHeaderSize);
    takeAbsoluteTarget(request);
    isSound = true;
    reply = await untilAborted(exchange.signal, () => {
      refuseUnwelcome(state, request);
      return state.respond(exchange);
    });
  } catch (failure) {
    error = failure;
    reply = errorReply(failure);
  }
  if (response.destroyed) return { status: reply.status, bytes: 0, error };
  const size = Array.isArray(reply.body) ? byteLengthOf(reply.body) : Infinity;
  if (Number.isFinite(size)) exchange.hold(size);
  // The kernel takes a small answer at once: there is no middle to be cut in.
  if (size > SMALL_BYTES) state.options.source?.answerBegan(request.socket);
  // Only then it is known where the next request begins.
  const isSure = isSound && endsKnown(request);
  if (!isSure || state.closing) response.setHeader('Connection', 'close');
  try {
    const bytes = await writing(response, reply, exchange.signal);
    // Cut while it was written.
    if (response.destroyed) error ??= exchange.signal.reason;
    return { status: reply.status, bytes, error };
  } catch (failure) {
    if (response.headersSent) {
      response.destroy();
      return { status: reply.status, bytes: 0, error: failure };
    }
    const bytes = await writeReply(response, errorReply(failure), exchange.signal);
    return { status: errorReply(failure).status, bytes, error: failure };
  }
}

/** Not of a body that nobody read to its end or that is framed oddly, nor where Node passes over what follows. */
function endsKnown(request: IncomingMessage): boolean {
  const { complete, httpVersionMajor } = request;
  return complete && isPlainlyFramed(request) && !asksUpgrade(request) && httpVersionMajor === 1;
}

/** @throws ServingError for a page of another site, and on a connection that is one too many */
function refuseUnwelcome({ options, connections }: ServerState, request: IncomingMessage): void {
  const { foreignPages, address } = options;
  const refused =
    foreignPages === 'refuse' && foreignPage(request.method ?? '', request.headers, address);
  if (refused) throw refused;
  if (connections.isOver(request.socket) && pathOf(request) !== '/ping') {
    throw connections.refusal();
  }
}

/** Writes an answer; a stream that hangs is left behind. What is made already is sent whatever the signal says. */
function writing(response: ServerResponse, reply: Reply, signal: RequestSignal): Promise<number> {
  const write = () => writeReply(response, reply, signal);
  return Array.isArray(reply.body) ? write() : untilAborted(signal, write);
}

async function close(server: Server, state: ServerState, timeoutMs: number): Promise<void> {
  state.closing = true;
  const { source } = state.options;
  source?.stop();
  const closed = source
    ? state.connections.gone()
    : // Node's own `close` of HTTP ends idle connections at once, under requests that are on their way.
      new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  const timer = setTimeout(() => {
    for (const { signal } of [...state.inFlight]) signal.abort(shuttingDown());
    setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS).unref();
  }, timeoutMs);
  // Connections that were busy at first become idle one by one.
  const lastRequests = performance.now() + Math.min(LAST_REQUESTS_MS, timeoutMs);
  const sweep = setInterval(() => {
    if (performance.now() >= lastRequests) server.closeIdleConnections();
  }, SWEEP_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}

function shuttingDown(): ServingError {
  return new ServingError(
    'SHUTTING_DOWN',
    'the container is shutting down. Send the request again.',
  );
}
