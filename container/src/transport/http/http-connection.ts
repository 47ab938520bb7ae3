/**
 * The client's side of one HTTP/1.1 connection in clear text, one request after the other. It stands in for
 * node:http because that one takes several times as much of the processor for a short request as everything
 * else on its way (`npm run bench -- --only model-server-call`), and it reads bodies to where they stay.
 */
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { ConnectionLost } from '../connection-lost.ts';
import { UnusableReply } from '../unusable-reply.ts';
import { type BodySink, ResponseReader } from './response-reader.ts';

interface Exchange {
  readonly reader: ResponseReader;
  resolve: () => void;
  reject: (reason: unknown) => void;
}

/** For heads, and what comes with them; what is in it is copied. */
const SCRATCH_BYTES = 65_536;

/** One connection; opened at once, and of no use any more after it was lost. */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  #exchange: Exchange | undefined;
  #direct: Buffer | undefined;
  #failure: Error | undefined;

  /** @param onClose called when it ended, for whatever reason */
  constructor(target: NetConnectOpts, onClose: () => void = () => {}) {
    this.#socket = connect({
      ...target,
      noDelay: true,
      onread: {
        buffer: () => {
          this.#direct = this.#exchange?.reader.room();
          return this.#direct ?? this.#scratch;
        },
        callback: (bytes) => {
          this.#read((reader) => {
            if (this.#direct) reader.filled(bytes);
            else reader.push(this.#scratch.subarray(0, bytes));
          });
          return true;
        },
      },
    });
    this.#socket.on('error', (error) => {
      this.#failure ??= error;
    });
    this.#socket.on('end', () => this.#read((reader) => reader.end()));
    this.#socket.on('close', () => {
      onClose();
      this.#lost();
    });
  }

  /** Whether it takes a request now. */
  get usable(): boolean {
    return !this.#exchange && !this.#socket.destroyed;
  }

  /**
   * Sends a request and reads its answer into `sink`.
   * @throws ConnectionLost if no answer came, or none that is whole; what the sink throws
   */
  ask(pieces: readonly Uint8Array[], sink: BodySink): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#exchange = { reader: new ResponseReader(sink), resolve, reject };
      this.#socket.cork();
      for (const piece of pieces) this.#socket.write(piece);
      this.#socket.uncork();
    });
  }

  /**
   * Abandons the answer. With `onEnd`, a server that has all of the request is left to finish it, since it would
   * anyway, and `onEnd` is called when its answer or the connection has ended. Else the connection ends.
   */
  cancel(reason: unknown, onEnd?: () => void): void {
    const exchange = this.#exchange;
    if (exchange && onEnd && this.#socket.writableLength === 0) {
      exchange.reject(reason);
      exchange.resolve = onEnd;
      exchange.reject = onEnd;
      return;
    }
    this.#settle(({ reject }) => reject(reason));
    this.#socket.destroy();
    onEnd?.();
  }

  /** Ends at once; what is in flight fails. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** What comes unasked, the end included, is the end of the connection. */
  #read(step: (reader: ResponseReader) => void): void {
    const reader = this.#exchange?.reader;
    try {
      if (reader) step(reader);
      else this.#socket.destroy();
    } catch (error) {
      this.#failure ??= error as Error;
      this.#socket.destroy();
    }
    if (reader?.done) this.#finish(reader);
  }

  /** An answer that came before its request was sent whole leaves the connection with the rest of it. */
  #finish(reader: ResponseReader): void {
    if (!reader.keepsOpen || this.#socket.writableLength > 0) this.#socket.destroy();
    this.#settle((exchange) => exchange.resolve());
  }

  #settle(settle: (exchange: Exchange) => void): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (exchange) settle(exchange);
  }

  #lost(): void {
    this.#settle(({ reject }) => reject(this.#reason()));
  }

  #reason(): Error {
    const cause = this.#failure ?? new Error('the connection was closed');
    if (cause instanceof UnusableReply) return cause;
    const message = `no answer from the model server: ${cause.message}`;
    const { syscall } = cause as NodeJS.ErrnoException;
    return new ConnectionLost(message, { cause, wasSent: syscall !== 'connect' });
  }
}
