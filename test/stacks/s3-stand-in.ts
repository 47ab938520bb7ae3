/** A small S3 in memory over HTTP: put (also on conditions), get, ranges, delete, and list in pages. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  etagOf,
  listingQuery,
  listingXml,
  refuse,
  s3Environment,
  sendObject,
} from '../../tools/s3-answers.ts';

/** A running S3. */
export interface S3StandIn {
  readonly url: string;
  /** Contents by `bucket/key`. */
  readonly objects: Map<string, Buffer>;
  /** When objects were written, milliseconds since 1970; those that are not here count as written at {@link now}. */
  readonly modified: Map<string, number>;
  /** The clock for what is written from now on. */
  now: number;
  /** Requests so far: `GET`, `PUT` and `LIST`. */
  readonly calls: Record<string, number>;
  /** Lines of CloudWatch Logs by the name of a transform job. */
  readonly logs: Map<string, readonly string[]>;
  /** Statuses of transform jobs by their names, which are listed one to a page; one that is stopped is `Stopping`. */
  readonly transformJobs: Map<string, string>;
  /** Answers a request with this error code instead, where it is given; with `cut` the connection breaks within the body. */
  fail?: (method: string, path: string) => string | undefined;
  close(): Promise<void>;
}

/** Statuses of error codes; others are 400. */
const STATUS_OF: Readonly<Record<string, number>> = {
  AccessDenied: 403,
  SlowDown: 503,
  ConditionalRequestConflict: 409,
  NoSuchKey: 404,
};

/** Objects by path that keep their paths in the order of a listing, until one is added or deleted. */
class SortedObjects extends Map<string, Buffer> {
  private sorted: { readonly path: string; readonly bytes: Buffer }[] | undefined;

  override set(path: string, body: Buffer): this {
    if (!this.has(path)) this.sorted = undefined;
    return super.set(path, body);
  }

  override delete(path: string): boolean {
    this.sorted = undefined;
    return super.delete(path);
  }

  override clear(): void {
    this.sorted = undefined;
    super.clear();
  }

  /** All paths, by their UTF-8 bytes. */
  paths() {
    this.sorted ??= [...this.keys()]
      .map((path) => ({ path, bytes: Buffer.from(path) }))
      .sort((one, other) => Buffer.compare(one.bytes, other.bytes));
    return this.sorted;
  }

  /** Place of the first path that is not before this one (`least` 0), or of the first after it (1). */
  placeOf(path: string, least: 0 | 1): number {
    const [paths, bytes] = [this.paths(), Buffer.from(path)];
    let [low, high] = [0, paths.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = paths[middle] as { bytes: Buffer };
      if (Buffer.compare(found.bytes, bytes) < least) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Starts it, and points the AWS SDK of this process at it. */
export async function startS3ForSdk(pageSize: number): Promise<S3StandIn> {
  const s3 = await startS3(pageSize);
  Object.assign(process.env, s3Environment(s3.url), {
    AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: s3.url,
    AWS_ENDPOINT_URL_SAGEMAKER: s3.url,
  });
  return s3;
}

/** Puts inputs, each with its name as its content. @param at milliseconds since 1970; default: the S3's own time */
export function putInputs(s3: S3StandIn, names: readonly string[], at = s3.now): void {
  for (const name of names) {
    s3.objects.set(`data/input/${name}`, Buffer.from(name));
    s3.modified.set(`data/input/${name}`, at);
  }
}

/** Starts an S3 that lists `pageSize` keys at once. */
export async function startS3(pageSize: number): Promise<S3StandIn> {
  const objects = new SortedObjects();
  const server = createServer(async (request, response) => {
    const operation = /^SageMaker\.(\w+)$/.exec(String(request.headers['x-amz-target']))?.[1];
    if (operation) {
      const asked = JSON.parse(String(await buffer(request))) as JobQuery;
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(answerOfJobs(s3.transformJobs, operation, asked)));
      return;
    }
    const url = new URL(request.url ?? '', 'http://s3');
    const path = decodeURIComponent(url.pathname.slice(1));
    const isList = url.searchParams.has('list-type');
    const isLog = request.headers['x-amz-target'] === 'Logs_20140328.FilterLogEvents';
    const method = isList ? 'LIST' : isLog ? 'LOGS' : (request.method ?? '');
    s3.calls[method] = (s3.calls[method] ?? 0) + 1;
    const refusal = s3.fail?.(method, isList ? (url.searchParams.get('prefix') ?? '') : path);
    if (refusal === 'cut') {
      const body = objects.get(path) ?? Buffer.from('<ListBucketResult>');
      response.writeHead(200, { 'content-length': body.length + 1 }).write(body, () => {
        response.destroy();
      });
    } else if (isLog) {
      const asked = JSON.parse(String(await buffer(request))) as LogQuery;
      response.writeHead(refusal ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(refusal ? { __type: refusal } : logPage(s3.logs, asked)));
    } else if (refusal) {
      refuse(response, STATUS_OF[refusal] ?? 400, refusal);
    } else if (request.method === 'PUT') {
      const body = await buffer(request);
      const there = objects.get(path);
      if (!there && request.headers['if-match'] !== undefined) {
        refuse(response, 404, 'NoSuchKey');
        return;
      }
      if (!allows(request.headers, there)) {
        refuse(response, 412, 'PreconditionFailed');
        return;
      }
      objects.set(path, body);
      s3.modified.set(path, s3.now);
      response.setHeader('etag', etagOf(body));
      response.end();
    } else if (method === 'DELETE') {
      objects.delete(path);
      response.writeHead(204).end();
    } else if (isList) {
      response.setHeader('content-type', 'application/xml');
      response.end(list(s3, objects, path.replace(/\/$/, ''), url.searchParams, pageSize));
    } else {
      response.setHeader('last-modified', new Date(s3.modified.get(path) ?? s3.now).toUTCString());
      sendObject(objects.get(path), request, response);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const s3: S3StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    modified: new Map(),
    logs: new Map(),
    transformJobs: new Map(),
    now: Date.UTC(2026, 0, 1),
    calls: {},
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return s3;
}

/** Arguments of FilterLogEvents. */
interface LogQuery {
  readonly logStreamNamePrefix: string;
  readonly filterPattern: string;
  readonly nextToken?: string;
}

const LINES_A_PAGE = 3;

/** A page of the lines that hold the quoted pattern; as of CloudWatch, some have no line. */
function logPage(logs: S3StandIn['logs'], { logStreamNamePrefix, ...query }: LogQuery) {
  const all = logs.get(logStreamNamePrefix.replace(/\/$/, '')) ?? [];
  const from = Number(query.nextToken ?? 0);
  const events = all
    .slice(from, from + LINES_A_PAGE)
    .filter((line) => line.includes(query.filterPattern.slice(1, -1)))
    .map((message) => ({ message }));
  const next = from + LINES_A_PAGE;
  return { events, ...(next < all.length && { nextToken: String(next) }) };
}

/** Arguments of ListTransformJobs, or of StopTransformJob. */
interface JobQuery {
  readonly NameContains?: string;
  readonly StatusEquals?: string;
  readonly NextToken?: string;
  readonly TransformJobName?: string;
}

function answerOfJobs(jobs: S3StandIn['transformJobs'], operation: string, query: JobQuery) {
  if (operation === 'StopTransformJob') {
    jobs.set(query.TransformJobName ?? '', 'Stopping');
    return {};
  }
  const { NameContains = '', StatusEquals, NextToken } = query;
  const found = [...jobs].filter(
    ([name, status]) => name.includes(NameContains) && (!StatusEquals || status === StatusEquals),
  );
  const at = Number(NextToken ?? 0);
  const TransformJobSummaries = found
    .slice(at, at + 1)
    .map(([TransformJobName, TransformJobStatus]) => ({ TransformJobName, TransformJobStatus }));
  return { TransformJobSummaries, ...(at + 1 < found.length && { NextToken: String(at + 1) }) };
}

function allows(headers: IncomingHttpHeaders, there: Buffer | undefined): boolean {
  if (headers['if-none-match'] === '*') return there === undefined;
  const tag = headers['if-match'];
  return tag === undefined || (there !== undefined && etagOf(there) === tag);
}

function list(
  { modified, now }: S3StandIn,
  objects: SortedObjects,
  bucket: string,
  query: URLSearchParams,
  pageSize: number,
): string {
  const { prefix, after, size, isUrlEncoded, delimiter } = listingQuery(query, pageSize);
  const paths = objects.paths();
  const beginning = `${bucket}/${prefix}`;
  let at = objects.placeOf(beginning, 0);
  if (after) at = Math.max(at, objects.placeOf(`${bucket}/${after}`, 1));
  const left: string[] = [];
  for (; left.length <= size && paths[at]?.path.startsWith(beginning); at++) {
    left.push((paths[at] as { path: string }).path);
  }
  const page = left.slice(0, size).map((path) => ({
    key: path.slice(bucket.length + 1),
    size: objects.get(path)?.length ?? 0,
    modified: modified.get(path) ?? now,
  }));
  // Keys that a folder stands for take room in a page all the same: of few keys that makes no difference.
  const folderOf = (key: string) => {
    const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    return end < 0 ? undefined : key.slice(0, end + delimiter.length);
  };
  const folders = new Set(
    page.map(({ key }) => folderOf(key)).filter((folder) => folder !== undefined),
  );
  const files = page.filter(({ key }) => folderOf(key) === undefined);
  return listingXml(files, left.length > size, isUrlEncoded, [...folders]);
}
