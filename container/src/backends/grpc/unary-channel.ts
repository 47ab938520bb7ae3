/** Unary gRPC calls (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md) over one kept connection. */

import { existsSync } from 'node:fs';
import { encodeHeaders } from './hpack.ts';
import { Http2Connection } from './http2-connection.ts';
import { messagePrefix } from './message-assembler.ts';
import { UnaryReply } from './unary-reply.ts';

/** Where a gRPC server listens. */
export interface GrpcTarget {
  readonly host: string;
  readonly port: number;
  /** A Unix domain socket (`--grpc_socket_path`), taken instead of the port where it is there. */
  readonly socket?: string;
}

/** One call. */
export interface UnaryCall {
  /** `/package.Service/Method`. */
  readonly path: string;
  /** The serialized request, in pieces that are sent without joining them. */
  readonly message: readonly Uint8Array[];
  /** Told to the server as `grpc-timeout`. */
  readonly timeoutMs?: number;
  /** Resets the stream; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** A connection that opens with the first call and again after it was lost. */
export class UnaryChannel {
  readonly #target: GrpcTarget;
  readonly #maxReplyBytes: number;
  /** Header blocks by path and timeout, of which there are a handful. */
  readonly #headers = new Map<string, Buffer>();
  #connection: Http2Connection | undefined;
  /** The connection, and earlier ones on which calls are in flight. */
  readonly #open = new Set<Http2Connection>();

  constructor(target: GrpcTarget, options: { maxReplyBytes: number }) {
    this.#target = target;
    this.#maxReplyBytes = options.maxReplyBytes;
  }

  /**
   * Calls a method and gives the serialized reply.
   * @throws GrpcError where the server answered with another status than OK
   * @throws ConnectionLost where no answer came
   * @throws ServingError RESPONSE_TOO_LARGE
   */
  async call({ path, message, timeoutMs, signal }: UnaryCall): Promise<Buffer> {
    signal?.throwIfAborted();
    const length = message.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const reply = new UnaryReply(this.#maxReplyBytes);
    const cancel = this.#connected().request(
      this.#headerBlock(path, timeoutMs),
      [messagePrefix(length), ...message],
      reply,
    );
    reply.onCancel(cancel);
    const onAbort = () => reply.cancel(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await reply.message;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Opens a connection anew for the calls to come; those in flight finish on the old one. */
  reconnect(): void {
    this.#connection?.retire();
    this.#connection = undefined;
  }

  /** Ends the connection at once; calls in flight fail. */
  close(): void {
    this.#connection = undefined;
    for (const connection of this.#open) connection.destroy();
  }

  #connected(): Http2Connection {
    if (this.#connection?.usable) return this.#connection;
    const { host, port, socket } = this.#target;
    const target = socket && existsSync(socket) ? { path: socket } : { host, port };
    const connection = new Http2Connection(target, () => this.#open.delete(connection));
    this.#open.add(connection);
    this.#connection = connection;
    return connection;
  }

  #headerBlock(path: string, timeoutMs: number | undefined): Buffer {
    const key = `${path} ${timeoutMs}`;
    const known = this.#headers.get(key);
    if (known) return known;
    const block = encodeHeaders([
      [':method', 'POST'],
      [':scheme', 'http'],
      [':path', path],
      [':authority', 'localhost'],
      ['content-type', 'application/grpc'],
      ['te', 'trailers'],
      ...(timeoutMs === undefined ? [] : [['grpc-timeout', grpcTimeout(timeoutMs)] as const]),
    ]);
    this.#headers.set(key, block);
    return block;
  }
}

/** At most eight digits with a unit (gRPC over HTTP/2, "Timeout"). */
function grpcTimeout(timeoutMs: number): string {
  const whole = Math.max(1, Math.ceil(timeoutMs));
  return whole < 1e8 ? `${whole}m` : `${Math.ceil(whole / 1000)}S`;
}
