/**
 * An S3 over HTTP whose buckets may hold millions of objects that are computed when they are asked for, beside those
 * that are put. Listings find their place by halving, so a page costs the same wherever it begins.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  etagOf,
  type Listed,
  listingQuery,
  listingXml,
  refuse,
  s3Environment,
  sendObject,
} from './s3-answers.ts';

/** Objects that are computed. */
export interface Generated {
  readonly count: number;
  /** Keys must rise with their number, by the bytes of UTF-8. */
  keyOf(index: number): string;
  bodyOf(index: number): Uint8Array;
}

/** An object that was put. */
interface Stored {
  readonly body: Uint8Array;
  readonly modified: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A running S3. */
export interface GeneratedS3 {
  readonly url: string;
  /** Objects that were put, by bucket and key. */
  readonly stored: ReadonlyMap<string, Map<string, Stored>>;
  /** Requests so far: `GET`, `PUT`, `HEAD`, `DELETE` and `LIST`. */
  readonly calls: Record<string, number>;
  /** Requests that are answered at this moment, and the most of them so far. */
  readonly load: { now: number; most: number };
  /** Answers a request with this status instead, where it is given; with 0 the connection breaks within the body. */
  fail?: ((method: string, bucket: string, key: string) => number | undefined) | undefined;
  /** Variables that point the AWS SDK at it. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** When computed objects were written. */
const WRITTEN = Date.UTC(2026, 0, 1);

/** @param buckets the generated objects of each */
export async function startGeneratedS3(
  buckets: Readonly<Record<string, Generated>>,
  pageSize = 1_000,
): Promise<GeneratedS3> {
  const stored = new Map<string, Map<string, Stored>>();
  const server = createServer(async (request, response) => {
    s3.load.most = Math.max(s3.load.most, ++s3.load.now);
    response.once('close', () => s3.load.now--);
    const url = new URL(request.url ?? '', 'http://s3');
    const [bucket = '', ...rest] = url.pathname.slice(1).split('/');
    const key = decodeURIComponent(rest.join('/'));
    const isList = url.searchParams.has('list-type');
    const method = isList ? 'LIST' : (request.method ?? '');
    s3.calls[method] = (s3.calls[method] ?? 0) + 1;
    const status = s3.fail?.(method, bucket, isList ? (url.searchParams.get('prefix') ?? '') : key);
    if (status === 0) return breakOff(response);
    if (status !== undefined) return refuse(response, status, CODES[status] ?? 'InternalError');
    const own = stored.get(bucket) ?? new Map<string, Stored>();
    if (isList) {
      response.end(page(buckets[bucket], own, url.searchParams, pageSize));
    } else if (method === 'PUT') {
      await put(own, key, request, response);
      stored.set(bucket, own);
    } else if (method === 'DELETE') {
      own.delete(key);
      response.writeHead(204).end();
    } else {
      get(own.get(key) ?? generated(buckets[bucket], key), request, response);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const s3: GeneratedS3 = {
    url,
    stored,
    calls: {},
    load: { now: 0, most: 0 },
    environment: s3Environment(url),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return s3;
}

const CODES: Readonly<Record<number, string>> = {
  403: 'AccessDenied',
  404: 'NoSuchKey',
  412: 'PreconditionFailed',
  503: 'SlowDown',
};

function breakOff(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': 100 });
  response.write('{');
  setImmediate(() => response.destroy());
}

async function put(
  own: Map<string, Stored>,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await buffer(request);
  if (request.headers['if-none-match'] === '*' && own.has(key)) {
    return refuse(response, 412, 'PreconditionFailed');
  }
  const metadata = Object.entries(request.headers).filter(([name]) =>
    /^x-amz-(meta-|server-side-encryption)/.test(name),
  );
  own.set(key, { body, modified: Date.now(), metadata: Object.fromEntries(metadata) as never });
  response.setHeader('etag', etagOf(body));
  response.end();
}

function generated(from: Generated | undefined, key: string): Stored | undefined {
  if (!from) return undefined;
  const index = firstFrom(from, key);
  if (index >= from.count || from.keyOf(index) !== key) return undefined;
  return { body: from.bodyOf(index), modified: WRITTEN, metadata: {} };
}

function get(object: Stored | undefined, request: IncomingMessage, response: ServerResponse): void {
  if (object) {
    for (const [name, value] of Object.entries(object.metadata)) response.setHeader(name, value);
    response.setHeader('last-modified', new Date(object.modified).toUTCString());
  }
  sendObject(object?.body, request, response);
}

const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Number of the first computed key that is not before this one. */
function firstFrom({ count, keyOf }: Generated, key: string): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(keyOf(middle), key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function page(
  from: Generated | undefined,
  own: ReadonlyMap<string, Stored>,
  query: URLSearchParams,
  pageSize: number,
): string {
  const { prefix, after, size, isUrlEncoded } = listingQuery(query, pageSize);
  const isIn = (key: string) => key.startsWith(prefix) && (after === '' || compare(key, after) > 0);
  const keys: Listed[] = [];
  if (from) {
    const start = compare(prefix, after) > 0 ? prefix : after;
    for (let at = firstFrom(from, start); at < from.count && keys.length <= size; at++) {
      const key = from.keyOf(at);
      if (!key.startsWith(prefix)) break;
      if (isIn(key)) keys.push({ key, size: from.bodyOf(at).byteLength, modified: WRITTEN });
    }
  }
  for (const [key, { body, modified }] of own) {
    if (isIn(key)) keys.push({ key, size: body.byteLength, modified });
  }
  keys.sort((a, b) => compare(a.key, b.key));
  return listingXml(keys.slice(0, size), keys.length > size, isUrlEncoded);
}
