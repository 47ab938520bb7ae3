/** Unary gRPC calls (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md) over one kept connection. */

import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { encodeHeaders } from './hpack.ts';
import { Http2Connection } from './http2-connection.ts';
import { messagePrefix } from './message-assembler.ts';
import { UnaryReply } from './unary-reply.ts';

/** Where a gRPC server listens. */
interface GrpcTarget {
  readonly host: string;
  /** 0: the server listens on the socket alone. */
  readonly port: number;
  /** A Unix domain socket (`--grpc_socket_path`) that nobody else listens on. Absent or empty: all goes to the port. */
  readonly socket?: string;
}

/** One call. */
interface UnaryCall {
  /** `/package.Service/Method`. */
  readonly path: string;
  /** The serialized request, in pieces that are sent without joining them. */
  readonly message: readonly Uint8Array[];
  /** Told to the server as `grpc-timeout`. */
  readonly timeoutMs?: number;
  /** Abandons the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignalLike | undefined;
  /**
   * Told of a call that was given up while the server works on it; `ended` resolves when that has come to an end.
   * Absent: the stream is reset, and nobody knows how long the server continues.
   */
  readonly onAbandoned?: ((ended: Promise<void>) => void) | undefined;
}

/**
 * Requests beyond this size go to the port, as long as a connection over the socket shows that the port's server is the
 * same one: they do not fit in the buffer of a Unix domain socket (208 KiB by
 * default in Linux, with its overhead), and waiting for room in it costs more than TCP, whose buffers grow. A
 * picture of 224 x 224 in uint8 still fits; over TCP, kernels that pace what they send (BBR) may hold it back.
 */
const MAX_SOCKET_BYTES = 163_840;

/** Connections that open with the first call that needs them and again after they were lost. */
export class UnaryChannel {
  readonly #target: GrpcTarget;
  readonly #maxReplyBytes: number;
  readonly #onLost: () => void;
  /** Header blocks by path and timeout; there are only a handful. */
  readonly #headers = new Map<string, Buffer>();
  readonly #connections: { socket?: Http2Connection; port?: Http2Connection } = {};
  /** The connections, and earlier ones on which calls are in flight. */
  readonly #open = new Set<Http2Connection>();

  /** @param options.onLost called when the server ended the connection over its socket */
  constructor(target: GrpcTarget, options: { maxReplyBytes: number; onLost?: () => void }) {
    this.#target = target;
    this.#maxReplyBytes = options.maxReplyBytes;
    this.#onLost = options.onLost ?? (() => undefined);
  }

  /**
   * Calls a method and returns the serialized reply.
   * @throws StatusError if the server answered with another status than OK
   * @throws ConnectionLost if no answer came
   * @throws UnusableReply if one came that is too large, or no message of gRPC
   */
  async call({ path, message, timeoutMs, signal, onAbandoned }: UnaryCall): Promise<Buffer> {
    signal?.throwIfAborted();
    const length = message.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const reply = new UnaryReply(this.#maxReplyBytes);
    const cancel = this.#connected(this.#wayOf(length)).request(
      this.#headerBlock(path, timeoutMs),
      [messagePrefix(length), ...message],
      reply,
    );
    reply.onCancel(cancel);
    const onAbort = () => {
      if (!onAbandoned) return reply.cancel(signal?.reason);
      onAbandoned(new Promise((resolve) => reply.cancel(signal?.reason, resolve)));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await reply.message;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Ends the connections at once: calls in flight fail, one to come would open them anew. */
  close(): void {
    delete this.#connections.socket;
    delete this.#connections.port;
    for (const connection of this.#open) connection.destroy();
  }

  #wayOf(length: number): 'socket' | 'port' {
    const { port, socket } = this.#target;
    if (!socket) return 'port';
    const takesPort = length > MAX_SOCKET_BYTES && port !== 0;
    return takesPort && this.#connections.socket?.usable ? 'port' : 'socket';
  }

  #connected(way: 'socket' | 'port'): Http2Connection {
    const known = this.#connections[way];
    if (known?.usable) return known;
    const { host, port, socket = '' } = this.#target;
    const target = way === 'socket' ? { path: socket } : { host, port };
    const connection = new Http2Connection(target, () => {
      this.#open.delete(connection);
      if (connection === this.#connections.socket) this.#onLost();
    });
    this.#open.add(connection);
    this.#connections[way] = connection;
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
