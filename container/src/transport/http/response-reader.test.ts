import { type BodySink, HttpProtocolError, ResponseReader } from './response-reader.ts';

/** Keeps what it gets; reads to a place of its own if it knows the length. */
class Collected implements BodySink {
  status = 0;
  length: number | undefined;
  readonly pieces: Buffer[] = [];
  readonly #place = Buffer.alloc(1_000);
  readonly #direct: boolean;

  constructor(direct = false) {
    this.#direct = direct;
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString();
  }

  begin(status: number, length: number | undefined): void {
    this.status = status;
    this.length = length;
  }

  room(): Buffer | undefined {
    return this.#direct ? this.#place : undefined;
  }

  filled(bytes: number): void {
    this.pieces.push(Buffer.from(this.#place.subarray(0, bytes)));
  }

  push(piece: Buffer): void {
    this.pieces.push(Buffer.from(piece));
  }
}

function read(text: string, size: number, direct = false) {
  const sink = new Collected(direct);
  const reader = new ResponseReader(sink);
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length; ) {
    const room = reader.room();
    const piece = bytes.subarray(at, at + Math.min(size, room?.length ?? size));
    if (room) {
      piece.copy(room);
      reader.filled(piece.length);
    } else reader.push(Buffer.from(piece));
    at += piece.length;
  }
  return { sink, reader };
}

const CHUNKS = '5\r\nhello\r\nC ; x="y"\r\n, wonderful!\r\n0\r\n';

const ANSWERS: [string, string, number, string, boolean][] = [
  ['announced', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', 200, 'hello', true],
  ['without a reason', 'HTTP/1.1 404 \r\ncontent-length:2\r\n\r\nno', 404, 'no', true],
  ['empty', 'HTTP/1.1 200 OK\r\nCONTENT-LENGTH: 0\r\n\r\n', 200, '', true],
  [
    'chunked',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n${CHUNKS}\r\n`,
    200,
    'hello, wonderful!',
    true,
  ],
  [
    'chunked with a trailer',
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${CHUNKS}Digest: a\r\nB: c\r\n\r\n`,
    200,
    'hello, wonderful!',
    true,
  ],
  ['without a body', 'HTTP/1.1 204 No Content\r\nDate: today\r\n\r\n', 204, '', true],
  [
    'after 100',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    200,
    'ok',
    true,
  ],
  [
    'the last of its connection',
    'HTTP/1.1 500 Oh\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nno',
    500,
    'no',
    false,
  ],
  ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', 200, 'ok', false],
];

describe.each(ANSWERS)('an answer %s', (_name, text, status, body, keepsOpen) => {
  test.each([1, 2, 3, 7, 1_000])('in pieces of %i bytes', (size) => {
    for (const direct of [false, true]) {
      const { sink, reader } = read(text, size, direct);
      expect(sink).toMatchObject({ status, text: body });
      expect(reader).toMatchObject({ done: true, keepsOpen });
    }
  });

  test('is not done before its last byte', () => {
    expect(read(text.slice(0, -1), 1_000).reader.done).toBe(false);
  });
});

test('an answer without a length ends with the connection', () => {
  const { sink, reader } = read('HTTP/1.1 200 OK\r\n\r\nhello', 3);
  expect(reader.done).toBe(false);
  reader.end();
  expect(reader).toMatchObject({ done: true, keepsOpen: false });
  expect(sink.text).toBe('hello');
});

test.each([
  ['another protocol', '220 smtp.example.org\r\n\r\n', /instead of HTTP/],
  ['HTTP/2', 'HTTP/2 200\r\n\r\n', /instead of HTTP/],
  ['no header', 'HTTP/1.1 200 OK\r\nwhat\r\n\r\n', /no header/],
  ['a length that is none', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n', /Content-Length: -1/],
  [
    'two lengths',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    /Content-Length: 1, 2/,
  ],
  ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n', /Encoding: gzip/],
  [
    'a chunk without size',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n',
    /a chunk of "hello"/,
  ],
  [
    'a chunk that is longer',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n',
    /longer than it said/,
  ],
  ['two answers', 'HTTP/1.1 204 No\r\n\r\nHTTP/1.1 204 No\r\n\r\n', /more than one/],
  ['a head without end', `HTTP/1.1 200 OK\r\nA: ${'x'.repeat(70_000)}`, /without end/],
])('%s is refused', (_name, text, message) => {
  expect(() => read(text, 100_000)).toThrow(message);
  expect(() => read(text, 1_000)).toThrow(HttpProtocolError);
});

test.each([
  ['nothing', '', /connection was closed/],
  ['half a head', 'HTTP/1.1 2', /cut short/],
  ['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell', /cut short/],
  ['no last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n', /cut short/],
])('a connection that ends after %s is reported', (_name, text, message) => {
  expect(() => read(text, 1_000).reader.end()).toThrow(message);
});

test.each(['\0\x01\x02', 'H\xff', 'HTTP/2'])('%j is refused without a wait for more', (noise) => {
  const reader = new ResponseReader(new Collected());
  expect(() => reader.push(Buffer.from(noise, 'latin1'))).toThrow(HttpProtocolError);
});
