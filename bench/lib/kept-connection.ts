/**
 * A client that asks the same over and over and only counts what comes. It shares the processors with what it
 * measures: a client that makes objects of headers and chunks takes as long as a fast front end, and for replies of
 * 30 MB a core of its own.
 */
import { type BodySink, HttpConnection } from '@sagemaker-tfs/container/transport';

/** An answer. */
export interface Answer {
  readonly status: number;
  /** Of the body. */
  readonly bytes: number;
  /** The body, where the status is not 200. */
  readonly text: string;
}

/** What is sent each time. */
interface KeptRequest {
  /** Default: POST. */
  readonly method?: 'GET' | 'POST';
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** A server that takes longer for an answer will not give it any more. */
  readonly timeoutMs: number;
}

/** One connection, opened with the first request and again after the server has closed it. */
export class KeptConnection {
  readonly #request: KeptRequest;
  readonly #message: Uint8Array[];
  readonly #memory = Buffer.allocUnsafeSlow(READ_BYTES);
  readonly #timer: NodeJS.Timeout;
  #connection: HttpConnection | undefined;

  constructor(request: KeptRequest) {
    this.#request = request;
    this.#message = [messageOf(request)];
    this.#timer = setTimeout(() => this.#silent(), request.timeoutMs).unref();
  }

  /** Sends the request and reads the answer to its end. @throws Error where none comes, or none that is whole */
  async ask(): Promise<Answer> {
    this.#timer.refresh();
    const counter = new Counter(this.#memory);
    await this.#opened().ask(this.#message, counter);
    return counter;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#connection?.destroy();
  }

  #opened(): HttpConnection {
    if (this.#connection?.usable) return this.#connection;
    const { hostname, port } = new URL(this.#request.url);
    this.#connection = new HttpConnection({ host: hostname, port: Number(port) });
    return this.#connection;
  }

  #silent(): void {
    const { url, timeoutMs } = this.#request;
    this.#connection?.cancel(new Error(`${url} is silent for ${timeoutMs / 1_000} s`));
  }
}

const READ_BYTES = 262_144;

class Counter implements BodySink, Answer {
  readonly #memory: Buffer;
  status = 0;
  bytes = 0;
  text = '';

  constructor(memory: Buffer) {
    this.#memory = memory;
  }

  begin(status: number): void {
    this.status = status;
  }

  /** Nobody reads a body that is only counted. */
  room(): Buffer | undefined {
    return this.status === 200 ? this.#memory : undefined;
  }

  filled(bytes: number): void {
    this.bytes += bytes;
  }

  push(piece: Buffer): void {
    this.bytes += piece.length;
    if (this.status !== 200) this.text += piece.toString('utf8');
  }
}

function messageOf({ method = 'POST', url, path, headers, body }: KeptRequest): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${body.byteLength}`,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}
