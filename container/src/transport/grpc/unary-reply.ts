/** The answer to one unary call, put together as it comes. */
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { ConnectionLost } from '../connection-lost.ts';
import { UnusableReply } from '../unusable-reply.ts';
import type { HeaderFields } from './hpack.ts';
import type { Cancel, StreamReader } from './http2-connection.ts';
import { MessageAssembler } from './message-assembler.ts';

interface ReplyStatus {
  readonly code: number;
  readonly message: string;
}

/** Reads one stream; {@link message} settles once. */
export class UnaryReply implements StreamReader {
  /** The serialized reply. */
  readonly message: Promise<Buffer>;
  readonly #assembler: MessageAssembler;
  #status: ReplyStatus | undefined;
  #resolve: (message: Buffer) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  #onCancel: Cancel = () => {};

  constructor(maxBytes: number) {
    this.#assembler = new MessageAssembler(maxBytes);
    this.message = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Abandons the call on the server. */
  onCancel(onCancel: Cancel): void {
    this.#onCancel = onCancel;
  }

  /** Abandons the call; see {@link Cancel} for `onEnd`. */
  cancel(reason: unknown, onEnd?: () => void): void {
    this.#reject(reason);
    this.#onCancel(onEnd);
  }

  headers(fields: HeaderFields): void {
    this.#status = replyStatus(fields) ?? this.#status;
    const http = fields[':status'];
    if (!this.#status && http !== undefined && http !== '200') {
      this.cancel(new UnusableReply(`the model server answered HTTP ${http} to gRPC`));
    }
  }

  data(piece: Buffer): void {
    try {
      this.#assembler.push(piece);
    } catch (error) {
      this.cancel(error);
    }
  }

  room(): Buffer | undefined {
    return this.#assembler.room;
  }

  filled(bytes: number): void {
    this.#assembler.filled(bytes);
  }

  end(): void {
    const message = this.#assembler.complete;
    const status = this.#status;
    if (status && status.code !== GrpcStatus.OK) {
      this.#reject(new StatusError(status.code, status.message));
    } else if (status && message) this.#resolve(message);
    else this.failed(new Error('the server ended the stream without an answer'), true);
  }

  failed(cause: Error, wasSent: boolean): void {
    this.#reject(
      new ConnectionLost(`no answer from the model server: ${cause.message}`, { cause, wasSent }),
    );
  }
}

/** The status in trailers, or in the headers of a reply that is trailers only. */
function replyStatus(fields: HeaderFields): ReplyStatus | undefined {
  const code = fields['grpc-status'];
  if (code === undefined) return undefined;
  return { code: Number(code), message: percentDecoded(fields['grpc-message'] ?? '') };
}

/** gRPC percent-encodes the bytes of UTF-8, which TensorFlow Serving may have cut inside a character. */
function percentDecoded(message: string): string {
  const bytes = message.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  return text.replace(/\ufffd(?=\.\.\.TRUNCATED$)/, '');
}
