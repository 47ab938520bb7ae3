/** The HTTP/REST server. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { StatusError, toStatusError } from '@sagemaker-tfs/libtensorflow/serving';
import { deadlineIn } from '@sagemaker-tfs/tensors';
import { findForeignPage, isLoopbackName } from '@sagemaker-tfs/tensors/foreign-pages';
import { httpStatusOf } from '@sagemaker-tfs/tensors/grpc-status';
import { Code } from '@sagemaker-tfs/tensors/protos';
import type { ServingCore } from '../serving-core.ts';
import { answer, type RequestEnds } from './answer.ts';
import { RequestThreads } from './request-threads.ts';
import { isApiPath, isUri, routeOf } from './routes.ts';

/** What the flags say about REST. */
export interface RestOptions {
  /** Address of the port. */
  readonly host: string;
  readonly port: number;
  /** Threads for requests, and one that waits for them. */
  readonly threads: number;
  /** Milliseconds until a call is answered with DEADLINE_EXCEEDED; 0 or less for never. */
  readonly timeoutMs: number;
}

/** A listening server. */
interface RestServer {
  /** Refuses new requests and waits for those in flight, `graceMs` at most. */
  close(graceMs: number): Promise<void>;
}

/** @throws StatusError UNAVAILABLE if the port cannot be bound */
export async function startRestServer(
  core: ServingCore,
  options: RestOptions,
): Promise<RestServer> {
  const threads = new RequestThreads(options.threads);
  // As TensorFlow Serving's (evhttp_server.cc), connections have no time limits: that is on the call alone.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (request, response) => {
    void serve({ core, options, threads }, request, response);
  });
  await listen(server, options);
  return { close: (graceMs) => close(server, graceMs) };
}

function listen(server: Server, { host, port }: RestOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const message = `Failed to start HTTP Server at localhost:${port}: ${error.message}`;
      reject(new StatusError(Code.UNAVAILABLE, message, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}

function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** What every request is answered with. */
interface Serving {
  readonly core: ServingCore;
  readonly options: RestOptions;
  readonly threads: RequestThreads;
}

async function serve(
  serving: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('Content-Type', 'application/json');
  // Node loses what came in one piece with it and behind it.
  if (request.headers.upgrade !== undefined) response.setHeader('Connection', 'close');
  try {
    checkPage(serving.options, request);
    await respond(serving, request, response);
  } catch (error) {
    if (response.headersSent) return void response.destroy();
    const { code, message } = toStatusError(error);
    response.statusCode = httpStatusOf(code);
    response.end(JSON.stringify({ error: message }, null, 4));
  }
}

/** On loopback a browser's pages of other sites could call it; TensorFlow Serving itself lets them. */
function checkPage({ host }: RestOptions, { method = '', headers }: IncomingMessage): void {
  const found = isLoopbackName(host) ? findForeignPage(method, headers, host) : undefined;
  if (found) throw new StatusError(Code.PERMISSION_DENIED, found.message);
}

async function respond(
  { core, options, threads }: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const method = request.method ?? '';
  // A query is a part of the last name, as it is to TensorFlow Serving.
  const path = request.url ?? '';
  // The body is read even where it is not used, so that the connection stays good for the next request.
  const body = await readBody(request);
  if (!isUri(path)) return htmlError(response, 400, 'Bad Request');
  if (!isApiPath(path)) return htmlError(response, 404, 'Not Found');
  await threads.run(async () => {
    const route = routeOf(method, path);
    if (!route) return void response.writeHead(400).end();
    await withTimeout(options.timeoutMs, (ends) => answer(core, route, body, response, ends));
  });
}

/** As libevent has it, which also ends the connection. */
function htmlError(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, { 'Content-Type': 'text/html', Connection: 'close' });
  response.end(
    `<HTML><HEAD>\n<TITLE>${status} ${reason}</TITLE>\n</HEAD><BODY>\n<H1>${reason}</H1>\n</BODY></HTML>\n`,
  );
}

/** A body that is not compressed as it says is empty. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  if (request.headers['content-encoding'] !== 'gzip') return body;
  return promisify(gunzip)(body).catch(() => Buffer.alloc(0));
}

/** Rejects when the time is up, and tells `work`, which then must not touch the response any more. */
async function withTimeout(
  milliseconds: number,
  work: (ends: RequestEnds) => Promise<void>,
): Promise<void> {
  if (milliseconds <= 0) {
    return work({ answered: new AbortController().signal, run: undefined });
  }
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new StatusError(Code.DEADLINE_EXCEEDED, 'Timed out waiting for notification');
      controller.abort(error);
      reject(error);
    }, milliseconds);
  });
  try {
    await Promise.race([
      work({ answered: controller.signal, run: deadlineIn(milliseconds) }),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}
