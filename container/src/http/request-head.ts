/** The line and the headers of a request: what is refused for them before anything reads the body. */
import type { IncomingMessage } from 'node:http';
import { ServingError } from '../errors.ts';

/**
 * @param maxBytes of the line and the headers
 * @throws ServingError BAD_REQUEST for what RFC 9110 (7.2, 10.1.1) and RFC 9112 (3.2) have refused, with status 431
 *   where they are too long; UNSUPPORTED_MEDIA_TYPE for a body in a transfer coding besides chunked, which nothing here
 *   undoes
 */
export function checkHead(request: IncomingMessage, maxBytes: number): void {
  const { headers, httpVersion } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    const found = httpVersion === '0.9' ? 'names no version of HTTP' : `says HTTP/${httpVersion}`;
    const message = `the request ${found}. Send HTTP/1.1.`;
    throw new ServingError('BAD_REQUEST', message);
  }
  const size = headBytes(request);
  if (size > maxBytes) {
    const message = `the request's line and headers take ${size} bytes. At most ${maxBytes} are taken (SAGEMAKER_TFS_MAX_HEADER_BYTES).`;
    throw new ServingError('BAD_REQUEST', message, { status: 431 });
  }
  checkSingleFields(request);
  if (!isPlainlyFramed(request)) {
    const coding = headers['transfer-encoding'];
    const message = `the body has the transfer coding "${coding}". Send it chunked (HTTP/1.1) or with its length, and not encoded.`;
    throw new ServingError('UNSUPPORTED_MEDIA_TYPE', message);
  }
  const { expect } = headers;
  if (expect === undefined || expect.toLowerCase() === '100-continue') return;
  const message = 'the Expect header may be 100-continue only. Leave it out.';
  throw new ServingError('BAD_REQUEST', message, { status: 417 });
}

/**
 * Bytes of the line and the headers as they are usually written, `name: value` and an end of line. Node's parser counts
 * names and values alone, so that thousands of empty fields pass it.
 */
function headBytes({ method = '', url = '', rawHeaders }: IncomingMessage): number {
  let bytes = method.length + url.length + '  HTTP/1.1\r\n\r\n'.length;
  // `: ` behind each name, an end of line behind each value.
  for (const text of rawHeaders) bytes += text.length + 2;
  return bytes;
}

/**
 * Of fields that may come once Node takes the first; who stands in front of this server may have taken another.
 * @throws ServingError BAD_REQUEST for several Hosts, none in HTTP/1.1, and several Content-Types that differ
 */
function checkSingleFields({ httpVersion, rawHeaders }: IncomingMessage): void {
  const hosts = valuesOf(rawHeaders, 'host');
  if (hosts.length > 1) {
    throw new ServingError(
      'BAD_REQUEST',
      `the request has ${hosts.length} Host headers. Send one.`,
    );
  }
  if (hosts.length === 0 && httpVersion === '1.1') {
    throw new ServingError('BAD_REQUEST', 'the request has no Host header. HTTP/1.1 needs one.');
  }
  const types = [...new Set(valuesOf(rawHeaders, 'content-type'))];
  if (types.length <= 1) return;
  const shown = types.slice(0, 2).map((type) => JSON.stringify(type.slice(0, 80)));
  const message = `the request has ${types.length} Content-Types, ${shown.join(' and ')}. Send one.`;
  throw new ServingError('BAD_REQUEST', message);
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const field = rawHeaders[at] as string;
    if (field.length === name.length && field.toLowerCase() === name) {
      values.push(rawHeaders[at + 1] as string);
    }
  }
  return values;
}

/**
 * Whether the body has a length or is chunked and nothing else. Node's parser takes any list that ends in `chunked`, and
 * in HTTP/1.0, which knows no transfer codings (RFC 9112, 6.1).
 */
export function isPlainlyFramed({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding === undefined || (coding.toLowerCase() === 'chunked' && httpVersion === '1.1');
}

/**
 * Whether Node loses what came in one piece with the request and behind it: where nobody takes on an upgrade, it answers
 * the request as any other (RFC 9110, 7.8) and continues where the next piece begins.
 */
export function asksUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}
