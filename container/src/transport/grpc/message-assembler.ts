/** Puts one gRPC message together from the pieces in which it arrives. */

import { takeBytes } from '../../memory/byte-pool.ts';
import { UnusableReply } from '../unusable-reply.ts';

/** Compressed flag and length, big-endian (gRPC over HTTP/2, "Length-Prefixed-Message"). */
const PREFIX_BYTES = 5;

/** The prefix that a message of `byteLength` is sent behind. */
export function messagePrefix(byteLength: number): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(byteLength, 1);
  return prefix;
}

/**
 * Collects one length-prefixed message. Its length is known from the first bytes on, so every byte is
 * copied at most once, into a buffer of the final size, or read straight to there.
 */
export class MessageAssembler {
  readonly #maxBytes: number;
  #prefix: Buffer = Buffer.alloc(0);
  #message: Buffer | undefined;
  #filled = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The message once all of it has arrived. */
  get complete(): Buffer | undefined {
    return this.#message && this.#filled === this.#message.length ? this.#message : undefined;
  }

  /** The part of the message that has not arrived; undefined if its length is not known. */
  get room(): Buffer | undefined {
    return this.#message?.subarray(this.#filled);
  }

  /** Notes the bytes that were written to {@link room}. */
  filled(bytes: number): void {
    this.#filled += bytes;
  }

  /** Takes a piece, which may be overwritten afterwards. @throws UnusableReply, as soon as the length is known */
  push(chunk: Buffer): void {
    if (this.#message) {
      this.#fill(this.#message, chunk);
      return;
    }
    const start = this.#prefix.length === 0 ? chunk : Buffer.concat([this.#prefix, chunk]);
    if (start.length < PREFIX_BYTES) {
      this.#prefix = Buffer.from(start);
      return;
    }
    this.#message = this.#begin(start.readUInt8(0), start.readUInt32BE(1));
    this.#fill(this.#message, start.subarray(PREFIX_BYTES));
  }

  #begin(compressed: number, length: number): Buffer {
    if (compressed !== 0) {
      throw new UnusableReply('the model server sent a compressed reply, unasked');
    }
    if (length > this.#maxBytes) {
      throw new UnusableReply(
        `the model's answer has ${length} bytes, more than the ${this.#maxBytes} allowed`,
        { isTooLarge: true },
      );
    }
    return takeBytes(length);
  }

  #fill(message: Buffer, chunk: Buffer): void {
    if (this.#filled + chunk.length > message.length) {
      throw new UnusableReply('the model server sent more than the one message of a unary call');
    }
    message.set(chunk, this.#filled);
    this.#filled += chunk.length;
  }
}
