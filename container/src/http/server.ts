/** The HTTP server: routes, time limits, disconnects and the way down; what is answered is the routes'. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { ServingError } from '../errors.ts';
import { isHttpError } from '../handler/http-error.ts';
import { removeFrom } from '../remove-from.ts';
import { RequestSignal } from '../request-signal.ts';
import { clientClosed } from './read-body.ts';
import { errorReply, type Reply, writeReply } from './reply.ts';

/** One request on its way. */
export interface Exchange {
  readonly request: IncomingMessage;
  /** Aborted when the client goes, the time limit passes, or the server must end. */
  readonly signal: RequestSignal;
  /** SageMaker's inference id, or one of our own. */
  readonly id: string;
  /** Tells a client that waits (`Expect: 100-continue`) to send the body. */
  acceptBody(): void;
  /** False while the client still waits for that. */
  bodyAccepted: boolean;
  /** Called with the outcome once the answer is written or the client has gone. */
  onFinish(callback: (outcome: Outcome) => void): void;
  /** Called once the connection reads no more of the answer's bytes: all were sent, or it has gone. */
  onClosed(callback: () => void): void;
}

/** What became of a request. */
export interface Outcome {
  readonly status: number;
  /** Bytes of the body sent. */
  readonly bytes: number;
  readonly error: unknown;
}

/** Answers one method of one path; `params` are the segments that the path's pattern names. */
export type RouteHandler = (
  exchange: Exchange,
  params: Readonly<Record<string, string>>,
) => Reply | Promise<Reply>;

/** Methods by path pattern; `:name` is a parameter: `{ '/models/:name': { GET: ... } }`. */
export type Routes = Readonly<Record<string, Readonly<Record<string, RouteHandler>>>>;

/** Settings of the server. */
export interface ServerOptions {
  readonly port: number;
  /** Where the port is set, for messages. */
  readonly portVariable?: string;
  readonly address: string;
  /** How long a request may take, in ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
}

/** A listening server. */
export interface RunningServer {
  readonly port: number;
  /** Stops accepting, lets what is in flight finish for `timeoutMs`, then cuts it. */
  close(timeoutMs: number): Promise<void>;
  /**
   * Answers all requests in flight with the error before it returns, for a process that is about to be
   * killed; connections that have begun an answer are closed.
   */
  cut(error: ServingError): RequestInFlight[];
}

/** A request that has no whole answer yet. */
export interface RequestInFlight {
  readonly requestId: string;
  readonly path: string;
  /** Since it arrived. */
  readonly seconds: number;
}

/** Longer than any proxy keeps an idle connection, so that it is never us who closes under a request. */
const KEEP_ALIVE_MS = 620_000;
/**
 * More than one read of a socket (64 KiB): a body that came in one piece must not fill its stream, which would stop
 * and start the socket, two system calls a request.
 */
const BUFFERED_BYTES = 131_072;
/** How long a refused body is still read, so that the client gets to see the answer. */
const DRAIN_MS = 2000;

/** Starts to listen. @throws where the port is taken */
export async function startServer(routes: Routes, options: ServerOptions): Promise<RunningServer> {
  const state: ServerState = {
    routes: compileRoutes(routes),
    options,
    closing: false,
    inFlight: [],
    served: 0,
  };
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
    highWaterMark: BUFFERED_BYTES,
  });
  // A body may take as long as the request itself; a time limit of its own would cut slow uploads.
  server.requestTimeout = 0;
  server.on('request', (request, response) => void serve(state, request, response, false));
  server.on('checkContinue', (request, response) => void serve(state, request, response, true));
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    close: (timeoutMs) => close(server, state, timeoutMs),
    cut: (error) => [...state.inFlight].map(({ cut }) => cut(error)),
  };
}

interface ServerState {
  readonly routes: CompiledRoutes;
  readonly options: ServerOptions;
  closing: boolean;
  readonly inFlight: InFlight[];
  served: number;
}

interface InFlight {
  readonly signal: RequestSignal;
  readonly cut: (error: ServingError) => RequestInFlight;
}

async function serve(
  state: ServerState,
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
): Promise<void> {
  const signal = new RequestSignal();
  const { timeoutMs, log } = state.options;
  const timer = setTimeout(() => signal.abort(timedOut(timeoutMs)), timeoutMs);
  response.once('close', () => {
    if (!response.writableFinished) signal.abort(clientClosed());
  });
  if (state.closing) response.setHeader('Connection', 'close');
  const { exchange, finish } = createExchange(state, request, response, signal, expectsContinue);
  const inFlight: InFlight = { signal, cut: cutter(exchange, response) };
  state.inFlight.push(inFlight);
  const outcome = await answer(state, exchange, response);
  clearTimeout(timer);
  finish(outcome);
  if (outcome.error && !(outcome.error instanceof ServingError) && !isHttpError(outcome.error)) {
    log.error({ requestId: exchange.id, err: outcome.error }, 'request failed');
  }
  if (!request.complete && exchange.bodyAccepted) await drain(request);
  response.end();
  removeFrom(state.inFlight, inFlight);
}

/** What answers a request at once: the kernel takes so few bytes without waiting. */
function cutter(
  { id, request }: Exchange,
  response: ServerResponse,
): (error: ServingError) => RequestInFlight {
  const startedAt = performance.now();
  return (error) => {
    if (response.headersSent) response.destroy();
    else {
      const { status, headers, body } = errorReply(error);
      response.writeHead(status, { ...headers, Connection: 'close' });
      response.end(Buffer.concat(body as readonly Uint8Array[]));
    }
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    return { requestId: id, path: request.url ?? '', seconds };
  };
}

/** Never rejects: what goes wrong becomes the answer, or is in the outcome where nothing can be sent. */
async function answer(
  state: ServerState,
  exchange: Exchange,
  response: ServerResponse,
): Promise<Outcome> {
  let error: unknown;
  let reply: Reply;
  try {
    reply = await untilAborted(exchange.signal, () => route(state, exchange));
  } catch (failure) {
    error = failure;
    reply = errorReply(failure);
  }
  if (response.destroyed) return { status: reply.status, bytes: 0, error };
  // The rest of a body that nobody read cannot be told from the next request.
  if (!exchange.request.complete) response.setHeader('Connection', 'close');
  try {
    const bytes = await writing(response, reply, exchange.signal);
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

/** Writes an answer; a stream that hangs is left behind. What is made already is sent whatever the signal says. */
function writing(response: ServerResponse, reply: Reply, signal: RequestSignal): Promise<number> {
  const write = () => writeReply(response, reply, signal);
  return Array.isArray(reply.body) ? write() : untilAborted(signal, write);
}

/** The work's result, or the signal's reason as soon as there is one: a handler that hangs is left behind. */
async function untilAborted<T>(signal: RequestSignal, work: () => T | Promise<T>): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function route(state: ServerState, exchange: Exchange): Reply | Promise<Reply> {
  const { method = '', url = '' } = exchange.request;
  const path = url.split('?', 1)[0] ?? '';
  const plain = state.routes.plain.get(path);
  if (plain) return plain[method]?.(exchange, {}) ?? methodRefused(path, method, plain);
  for (const { pattern, methods } of state.routes.patterns) {
    const match = pattern.exec(path);
    if (!match) continue;
    const handle = methods[method];
    return (
      handle?.(exchange, decodeParams(match.groups ?? {})) ?? methodRefused(path, method, methods)
    );
  }
  throw new ServingError('ROUTE_NOT_FOUND', `there is no ${path} here`);
}

function methodRefused(path: string, method: string, methods: Methods): Reply {
  const allowed = Object.keys(methods).join(', ');
  const message = `${path} answers ${allowed}, not ${method}`;
  const refusal = errorReply(new ServingError('METHOD_NOT_ALLOWED', message));
  return { ...refusal, headers: { ...refusal.headers, Allow: allowed } };
}

function decodeParams(groups: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(groups).map(([name, value]) => {
      try {
        return [name, decodeURIComponent(value)];
      } catch {
        throw new ServingError(
          'BAD_REQUEST',
          `"${value}" in the path is not percent-encoded UTF-8`,
        );
      }
    }),
  );
}

function createExchange(
  state: ServerState,
  request: IncomingMessage,
  response: ServerResponse,
  signal: RequestSignal,
  expectsContinue: boolean,
): { exchange: Exchange; finish: (outcome: Outcome) => void } {
  const callbacks: ((outcome: Outcome) => void)[] = [];
  const given = request.headers['x-amzn-sagemaker-inference-id'];
  state.served += 1;
  const exchange: Exchange = {
    request,
    signal,
    id: typeof given === 'string' ? given : `${process.pid}-${state.served}`,
    acceptBody() {
      if (!exchange.bodyAccepted) response.writeContinue();
      exchange.bodyAccepted = true;
    },
    bodyAccepted: !expectsContinue,
    onFinish: (callback) => callbacks.push(callback),
    onClosed: (callback) => void response.once('close', callback),
  };
  return {
    exchange,
    finish: (outcome) => {
      for (const callback of callbacks) callback(outcome);
    },
  };
}

type Methods = Routes[string];

interface CompiledRoutes {
  /** Paths without parameters. */
  readonly plain: ReadonlyMap<string, Methods>;
  readonly patterns: readonly { readonly pattern: RegExp; readonly methods: Methods }[];
}

function compileRoutes(routes: Routes): CompiledRoutes {
  const all = Object.entries(routes);
  const patterns = all.filter(([path]) => path.includes(':'));
  return {
    plain: new Map(all.filter(([path]) => !path.includes(':'))),
    patterns: patterns.map(([path, methods]) => ({
      pattern: new RegExp(`^${path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`),
      methods,
    })),
  };
}

/** Reads and forgets what is left of a body, for a moment. */
async function drain(request: IncomingMessage): Promise<void> {
  if (request.destroyed) return;
  request.resume();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, DRAIN_MS);
    request.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    request.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function listen(server: Server, options: ServerOptions): Promise<void> {
  const { port, address } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, options)));
    server.listen(port, address, resolve);
  });
}

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use',
  EACCES: 'may not be taken by this user',
  EADDRNOTAVAIL: 'cannot be had: this machine has no such address',
};

function cannotListen(
  cause: NodeJS.ErrnoException,
  { port, portVariable, address }: ServerOptions,
): Error {
  const problem = LISTEN_PROBLEMS[cause.code ?? ''];
  if (!problem) return cause;
  const variable = portVariable ? `; ${portVariable} sets another` : '';
  return new Error(`port ${port} of ${address} ${problem} (${cause.code})${variable}`, { cause });
}

async function close(server: Server, state: ServerState, timeoutMs: number): Promise<void> {
  state.closing = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => {
    for (const { signal } of [...state.inFlight]) signal.abort(shuttingDown());
    // The answers just made get a moment to leave.
    setTimeout(() => server.closeAllConnections(), 500).unref();
  }, timeoutMs);
  // Connections that were busy at first become idle one by one.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}

function timedOut(timeoutMs: number): ServingError {
  return new ServingError(
    'REQUEST_TIMEOUT',
    `not answered within ${timeoutMs / 1000} s (SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS)`,
  );
}

function shuttingDown(): ServingError {
  return new ServingError(
    'SHUTTING_DOWN',
    'the container is shutting down; send the request again',
  );
}
