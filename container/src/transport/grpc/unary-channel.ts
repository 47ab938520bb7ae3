/** Unary gRPC calls (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md) over one kept connection. */

import { existsSync } from 'node:fs';
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
  /** A Unix domain socket (`--grpc_socket_path`), taken for all but large requests where it is there. */
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
 * Requests beyond this size go to the port: they do not fit in the buffer of a Unix domain socket (208 KiB by
 * default in Linux, with its overhead), and waiting for room in it costs more than TCP, whose buffers grow. A
 * picture of 224 x 224 in uint8 still fits; over TCP, kernels that pace what they send (BBR) may hold it back.
 */
const MOST_SOCKET_BYTES = 163_840;

/** Connections that open with the first call that needs them and again after they were lost. */
export class UnaryChannel {
  readonly #target: GrpcTarget;
  readonly #maxReplyBytes: number;
  /** Header blocks by path and timeout; there are only a handful. */
  readonly #headers = new Map<string, Buffer>();
  readonly #connections: { socket?: Http2Connection; port?: Http2Connection } = {};
  /** Whether the socket is there; undefined until a call would take it. */
  #hasSocket: boolean | undefined;
  /** The connections, and earlier ones on which calls are in flight. */
  readonly #open = new Set<Http2Connection>();

  constructor(target: GrpcTarget, options: { maxReplyBytes: number }) {
    this.#target = target;
    this.#maxReplyBytes = options.maxReplyBytes;
  }

  /**
   * Calls a method and returns the serialized reply.
   * @throws StatusError where the server answered with another status than OK
   * @throws ConnectionLost where no answer came
   * @throws ServingError RESPONSE_TOO_LARGE
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

  /** Opens connections anew for the calls to come; those in flight finish on the old ones. */
  reconnect(): void {
    this.#connections.socket?.retire();
    this.#connections.port?.retire();
    this.#forget();
  }

  /** Ends the connections at once: calls in flight fail, one to come would open them anew. */
  close(): void {
    this.#forget();
    for (const connection of this.#open) connection.destroy();
  }

  #forget(): void {
    delete this.#connections.socket;
    delete this.#connections.port;
    this.#hasSocket = undefined;
  }

  #wayOf(length: number): 'socket' | 'port' {
    return length <= MOST_SOCKET_BYTES || this.#target.port === 0 ? 'socket' : 'port';
  }

  /** Where the socket is not there, the port's connection is that of all calls. */
  #connected(way: 'socket' | 'port'): Http2Connection {
    const known = this.#connections[way];
    if (known?.usable) return known;
    const { host, port, socket = '' } = this.#target;
    this.#hasSocket ??= existsSync(socket);
    if (way === 'socket' && !this.#hasSocket && port !== 0) return this.#connected('port');
    const target = way === 'socket' ? { path: socket } : { host, port };
    const connection = new Http2Connection(target, () => this.#open.delete(connection));
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
