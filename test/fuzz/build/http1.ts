/** Messages of HTTP/1.1 (RFC 9112): right ones, and some whose end is not where another reader might see it. */
import { pick, type Random } from '../random.ts';
import { slip, slipTo } from './bytes.ts';

/** A line that only `hidden` requests have: nothing may answer it while it stands in a body. */
export const HIDDEN_PATH = '/hidden';
const HIDDEN = `GET ${HIDDEN_PATH} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** Pieces of replies, to be put where they do not belong. */
export const REPLY_TOKENS = [
  '\r\n',
  '\r\n\r\n',
  ':',
  'Content-Length: ',
  'Transfer-Encoding: chunked',
  'HTTP/1.1 ',
];

/** Chunks of the body, with extensions and trailers. */
function chunked(random: Random, body: string): string {
  const parts: string[] = [];
  for (let at = 0; at < body.length; ) {
    const size = Math.min(body.length - at, 1 + random(body.length));
    const shown = random(2)
      ? size.toString(16)
      : size
          .toString(16)
          .padStart(1 + random(4), '0')
          .toUpperCase();
    const extension = random(12) ? '' : pick(random, [';a=b', ';a', ';a="b;c"']);
    parts.push(`${shown}${extension}\r\n${body.slice(at, at + size)}\r\n`);
    at += size;
  }
  const trailers = random(12) ? '' : 'X-Trailer: 1\r\n';
  return `${parts.join('')}0\r\n${trailers}\r\n`;
}

/** Ways of saying where a body ends that RFC 9112 has refused, or that readers differ on. */
const AMBIGUOUS: readonly ((length: number) => string)[] = [
  (length) => `Content-Length: ${length}\r\nTransfer-Encoding: chunked\r\n`,
  (length) => `Transfer-Encoding: chunked\r\nContent-Length: ${length}\r\n`,
  (length) => `Content-Length: ${length}\r\nContent-Length: ${length + 1}\r\n`,
  (length) => `Content-Length: ${length}, ${length + 7}\r\n`,
  (length) => `Content-Length: +${length}\r\n`,
  (length) => `Content-Length: -${length}\r\n`,
  (length) => `Content-Length: 0x${length.toString(16)}\r\n`,
  (length) => `Content-Length : ${length}\r\n`,
  (length) => `Content-Length: ${length} 1\r\n`,
  (length) => `Content-Length: 99999999999999999999${length}\r\n`,
  () => 'Transfer-Encoding : chunked\r\n',
  () => 'Transfer-Encoding: xchunked\r\n',
  () => 'Transfer-Encoding: chunked, identity\r\n',
  () => 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
  () => 'X: y\nTransfer-Encoding: chunked\r\n',
  () => 'X: y\rTransfer-Encoding: chunked\r\n',
  () => 'X\0: y\r\nTransfer-Encoding: chunked\r\n',
  () => 'Transfer-Encoding:\x0bchunked\r\n',
  () => ' Transfer-Encoding: chunked\r\n',
  () => 'Transfer-Encoding: "chunked"\r\n',
];

/** What a client sends on one connection. */
export interface Sent {
  readonly text: string;
  /** Bodies of the requests that come before the first one that readers differ on. */
  readonly bodies: readonly string[];
  /** Whether nothing is wrong: then the last request closes the connection. */
  readonly isRight: boolean;
}

/** Some requests one behind the other; the last may be one that must be refused. */
export function requestsOf(random: Random): Sent {
  const bodies: string[] = [];
  let text = '';
  for (let more = random(4); more > 0; more--) {
    const body = bodyOf(random);
    bodies.push(body);
    text += rightRequest(random, body);
  }
  if (random(2) === 0) {
    bodies.push('');
    return {
      text: `${text}GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      bodies,
      isRight: true,
    };
  }
  return { text: text + wrongRequest(random), bodies, isRight: false };
}

function bodyOf(random: Random): string {
  return pick(random, [
    '',
    'a',
    HIDDEN,
    `0\r\n\r\n${HIDDEN}`,
    `\r\n\r\n${HIDDEN}`,
    'x'.repeat(random(3_000)),
  ]);
}

const FIELDS = [
  'X-A: b\r\n',
  'Accept: */*\r\n',
  'x-empty:\r\n',
  'X-Tab:\ta\t\r\n',
  `X-Long: ${'y'.repeat(900)}\r\n`,
];

function rightRequest(random: Random, body: string): string {
  const fields = Array.from({ length: random(4) }, () => pick(random, FIELDS)).join('');
  const head = `POST ${pick(random, ['/echo', '/echo?a=b', '/echo?%00'])} HTTP/1.1\r\nHost: x\r\n${fields}`;
  if (random(2)) return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  const name = pick(random, ['Transfer-Encoding', 'transfer-encoding', 'TRANSFER-ENCODING']);
  return `${head}${name}: ${pick(random, ['chunked', 'Chunked', ' chunked '])}\r\n\r\n${chunked(random, body)}`;
}

function wrongRequest(random: Random): string {
  const body = `0\r\n\r\n${HIDDEN}`;
  switch (random(5)) {
    case 0:
    case 1: {
      const framing = pick(random, AMBIGUOUS)(pick(random, [5, body.length, body.length + 5]));
      return `POST /echo HTTP/1.1\r\nHost: x\r\n${framing}\r\n${body}`;
    }
    case 2:
      return `POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${wrongChunks(random)}${HIDDEN}`;
    case 3:
      return `${pick(random, HEADS)}\r\n\r\n${HIDDEN}`;
    default: {
      const count = pick(random, [90, 2_000, 5_000]);
      const size = pick(random, [1, 20, 300]);
      return `GET /echo HTTP/1.1\r\nHost: x\r\n${`X-F: ${'f'.repeat(size)}\r\n`.repeat(count)}\0\r\n\r\n${HIDDEN}`;
    }
  }
}

const HEADS = [
  'GET /echo HTTP/9.9\r\nHost: x',
  'GET /echo\r\nHost: x',
  'GET /echo HTTP/1.1 x\r\nHost: x',
  'G@T /echo HTTP/1.1\r\nHost: x',
  '\0GET /echo HTTP/1.1\r\nHost: x',
  'PRI * HTTP/2.0\r\n\r\nSM',
  'GET /echo HTTP/1.1\r\nHost x',
  'GET /echo HTTP/1.1\r\n: x',
  'GET /echo HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b',
  'GET /echo HTTP/1.1\r\nHost: x\r\nX-A: a\0b',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
];

const SIZES = [
  '-1',
  '0x1',
  ' 1',
  '1 ',
  '+1',
  '1;',
  '1;\x7f=\0',
  'ffffffffffffffff1',
  'g',
  '',
  '1\n',
  '1\r',
];

function wrongChunks(random: Random): string {
  const size = pick(random, SIZES);
  return pick(random, [
    `${size}\r\na\r\n0\r\n\r\n`,
    `1\r\nab\r\n0\r\n\r\n`,
    `1\r\na0\r\n\r\n`,
    `2\r\na\r\n0\r\n\r\n`,
  ]);
}

/** An answer as a server might send it. */
export function answerOf(random: Random, body: string): string {
  const status = slipTo(random, '200 OK', [
    '204 No Content',
    '304',
    '500 x',
    '999',
    '99',
    '200',
    '1x0 x',
  ]);
  const interim = random(12)
    ? ''
    : `HTTP/1.1 ${pick(random, ['100 Continue', '102 x', '101 x'])}\r\n\r\n`;
  const version = slipTo(random, 'HTTP/1.1', ['HTTP/1.0', 'HTTP/2.0', 'http/1.1', 'HTTP/1.10']);
  const fields = Array.from({ length: random(4) }, () => pick(random, FIELDS)).join('');
  const ambiguous = random(16) === 0 ? pick(random, AMBIGUOUS)(body.length) : undefined;
  const isChunked = random(2) === 0;
  const length = slip(random, Buffer.byteLength(body));
  const framing =
    ambiguous ?? (isChunked ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${length}\r\n`);
  const connection = random(6) ? '' : 'Connection: close\r\n';
  const content = isChunked ? (random(10) ? chunked(random, body) : wrongChunks(random)) : body;
  return `${interim}${version} ${status}\r\n${fields}${connection}${framing}\r\n${content}`;
}

/** Replies of a model server, one with a length and one in chunks. */
export const REPLIES: readonly string[] = [
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
];
