/**
 * Writing protobuf's wire format from its end to its start, as a list of chunks: the length of a nested
 * message is known once it stands there, and a tensor's bytes are passed on uncopied.
 */
import { utf8Encode } from './text.ts';
import { WIRE } from './wire-reader.ts';

/** Views shorter than this are copied beside their header: cheaper than one more chunk to send. */
const COPY_BELOW_BYTES = 1024;
/** Blocks for what is copied start small (most messages are tiny) and double. */
const FIRST_BLOCK_BYTES = 256;
const LAST_BLOCK_BYTES = 64 * 1024;

/**
 * Collects a message from its last field to its first: whatever is written comes before all that was
 * written until then. `finish` returns the chunks in order; their bytes, joined, are the message.
 */
export class WireWriter {
  /** Bytes written so far. */
  length = 0;
  readonly #reversedChunks: Uint8Array[] = [];
  #block = new Uint8Array(FIRST_BLOCK_BYTES);
  #at = FIRST_BLOCK_BYTES;
  #end = FIRST_BLOCK_BYTES;

  /** A field of a whole number >= 0. */
  numberField(field: number, value: number): void {
    this.#varint(value);
    this.#varint(field * 8 + WIRE.varint);
  }

  /** A field of an int64; negative numbers go as their two's complement. */
  int64Field(field: number, value: bigint): void {
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, value);
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.#append(Uint8Array.from(bytes));
    this.#varint(field * 8 + WIRE.varint);
  }

  /** A field of bytes; a long view becomes a chunk of its own, uncopied. */
  bytesField(field: number, view: Uint8Array): void {
    this.#append(view);
    this.#varint(view.byteLength);
    this.#varint(field * 8 + WIRE.bytes);
  }

  /** A field of UTF-8 text. */
  stringField(field: number, text: string): void {
    this.bytesField(field, utf8Encode(text));
  }

  /** A field holding the message whose fields `write` writes, last to first. */
  messageField(field: number, write: () => void): void {
    const before = this.length;
    write();
    this.beginMessage(field, before);
  }

  /** A field holding the message whose fields were written since `length` was `before`. */
  beginMessage(field: number, before: number): void {
    this.#varint(this.length - before);
    this.#varint(field * 8 + WIRE.bytes);
  }

  /** The message's chunks. The writer must not be used afterwards. */
  finish(): Uint8Array[] {
    this.#flush();
    return this.#reversedChunks.reverse();
  }

  #varint(value: number): void {
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    this.#reserve(size);
    this.#at -= size;
    this.length += size;
    let rest = value;
    for (let i = 0; i < size - 1; i++) {
      this.#block[this.#at + i] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#block[this.#at + size - 1] = rest;
  }

  #append(view: Uint8Array): void {
    this.length += view.byteLength;
    if (view.byteLength < COPY_BELOW_BYTES) {
      this.#reserve(view.byteLength);
      this.#at -= view.byteLength;
      this.#block.set(view, this.#at);
    } else {
      this.#flush();
      this.#reversedChunks.push(view);
    }
  }

  #flush(): void {
    if (this.#at < this.#end) this.#reversedChunks.push(this.#block.subarray(this.#at, this.#end));
    this.#end = this.#at;
  }

  #reserve(size: number): void {
    if (this.#at >= size) return;
    this.#flush();
    const doubled = Math.min(2 * this.#block.byteLength, LAST_BLOCK_BYTES);
    this.#block = new Uint8Array(Math.max(doubled, size));
    this.#at = this.#block.byteLength;
    this.#end = this.#at;
  }
}
