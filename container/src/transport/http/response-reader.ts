/** One HTTP/1.1 answer (RFC 9112), read as it comes. */

/** Who gets a body. */
export interface BodySink {
  /** Before the body: its status, and how long it will be; undefined if the server does not say. */
  begin(status: number, length: number | undefined): void;
  /** Where the next content may be read to without a copy; undefined if nowhere. */
  room(): Buffer | undefined;
  /** Notes the bytes that were read to {@link room}. */
  filled(bytes: number): void;
  /** The next content, valid during the call. */
  push(piece: Buffer): void;
}

/** The server does not speak HTTP/1.1, or not as it should. */
export class HttpProtocolError extends Error {
  override readonly name = 'HttpProtocolError';
}

/** Where the answer is to continue. */
type Part =
  | 'head'
  | 'body'
  | 'open-body'
  | 'chunk-size'
  | 'chunk'
  | 'chunk-end'
  | 'trailer'
  | 'done';

/** A head, or a line between chunks, has no more than this. */
const MAX_LINE_BYTES = 65_536;
const LINE_END = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const BEGINNING = Buffer.from('HTTP/1.');

/** Reads one answer; where it is done, it takes no more. */
export class ResponseReader {
  readonly #sink: BodySink;
  #part: Part = 'head';
  #begun = false;
  #keepsOpen = true;
  /** Of the body or the chunk. */
  #missing = 0;
  /** The beginning of a line whose end has not come. */
  #pending: Buffer = Buffer.alloc(0);

  constructor(sink: BodySink) {
    this.#sink = sink;
  }

  get done(): boolean {
    return this.#part === 'done';
  }

  /** Whether the server takes another request on the same connection. */
  get keepsOpen(): boolean {
    return this.#keepsOpen;
  }

  /** Takes what came. @throws HttpProtocolError, and what the sink throws */
  push(bytes: Buffer): void {
    this.#begun = true;
    const all = this.#pending.length > 0 ? Buffer.concat([this.#pending, bytes]) : bytes;
    this.#pending = this.#pending.subarray(0, 0);
    for (let at = 0; at < all.length; ) {
      if (this.#missing > 0) at = this.#content(all, at, Math.min(all.length, at + this.#missing));
      else if (this.#part === 'open-body') at = this.#openContent(all, at);
      else if (this.#part === 'done') throw new HttpProtocolError('more than one answer');
      else at = this.#line(all, at);
    }
  }

  /** Where content may be read to, instead of {@link push}. */
  room(): Buffer | undefined {
    const room = this.#part === 'body' ? this.#sink.room() : undefined;
    return room && room.length > this.#missing ? room.subarray(0, this.#missing) : room;
  }

  /** Notes the bytes that were read to {@link room}. */
  filled(bytes: number): void {
    this.#sink.filled(bytes);
    this.#took(bytes);
  }

  /** The server says no more. @throws HttpProtocolError if something is missing */
  end(): void {
    this.#keepsOpen = false;
    if (this.#part === 'open-body') this.#part = 'done';
    if (this.#part !== 'done') {
      throw new HttpProtocolError(
        this.#begun ? 'the answer is cut short' : 'the connection was closed',
      );
    }
  }

  #content(bytes: Buffer, from: number, to: number): number {
    this.#sink.push(bytes.subarray(from, to));
    this.#took(to - from);
    return to;
  }

  #openContent(bytes: Buffer, from: number): number {
    this.#sink.push(bytes.subarray(from));
    return bytes.length;
  }

  #took(bytes: number): void {
    this.#missing -= bytes;
    if (this.#missing > 0) return;
    this.#part = this.#part === 'chunk' ? 'chunk-end' : 'done';
  }

  #line(bytes: Buffer, from: number): number {
    const ending = this.#part === 'head' ? HEAD_END : LINE_END;
    const end = bytes.indexOf(ending, from);
    if ((end < 0 ? bytes.length : end) - from > MAX_LINE_BYTES) {
      throw new HttpProtocolError('a head or line without end');
    }
    if (end < 0) {
      if (this.#part === 'head') requireBeginning(bytes.subarray(from));
      this.#pending = Buffer.from(bytes.subarray(from));
      return bytes.length;
    }
    const line = bytes.toString('latin1', from, end);
    if (this.#part === 'head') this.#head(line);
    else this.#between(line);
    return end + ending.length;
  }

  #head(head: string): void {
    const [first = '', ...lines] = head.split('\r\n');
    const [, minor, code] = /^HTTP\/1\.(\d) (\d{3})(?: |$)/.exec(first) ?? [];
    const status = Number(code);
    if (!status) throw new HttpProtocolError(`"${first.slice(0, 100)}" instead of HTTP/1.1`);
    // What comes before the answer itself, unasked (100 Continue).
    if (status < 200 && status !== 101) return;
    const fields = fieldsOf(lines);
    const connection = fields.get('connection')?.toLowerCase();
    this.#keepsOpen = minor === '0' ? connection === 'keep-alive' : connection !== 'close';
    this.#body(status, fields);
  }

  /** Section 6.3: how the end of the body is known. */
  #body(status: number, fields: ReadonlyMap<string, string>): void {
    const coding = fields.get('transfer-encoding')?.toLowerCase();
    if (coding !== undefined && coding !== 'chunked') {
      throw new HttpProtocolError(`Transfer-Encoding: ${coding}`);
    }
    const length = status === 204 || status === 304 ? 0 : lengthIn(fields);
    if (coding) this.#part = 'chunk-size';
    else if (length === undefined) this.#part = 'open-body';
    else this.#part = length > 0 ? 'body' : 'done';
    const announced = coding ? undefined : length;
    this.#missing = announced ?? 0;
    this.#sink.begin(status, announced);
  }

  #between(line: string): void {
    if (this.#part === 'chunk-size') this.#chunk(line);
    else if (this.#part === 'chunk-end') {
      if (line !== '') throw new HttpProtocolError('a chunk longer than it said');
      this.#part = 'chunk-size';
    } else if (line === '') this.#part = 'done';
  }

  #chunk(line: string): void {
    const [, digits] = /^([0-9a-f]{1,12})[ \t]*(?:;|$)/i.exec(line) ?? [];
    if (digits === undefined) throw new HttpProtocolError(`a chunk of "${line.slice(0, 100)}"`);
    this.#missing = Number.parseInt(digits, 16);
    this.#part = this.#missing > 0 ? 'chunk' : 'trailer';
  }
}

/** Values by name in lower case; what is there twice is joined by commas. */
function fieldsOf(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new HttpProtocolError(`"${line.slice(0, 100)}" is no header`);
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return fields;
}

function lengthIn(fields: ReadonlyMap<string, string>): number | undefined {
  const length = fields.get('content-length');
  if (length === undefined) return undefined;
  if (!/^\d{1,15}$/.test(length)) throw new HttpProtocolError(`Content-Length: ${length}`);
  return Number(length);
}

/** Of what is no answer the end would be waited for in vain. @throws HttpProtocolError */
function requireBeginning(bytes: Buffer): void {
  const length = Math.min(bytes.length, BEGINNING.length);
  if (bytes.subarray(0, length).equals(BEGINNING.subarray(0, length))) return;
  const shown = bytes.toString('latin1', 0, 20);
  throw new HttpProtocolError(`${JSON.stringify(shown)} instead of HTTP/1.1`);
}
