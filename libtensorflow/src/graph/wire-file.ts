/**
 * Protobuf wire format read in place from a file: large messages are walked field by field and only the
 * wanted parts are loaded, so a saved_model.pb with hundreds of megabytes of constants costs no memory.
 * https://protobuf.dev/programming-guides/encoding/
 */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { DamagedFile } from '../damaged-file.ts';
import { openRegularFileSync } from '../regular-file.ts';

/** A span of a file. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One field of a message. For length-delimited fields the span is the content, else the raw value. */
export interface Field extends Span {
  readonly number: number;
  readonly wireType: number;
  /** The value of a varint field (wire type 0), else 0n. */
  readonly varint: bigint;
}

const WINDOW = 256 * 1024;

/** Length-delimited: strings, bytes, messages, packed numbers. */
export const LENGTH_DELIMITED = 2;

/** A file open for random reads through one window of 256 KiB. */
export class WireFile {
  readonly path: string;
  readonly size: number;
  readonly #fd: number;
  #window: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  #windowStart = 0;
  #after = 0;

  /** @throws SpecialFile, or the file system's error where the file cannot be opened */
  constructor(path: string) {
    this.path = path;
    this.#fd = openRegularFileSync(path);
    this.size = fstatSync(this.#fd).size;
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** The bytes of a span, copied. */
  bytes(span: Span): Buffer {
    const length = span.end - span.start;
    if (length <= WINDOW) return Buffer.from(this.#view(span.start, length));
    const buffer = Buffer.alloc(length);
    this.#readInto(buffer, span.start);
    return buffer;
  }

  /** The span as UTF-8 text. */
  text(span: Span): string {
    return this.bytes(span).toString('utf8');
  }

  /** The fields of the message in `span`, in file order; content is not read. @throws DamagedFile */
  *fields(span: Span): Generator<Field> {
    let at = span.start;
    while (at < span.end) {
      const tag = this.#varint(at, span.end);
      const number = Math.floor(tag / 8);
      if (number === 0) this.#fail(at, 'has a field number 0');
      const field = this.#field(number, tag % 8, this.#after, span.end);
      yield field;
      at = field.end;
    }
  }

  #field(number: number, wireType: number, at: number, end: number): Field {
    let [start, length, varint] = [at, 0, 0n];
    switch (wireType) {
      case 0:
        this.#varint(at, end);
        length = this.#after - at;
        varint = this.#wide(at, length);
        break;
      case 1:
        length = 8;
        break;
      case LENGTH_DELIMITED:
        length = this.#varint(at, end);
        start = this.#after;
        break;
      case 5:
        length = 4;
        break;
      default:
        this.#fail(at, `has a field of unknown wire type ${wireType}`);
    }
    if (start + length > end) {
      this.#fail(at, `ends in the middle of a field (${length} bytes expected)`);
    }
    return { number, wireType, start, end: start + length, varint };
  }

  /** A tag or a length, beyond 2^53 inexact; leaves in `#after` where it ends. There may be millions of them. */
  #varint(at: number, end: number): number {
    let value = 0;
    let scale = 1;
    for (let next = at; next < end && next < at + 10; next++) {
      const byte = this.#byte(next);
      value += (byte & 0x7f) * scale;
      scale *= 128;
      if (byte < 0x80) {
        this.#after = next + 1;
        return value;
      }
    }
    return this.#fail(at, 'ends in the middle of a number');
  }

  /** All 64 bits of a varint. */
  #wide(at: number, length: number): bigint {
    let value = 0n;
    for (let i = 0; i < length; i++) value |= BigInt(this.#byte(at + i) & 0x7f) << BigInt(7 * i);
    return BigInt.asUintN(64, value);
  }

  #byte(at: number): number {
    const byte = this.#window[at - this.#windowStart];
    return byte ?? (this.#view(at, 1)[0] as number);
  }

  /** A view that is good until the next read. */
  #view(start: number, length: number): Buffer {
    const from = start - this.#windowStart;
    if (from >= 0 && from + length <= this.#window.length) {
      return this.#window.subarray(from, from + length);
    }
    const buffer = Buffer.alloc(Math.max(length, Math.min(WINDOW, this.size - start)));
    this.#readInto(buffer, start);
    this.#window = buffer;
    this.#windowStart = start;
    return buffer.subarray(0, length);
  }

  #readInto(buffer: Uint8Array, start: number): void {
    let done = 0;
    while (done < buffer.length) {
      const read = readSync(this.#fd, buffer, done, buffer.length - done, start + done);
      if (read === 0) this.#fail(start + done, 'ends too early');
      done += read;
    }
  }

  #fail(at: number, what: string): never {
    throw new DamagedFile(this.path, `it ${what} at byte ${at} of ${this.size}`);
  }
}
