/** HTTP calls to the processes of TensorFlow Serving over kept connections. */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { removeFrom } from '../../memory/remove-from.ts';
import { UnusableReply } from '../unusable-reply.ts';
import { HttpConnection } from './http-connection.ts';
import type { BodySink } from './response-reader.ts';

/** One call. */
export interface HttpCall {
  readonly host: string;
  readonly port: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Pieces of a JSON body, sent without joining them. */
  readonly body?: readonly Uint8Array[];
  /** Abandons the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignalLike | undefined;
  /**
   * Called for an abandoned call, with a promise of its end: a server that has all of the request works on. Without it,
   * the connection ends at once.
   */
  readonly onAbandoned?: ((ended: Promise<void>) => void) | undefined;
}

/** An answer of any status. */
export interface HttpReply {
  readonly status: number;
  readonly body: Buffer;
}

/** Keeps connections open between calls, as many as there are calls at a time. */
export class HttpClient {
  readonly #maxReplyBytes: number;
  /** Every connection there is, in flight or not. */
  readonly #open: HttpConnection[] = [];
  /** Those that wait for a call, the last used at the end, by host and port. */
  readonly #idle = new Map<string, HttpConnection[]>();

  constructor(options: { maxReplyBytes: number }) {
    this.#maxReplyBytes = options.maxReplyBytes;
  }

  /**
   * TensorFlow Serving keeps connections for ever (evhttp_server.cc sets no time limits), so that one that is lost ended
   * with the server, maybe over this very call.
   * @throws ConnectionLost if no answer came, UnusableReply if it is too large, or the signal's reason
   */
  async call(call: HttpCall): Promise<HttpReply> {
    call.signal?.throwIfAborted();
    const idle = this.#idleTo(call);
    return this.#ask(idle.pop() ?? this.#connect(call, idle), idle, call);
  }

  /** Ends the connections at once; calls in flight fail. */
  close(): void {
    for (const connection of [...this.#open]) connection.destroy();
  }

  async #ask(
    connection: HttpConnection,
    idle: HttpConnection[],
    call: HttpCall,
  ): Promise<HttpReply> {
    const { signal, onAbandoned } = call;
    const answer = new WholeBody(this.#maxReplyBytes);
    const onAbort = () => {
      answer.drop();
      if (!onAbandoned) return connection.cancel(signal?.reason);
      const keep = () => {
        if (connection.usable) idle.push(connection);
      };
      const ended = new Promise<void>((resolve) => connection.cancel(signal?.reason, resolve));
      onAbandoned(ended.then(keep));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await connection.ask(requestOf(call), answer);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
    if (connection.usable) idle.push(connection);
    return { status: answer.status, body: answer.bytes };
  }

  #idleTo({ host, port }: HttpCall): HttpConnection[] {
    const key = `${host}:${port}`;
    const known = this.#idle.get(key);
    if (known) return known;
    const idle: HttpConnection[] = [];
    this.#idle.set(key, idle);
    return idle;
  }

  #connect({ host, port }: HttpCall, idle: HttpConnection[]): HttpConnection {
    const connection = new HttpConnection({ host, port }, () => {
      removeFrom(this.#open, connection);
      removeFrom(idle, connection);
    });
    this.#open.push(connection);
    return connection;
  }
}

function requestOf({ host, port, method, path, body }: HttpCall): Uint8Array[] {
  const length = body?.reduce((sum, piece) => sum + piece.byteLength, 0);
  const content =
    length === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${length}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n${content}\r\n`;
  return [Buffer.from(head, 'latin1'), ...(body ?? [])];
}

/** A body in one buffer, read to its place where the server announces its length. */
class WholeBody implements BodySink {
  readonly #maxBytes: number;
  #whole: Buffer | undefined;
  readonly #pieces: Buffer[] = [];
  #received = 0;
  #isDropped = false;
  status = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): Buffer {
    return this.#whole ?? Buffer.concat(this.#pieces, this.#received);
  }

  /** Nobody waits for it any more: what comes from now on is read and not kept. */
  drop(): void {
    this.#isDropped = true;
    this.#pieces.length = 0;
  }

  begin(status: number, length: number | undefined): void {
    this.status = status;
    this.#check(length ?? 0);
    if (this.#isDropped) return;
    if (length !== undefined) this.#whole = Buffer.allocUnsafeSlow(length);
  }

  room(): Buffer | undefined {
    return this.#whole?.subarray(this.#received);
  }

  filled(bytes: number): void {
    this.#received += bytes;
  }

  push(piece: Buffer): void {
    this.#check(this.#received + piece.length);
    if (this.#whole) this.#whole.set(piece, this.#received);
    else if (!this.#isDropped) this.#pieces.push(Buffer.from(piece));
    this.#received += piece.length;
  }

  #check(bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    throw new UnusableReply(
      `the model's answer has more than the ${this.#maxBytes} bytes allowed`,
      { isTooLarge: true },
    );
  }
}
