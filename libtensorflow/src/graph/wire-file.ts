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
      const number = Number(tag.value >> 3n);
      const wireType = Number(tag.value & 7n);
      if (number === 0) this.#fail(at, 'has a field number 0');
      const field = this.#field(number, wireType, tag.next, span.end);
      yield field;
      at = field.end;
    }
  }

  #field(number: number, wireType: number, at: number, end: number): Field {
    const field = (start: number, length: number, varint = 0n): Field => {
      if (start + length > end) {
        this.#fail(at, `ends in the middle of a field (${length} bytes expected)`);
      }
      return { number, wireType, start, end: start + length, varint };
    };
    switch (wireType) {
      case 0: {
        const { value, next } = this.#varint(at, end);
        return field(at, next - at, value);
      }
      case 1:
        return field(at, 8);
      case LENGTH_DELIMITED: {
        const { value, next } = this.#varint(at, end);
        return field(next, Number(value));
      }
      case 5:
        return field(at, 4);
      default:
        return this.#fail(at, `has a field of unknown wire type ${wireType}`);
    }
  }

  #varint(at: number, end: number): { value: bigint; next: number } {
    const bytes = this.#view(at, Math.min(10, end - at));
    let value = 0;
    for (let i = 0; i < bytes.length && i < 4; i++) {
      const byte = bytes[i] as number;
      value |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) return { value: BigInt(value), next: at + i + 1 };
    }
    let long = 0n;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      long |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 0x80) return { value: BigInt.asUintN(64, long), next: at + i + 1 };
    }
    return this.#fail(at, 'ends in the middle of a number');
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

/**
 * Opens a regular file, passes it to `use`, closes it.
 * @throws the file system's error where it cannot be read, SpecialFile, DamagedFile
 */
export function withWireFile<T>(path: string, use: (file: WireFile) => T): T {
  const file = new WireFile(path);
  try {
    return use(file);
  } finally {
    file.close();
  }
}
