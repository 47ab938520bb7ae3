/**
 * A client's side of HTTP/1.1 that asks the same over and over and only counts what comes. It shares the processors
 * with what it measures: a client that makes objects of headers and chunks takes as long as a fast front end, and for
 * replies of 30 MB a core of its own.
 */
import { createConnection, type Socket } from 'node:net';

/** An answer. */
export interface Answer {
  readonly status: number;
  /** Of the body. */
  readonly bytes: number;
  /** The body, where the status is not 200. */
  readonly text: string;
}

/** What is sent each time. */
export interface KeptRequest {
  /** Default: POST. */
  readonly method?: 'GET' | 'POST';
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** A server that is silent for so long will not answer any more. */
  readonly timeoutMs: number;
}

const READ_BYTES = 262_144;
const HEAD_END = '\r\n\r\n';

/** One connection, opened with the first request and again after the server has closed it. */
export class KeptConnection {
  readonly #request: KeptRequest;
  readonly #message: Buffer;
  readonly #memory = Buffer.allocUnsafeSlow(READ_BYTES);
  #socket: Socket | undefined;
  #reader: AnswerReader | undefined;

  constructor(request: KeptRequest) {
    this.#request = request;
    this.#message = messageOf(request);
  }

  /** Sends the request and reads the answer to its end. @throws Error where none comes, or none that is whole */
  ask(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const socket = this.#opened();
      const settled = () => {
        this.#reader = undefined;
        socket.off('error', failed).off('close', closed);
      };
      const failed = (error: Error) => {
        settled();
        reject(error);
      };
      const closed = () => failed(new Error(`${this.#request.url} closed the connection`));
      this.#reader = new AnswerReader((answer) => {
        settled();
        resolve(answer);
      });
      socket.on('error', failed).on('close', closed);
      socket.write(this.#message);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #opened(): Socket {
    if (this.#socket && !this.#socket.destroyed && this.#socket.writable) return this.#socket;
    const { hostname, port } = new URL(this.#request.url);
    const { timeoutMs } = this.#request;
    const socket: Socket = createConnection({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: { buffer: this.#memory, callback: (size) => this.#read(socket, size) },
    });
    socket.setTimeout(timeoutMs, () =>
      socket.destroy(new Error(`${this.#request.url} is silent for ${timeoutMs / 1_000} s`)),
    );
    socket.on('error', () => undefined);
    this.#socket = socket;
    return socket;
  }

  #read(socket: Socket, size: number): boolean {
    try {
      this.#reader?.push(this.#memory.subarray(0, size));
    } catch (error) {
      socket.destroy(error as Error);
    }
    return true;
  }
}

function messageOf({ method = 'POST', url, path, headers, body }: KeptRequest): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${body.byteLength}`,
  ];
  return Buffer.concat([Buffer.from(lines.join('\r\n') + HEAD_END, 'latin1'), body]);
}

/** Reads one answer (RFC 9112): its length announced, or in chunks. */
class AnswerReader {
  readonly #finish: (answer: Answer) => void;
  readonly #kept: string[] = [];
  /** A head, or the line of a chunk, as far as it has come. */
  #line = '';
  #status = 0;
  #bytes = 0;
  /** Of the body or the chunk. */
  #missing = 0;
  #part: 'head' | 'body' | 'chunk' | 'chunk-size' | 'chunk-end' | 'last-line' = 'head';

  constructor(finish: (answer: Answer) => void) {
    this.#finish = finish;
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      at = this.#missing > 0 ? this.#count(bytes, at) : this.#readLine(bytes, at);
    }
  }

  #count(bytes: Buffer, from: number): number {
    const to = Math.min(bytes.length, from + this.#missing);
    if (this.#status !== 200) this.#kept.push(bytes.toString('utf8', from, to));
    this.#missing -= to - from;
    this.#bytes += to - from;
    if (this.#missing === 0) this.#counted();
    return to;
  }

  #counted(): void {
    if (this.#part === 'body') this.#end();
    else this.#part = 'chunk-end';
  }

  /** The end of a head or a line may come in parts. */
  #readLine(bytes: Buffer, from: number): number {
    const ending = this.#part === 'head' ? HEAD_END : '\r\n';
    const known = this.#line.length;
    const text = this.#line + bytes.toString('latin1', from, Math.min(bytes.length, from + 65_536));
    const end = text.indexOf(ending);
    if (end < 0) {
      this.#line = text;
      return from + text.length - known;
    }
    this.#line = '';
    this.#lineRead(text.slice(0, end));
    return from + end + ending.length - known;
  }

  #lineRead(line: string): void {
    if (this.#part === 'head') this.#headRead(line);
    else if (this.#part === 'chunk-end') this.#part = 'chunk-size';
    else if (this.#part === 'last-line') this.#end();
    else {
      this.#missing = Number.parseInt(line, 16);
      this.#part = this.#missing === 0 ? 'last-line' : 'chunk';
    }
  }

  #headRead(head: string): void {
    this.#status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const isChunked = /\r\ntransfer-encoding: *chunked/i.test(head);
    if (!this.#status || (length === undefined && !isChunked)) {
      throw new Error(`an answer without a length: ${head}`);
    }
    this.#part = isChunked ? 'chunk-size' : 'body';
    this.#missing = isChunked ? 0 : Number(length);
    if (!isChunked && this.#missing === 0) this.#end();
  }

  #end(): void {
    this.#finish({ status: this.#status, bytes: this.#bytes, text: this.#kept.join('') });
  }
}
