/** What `serve` puts before the runtime: the page at `/`, `/openapi.json`, and everything else handed on as it is. */

import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import {
  Agent,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { takeAbsoluteTarget } from '@sagemaker-tfs/container/absolute-target';
import { foreignPage } from '@sagemaker-tfs/container/foreign-pages';
import type { OpenApiDocument } from '@sagemaker-tfs/model-packaging';
import { RUNTIME_ERRORS, type RuntimeErrorCode } from '@sagemaker-tfs/tensors/runtime-errors';
import type { PlaygroundDescription } from '../../../playground/src/index.ts';
import { sentence } from '../errors.ts';
import { type Exchange, watchExchange } from './exchange.ts';
import type { Page } from './page.ts';
import type { Sample } from './samples.ts';
import { MAX_PICTURE_BYTES, type Refusal, type SwitchedPicture } from './switched.ts';

/** What stands behind the front at the moment. */
export interface Behind {
  /** The runtime's address; undefined while it starts again. */
  readonly url: string | undefined;
  readonly description: PlaygroundDescription;
  readonly samples: readonly Sample[];
  /** A picture as the model would see it with another declaration, as npz. */
  readonly switchedTensors: (picture: SwitchedPicture) => Promise<Buffer | Refusal>;
  /** Made when it is asked for. */
  readonly openApi: () => Promise<OpenApiDocument>;
}

/** Settings of the front. */
interface FrontOptions {
  readonly port: number;
  /** Address to listen on. */
  readonly host: string;
  readonly page: Page;
  readonly behind: () => Behind;
  /** Called after each request that went to the runtime. */
  readonly onExchange?: (exchange: Exchange) => void;
}

/** A listening front. */
export interface Front {
  /** For people: loopback's own address where it listens on all. */
  readonly url: string;
  close(): Promise<void>;
}

/** Headers that speak of one connection only (RFC 9110, section 7.6.1), and `expect`, which Node answers. */
const OF_ONE_CONNECTION = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'upgrade',
  'expect',
];

/** By which the front has judged who calls: to the runtime it is the front. */
const OF_THE_CALLER = ['host', 'origin', 'sec-fetch-site', 'sec-fetch-mode'];

/** Starts to listen. @throws where the port is taken */
export async function startFront(options: FrontOptions): Promise<Front> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer({ noDelay: true, keepAliveTimeout: 620_000 }, (request, response) => {
    try {
      serve(options, agent, request, response);
    } catch (error) {
      // One request must not end the process, whatever is wrong with it.
      refuse(
        request,
        response,
        'INTERNAL',
        `the request cannot be passed on: ${sentence(`${error}`)}`,
      );
    }
  });
  server.requestTimeout = 0;
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://${shownHost(options.host)}:${port}`, close: () => close(server, agent) };
}

function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

async function close(server: Server, agent: Agent): Promise<void> {
  agent.destroy();
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

function serve(
  options: FrontOptions,
  agent: Agent,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  takeAbsoluteTarget(request);
  const { method = 'GET', headers } = request;
  const refused = foreignPage(method, headers, options.host);
  if (refused) {
    refuse(request, response, refused.code, refused.message);
    return;
  }
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
  if (!path.startsWith('/')) {
    refuse(request, response, 'BAD_REQUEST', 'the target of the request is no path.');
    return;
  }
  const behind = options.behind();
  if (path === '/' && (method === 'GET' || method === 'HEAD')) {
    response.writeHead(200, options.page.headers).end(method === 'GET' ? options.page.html : '');
  } else if (path === '/openapi.json' && method === 'GET') {
    void serveOpenApi(behind, request, response);
  } else if (path === '/playground/tensors' && method === 'POST') {
    void serveTensors(behind, request, response);
  } else if (path.startsWith('/playground/')) serveData(path, behind, request, response);
  else handOn(options, agent, behind, request, response);
}

async function serveOpenApi(
  { openApi }: Behind,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    sendJson(response, await openApi());
  } catch (error) {
    refuse(request, response, 'INTERNAL', `the model cannot be described: ${sentence(`${error}`)}`);
  }
}

/** The picture of the body with the declaration that the query switches. */
async function serveTensors(
  { switchedTensors }: Behind,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const picture = await bodyOf(request, MAX_PICTURE_BYTES);
    if (!picture) {
      const message = `the picture has more than ${MAX_PICTURE_BYTES} bytes.`;
      refuse(request, response, 'REQUEST_TOO_LARGE', message);
      return;
    }
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
    const asked = (name: string) => query.get(name) ?? '';
    const made = await switchedTensors({
      model: asked('model'),
      signature: asked('signature'),
      switched: asked('preprocess'),
      picture,
    });
    if (!Buffer.isBuffer(made)) refuse(request, response, made.code, made.message);
    else response.writeHead(200, { 'Content-Type': 'application/x-npz' }).end(made);
  } catch (error) {
    if (response.headersSent || request.destroyed) return;
    refuse(
      request,
      response,
      'INTERNAL',
      `the picture cannot be prepared: ${sentence(`${error}`)}`,
    );
  }
}

/** Undefined for a body of more bytes. */
async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Kept open: a picture that is too large is answered.
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    const chunk = part as Buffer;
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The page's own data. */
function serveData(
  path: string,
  { description, samples }: Behind,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (path === '/playground/model.json') {
    sendJson(response, description);
    return;
  }
  const index = /^\/playground\/samples\/(\d{1,3})$/.exec(path)?.[1];
  const sample = index === undefined ? undefined : samples[Number(index)];
  if (!sample) {
    refuse(request, response, 'ROUTE_NOT_FOUND', `there is no ${path} here.`);
    return;
  }
  response.writeHead(200, {
    'Content-Type': 'application/octet-stream',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
  createReadStream(sample.file)
    .on('error', () => response.destroy())
    .pipe(response);
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(value));
}

/** Sends the request to the runtime and its answer back, both as streams. */
function handOn(
  { onExchange }: FrontOptions,
  agent: Agent,
  { url }: Behind,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (url === undefined) {
    refuse(request, response, 'MODEL_NOT_READY', 'the runtime is starting. Try again.');
    return;
  }
  const watch = watchExchange(request, onExchange);
  const onward = sendRequest({
    ...urlToHttpOptions(new URL(url)),
    path: request.url ?? '/',
    agent,
    method: request.method,
    headers: without(request.headers, [...OF_ONE_CONNECTION, ...OF_THE_CALLER]),
  });
  onward.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, without(answer.headers, OF_ONE_CONNECTION));
    watch(answer);
    answer.on('error', () => response.destroy()).pipe(response);
  });
  onward.on('error', (error) => {
    if (response.headersSent) return;
    refuse(
      request,
      response,
      'PROCESS_GONE',
      `the runtime did not answer: ${sentence(error.message)}`,
    );
  });
  response.once('close', () => {
    if (!response.writableFinished) onward.destroy();
  });
  request.on('error', () => onward.destroy()).pipe(onward);
}

function without(
  headers: IncomingMessage['headers'],
  names: readonly string[],
): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

/** An error in the runtime's form. */
function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  code: RuntimeErrorCode,
  message: string,
): void {
  request.resume();
  response.writeHead(RUNTIME_ERRORS[code].status, {
    'Content-Type': 'application/json',
    Connection: 'close',
  });
  response.end(JSON.stringify({ error: message, code }));
}
