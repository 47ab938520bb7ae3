/** What `serve` puts before the runtime: the page at `/`, `/openapi.json`, and everything else handed on as it is. */

import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { Agent, type IncomingMessage, request as sendRequest } from 'node:http';
import { urlToHttpOptions } from 'node:url';
import {
  type Exchange,
  jsonReply,
  type Reply,
  ServingError,
  startServer,
} from '@sagemaker-tfs/container/http';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import type { OpenApiDocument } from '@sagemaker-tfs/model-packaging';
import type { PlaygroundDescription } from '../../../playground/src/index.ts';

import { urlOf } from '../serving/url-of.ts';
import { type Exchange as Told, watchExchange } from './exchange.ts';
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
  readonly onExchange?: (exchange: Told) => void;
}

/** A listening front. */
export interface Front {
  /** For people: loopback's own address where it listens on all. */
  readonly url: string;
  close(): Promise<void>;
}

/** Headers that speak of one connection only (RFC 9110, section 7.6.1). */
const OF_ONE_CONNECTION = ['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade'];

/** By which the front has judged who calls: to the runtime it is the front. */
const OF_THE_CALLER = ['host', 'origin', 'sec-fetch-site', 'sec-fetch-mode'];

/** The runtime has a limit of its own; a timer of Node takes no more. */
const ANY_TIME_MS = 2 ** 31 - 1;

/** The terminal is the person's: errors are in the answers. */
const SILENT = { error: () => undefined, warn: () => undefined };

const NO_STORE = { 'Cache-Control': 'no-store' };

/** Starts to listen, with the rules of the runtime. @throws where the port is taken */
export async function startFront(options: FrontOptions): Promise<Front> {
  const agent = new Agent({ keepAlive: true });
  const server = await startServer((exchange) => answer(options, agent, exchange), {
    port: options.port,
    address: options.host,
    timeoutMs: ANY_TIME_MS,
    foreignPages: 'refuse',
    log: SILENT,
  });
  return {
    url: urlOf(options.host, server.port),
    async close() {
      agent.destroy();
      await server.close(0);
    },
  };
}

async function answer(options: FrontOptions, agent: Agent, exchange: Exchange): Promise<Reply> {
  const { method = 'GET', url = '/' } = exchange.request;
  const path = url.split('?', 1)[0] ?? '/';
  if (!path.startsWith('/')) {
    throw new ServingError('BAD_REQUEST', 'the target of the request is no path. Send one.');
  }
  const behind = options.behind();
  if (path === '/' && (method === 'GET' || method === 'HEAD')) {
    return { status: 200, headers: options.page.headers, body: [options.page.html] };
  }
  if (path === '/openapi.json' && method === 'GET') return openApiReply(behind);
  if (path === '/playground/tensors' && method === 'POST') return tensorsReply(behind, exchange);
  if (path.startsWith('/playground/')) return dataReply(path, behind);
  return handOn(options, agent, behind, exchange);
}

async function openApiReply({ openApi }: Behind): Promise<Reply> {
  try {
    return ownJson(await openApi());
  } catch (cause) {
    throw new ServingError(
      'INTERNAL',
      `the model cannot be described: ${sentence(`${cause}`)} See what inspect says of it.`,
      {
        cause,
      },
    );
  }
}

/** The picture of the body with the declaration that the query switches. */
async function tensorsReply({ switchedTensors }: Behind, exchange: Exchange): Promise<Reply> {
  exchange.acceptBody();
  const picture = await bodyOf(exchange.request, MAX_PICTURE_BYTES);
  const query = new URL(exchange.request.url ?? '/', 'http://localhost').searchParams;
  const asked = (name: string) => query.get(name) ?? '';
  const made = await switchedTensors({
    model: asked('model'),
    signature: asked('signature'),
    switched: asked('preprocess'),
    picture,
  }).catch((cause: unknown) => {
    throw new ServingError(
      'INTERNAL',
      `the picture cannot be prepared: ${sentence(`${cause}`)} Try another one.`,
      {
        cause,
      },
    );
  });
  if (Buffer.isBuffer(made)) {
    return { status: 200, headers: { 'Content-Type': 'application/x-npz' }, body: [made] };
  }
  throw new ServingError(made.code, made.message);
}

/** @throws ServingError REQUEST_TOO_LARGE */
async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Kept open: a picture that is too large is answered.
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    const chunk = part as Buffer;
    length += chunk.length;
    if (length > maxBytes) {
      throw new ServingError(
        'REQUEST_TOO_LARGE',
        `the picture has more than ${maxBytes} bytes. Send a smaller one.`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The page's own data. */
async function dataReply(path: string, { description, samples }: Behind): Promise<Reply> {
  if (path === '/playground/model.json') return ownJson(description);
  const index = /^\/playground\/samples\/(\d{1,3})$/.exec(path)?.[1];
  const sample = index === undefined ? undefined : samples[Number(index)];
  if (!sample)
    throw new ServingError('ROUTE_NOT_FOUND', `there is no ${path} here. Load the page again.`);
  const file = createReadStream(sample.file);
  await once(file, 'open');
  const headers = {
    'Content-Type': 'application/octet-stream',
    'X-Content-Type-Options': 'nosniff',
    ...NO_STORE,
  };
  return { status: 200, headers, body: file };
}

function ownJson(value: unknown): Reply {
  const reply = jsonReply(value);
  return { ...reply, headers: { ...reply.headers, ...NO_STORE } };
}

/** Sends the request to the runtime and its answer back, both as streams. */
async function handOn(
  { onExchange }: FrontOptions,
  agent: Agent,
  { url }: Behind,
  exchange: Exchange,
): Promise<Reply> {
  if (url === undefined) {
    throw new ServingError('MODEL_NOT_READY', 'the runtime is starting. Send the request again.');
  }
  const { request, signal } = exchange;
  const watched = watchExchange(request, onExchange);
  const onward = sendRequest({
    ...urlToHttpOptions(new URL(url)),
    path: request.url ?? '/',
    agent,
    method: request.method,
    headers: without(request.headers, [...OF_ONE_CONNECTION, ...OF_THE_CALLER]),
  });
  signal.addEventListener('abort', () => onward.destroy(), { once: true });
  // Whether the body is wanted the runtime says, by the head alone.
  if (request.headers.expect === undefined) exchange.acceptBody();
  else onward.once('continue', () => exchange.acceptBody());
  onward.flushHeaders();
  request.on('error', () => onward.destroy()).pipe(onward);
  const answered = await new Promise<IncomingMessage>((resolve, reject) => {
    onward.once('response', resolve);
    onward.on('error', (cause) => reject(runtimeGone(cause)));
  });
  // How the answer is framed here is for this connection to say.
  const headers = Object.entries(
    without(answered.headers, [...OF_ONE_CONNECTION, 'transfer-encoding']),
  );
  return {
    status: answered.statusCode ?? 502,
    headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
    body: watched(answered),
  };
}

function runtimeGone(cause: Error): ServingError {
  const message = `the runtime did not answer: ${sentence(cause.message)}`;
  return new ServingError('PROCESS_GONE', message, { cause });
}

function without(
  headers: IncomingMessage['headers'],
  names: readonly string[],
): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
