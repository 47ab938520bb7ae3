/** A small S3 in memory over HTTP: put, get, ranges, and list in pages. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A running S3. */
export interface S3StandIn {
  readonly url: string;
  /** Contents by `bucket/key`. */
  readonly objects: Map<string, Buffer>;
  close(): Promise<void>;
}

/** Starts an S3 that lists `pageSize` keys at once. */
export async function startS3(pageSize: number): Promise<S3StandIn> {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://s3');
    const path = decodeURIComponent(url.pathname.slice(1));
    if (request.method === 'PUT') {
      objects.set(path, await buffer(request));
      response.end();
    } else if (url.searchParams.has('list-type')) {
      response.setHeader('content-type', 'application/xml');
      response.end(list(objects, path.replace(/\/$/, ''), url.searchParams, pageSize));
    } else {
      get(objects.get(path), request.headers.range, response);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function get(body: Buffer | undefined, range: string | undefined, response: ServerResponse): void {
  if (!body) {
    response
      .writeHead(404)
      .end('<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>');
    return;
  }
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  if (start === undefined) {
    response.end(body);
    return;
  }
  const part = body.subarray(Number(start), Number(end) + 1);
  const last = Number(start) + part.length - 1;
  response.setHeader('content-range', `bytes ${start}-${last}/${body.length}`);
  response.writeHead(206).end(part);
}

function list(
  objects: ReadonlyMap<string, Buffer>,
  bucket: string,
  query: URLSearchParams,
  pageSize: number,
): string {
  const prefix = query.get('prefix') ?? '';
  const after = Buffer.from(query.get('continuation-token') ?? query.get('start-after') ?? '');
  const keys = [...objects.keys()]
    .filter((path) => path.startsWith(`${bucket}/${prefix}`))
    .map((path) => Buffer.from(path.slice(bucket.length + 1)))
    .sort(Buffer.compare)
    .filter((key) => Buffer.compare(key, after) > 0);
  const page = keys.slice(0, pageSize).map(String);
  const more = keys.length > page.length;
  const written = (key: string) =>
    query.get('encoding-type') === 'url'
      ? encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/')
      : escapeXml(key);
  const contents = page.map((key) => `<Contents><Key>${written(key)}</Key></Contents>`).join('');
  const token = more
    ? `<NextContinuationToken>${escapeXml(page.at(-1) ?? '')}</NextContinuationToken>`
    : '';
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated>${token}${contents}</ListBucketResult>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
