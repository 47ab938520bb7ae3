/** What an S3 over HTTP answers: errors, objects and their ranges, and pages of a listing. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** One object of a listing. */
export interface Listed {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** Variables that point the AWS SDK at an S3 of this URL. */
export function s3Environment(url: string): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL_S3: url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_S3_FORCE_PATH_STYLE: 'true',
  };
}

/** Answers with an error. @param message the code itself, if there is none */
export function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  message = code,
): void {
  response
    .writeHead(status)
    .end(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`);
}

export function etagOf(body: Uint8Array): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

/** Answers with an object, or with the range of it that was asked for; 404 if there is none. */
export function sendObject(
  body: Uint8Array | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (!body) {
    refuse(response, 404, 'NoSuchKey', 'The specified key does not exist.');
    return;
  }
  response.setHeader('etag', etagOf(body));
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (start === undefined) {
    response.setHeader('content-length', body.byteLength);
    response.end(body);
    return;
  }
  const part = body.subarray(Number(start), Number(end) + 1);
  const last = Number(start) + part.byteLength - 1;
  response.setHeader('content-range', `bytes ${start}-${last}/${body.byteLength}`);
  response.setHeader('content-length', part.byteLength);
  response.writeHead(206).end(part);
}

/** What a request for a listing asks for. The size of a page is at most `pageSize`. */
export function listingQuery(query: URLSearchParams, pageSize: number) {
  return {
    prefix: query.get('prefix') ?? '',
    /** Key after which the page begins; empty: at the first. */
    after: query.get('continuation-token') ?? query.get('start-after') ?? '',
    /** Puts keys with it after the prefix together; empty: none are. */
    delimiter: query.get('delimiter') ?? '',
    size: Math.min(pageSize, Number(query.get('max-keys') ?? pageSize)),
    isUrlEncoded: query.get('encoding-type') === 'url',
  };
}

/** A page of a listing in XML. @param more whether objects follow it @param folders prefixes that stand for keys */
export function listingXml(
  page: readonly Listed[],
  more: boolean,
  isUrlEncoded: boolean,
  folders: readonly string[] = [],
): string {
  const written = (key: string) =>
    isUrlEncoded
      ? encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/')
      : escapeXml(key);
  const contents = page.map(
    ({ key, size, modified }) =>
      `<Contents><Key>${written(key)}</Key><Size>${size}</Size><LastModified>${new Date(modified).toISOString()}</LastModified></Contents>`,
  );
  const prefixes = folders.map(
    (folder) => `<CommonPrefixes><Prefix>${written(folder)}</Prefix></CommonPrefixes>`,
  );
  const token = more
    ? `<NextContinuationToken>${escapeXml(page.at(-1)?.key ?? '')}</NextContinuationToken>`
    : '';
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated>${token}${contents.join('')}${prefixes.join('')}</ListBucketResult>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
