/** Headers of HTTP/2 (RFC 7541): written without compression, read with all of it. */
import { decodeHuffman } from './huffman.ts';

/** Headers of one block by name; of a name that comes twice, the last. */
export type HeaderFields = Readonly<Record<string, string>>;

type Field = readonly [name: string, value: string];

/** Octets that an entry of the dynamic table counts beyond its name and value. */
const ENTRY_OVERHEAD = 32;
/** The size of the dynamic table where SETTINGS say nothing. */
const TABLE_BYTES = 4096;

/** Appendix A: `name` or `name=value`, from index 1 on. */
const STATIC_TABLE: readonly Field[] =
  `:authority :method=GET :method=POST :path=/ :path=/index.html
  :scheme=http :scheme=https :status=200 :status=204 :status=206 :status=304 :status=400 :status=404 :status=500
  accept-charset accept-encoding=gzip,_deflate accept-language accept-ranges accept access-control-allow-origin age
  allow authorization cache-control content-disposition content-encoding content-language content-length
  content-location content-range content-type cookie date etag expect expires from host if-match if-modified-since
  if-none-match if-range if-unmodified-since last-modified link location max-forwards proxy-authenticate
  proxy-authorization range referer refresh retry-after server set-cookie strict-transport-security
  transfer-encoding user-agent vary via www-authenticate`
    .split(/\s+/)
    .map((entry) => {
      const [name = '', value = ''] = entry.split('=');
      return [name, value.replace('_', ' ')];
    });

/** A header block of literal fields that no table remembers. Names are in lower case, all is ASCII. */
export function encodeHeaders(fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]),
  );
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([integer(bytes.length), bytes]);
}

/** Section 5.1 with a prefix of seven bits. */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.from([value]);
  const bytes = [127];
  let rest = value - 127;
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

/** Reads the header blocks of one connection, in their order, which the dynamic table depends on. */
export class HeaderDecoder {
  #dynamic: Field[] = [];
  #dynamicBytes = 0;
  #maxBytes = TABLE_BYTES;

  /** @throws RangeError if the block is broken; the connection is of no use then */
  decode(block: Buffer): HeaderFields {
    const fields: Record<string, string> = {};
    const cursor = new Cursor(block);
    while (cursor.more) {
      const [name, value] = this.#field(cursor) ?? [];
      if (name !== undefined && value !== undefined) fields[name] = value;
    }
    return fields;
  }

  /** The next field; undefined for an update of the table's size. */
  #field(cursor: Cursor): Field | undefined {
    const first = cursor.peek();
    if (first & 0x80) return this.#entry(cursor.integer(7));
    if ((first & 0xe0) === 0x20) {
      this.#maxBytes = cursor.integer(5);
      if (this.#maxBytes > TABLE_BYTES) throw new RangeError('a header table larger than agreed');
      this.#evict();
      return undefined;
    }
    const remembered = (first & 0x40) !== 0;
    const index = cursor.integer(remembered ? 6 : 4);
    const name = index === 0 ? cursor.text() : this.#entry(index)[0];
    const field: Field = [name, cursor.text()];
    if (remembered) this.#remember(field);
    return field;
  }

  #entry(index: number): Field {
    const field = STATIC_TABLE[index - 1] ?? this.#dynamic[index - 1 - STATIC_TABLE.length];
    if (!field) throw new RangeError(`no header at index ${index}`);
    return field;
  }

  #remember(field: Field): void {
    this.#dynamic.unshift(field);
    this.#dynamicBytes += bytesOf(field);
    this.#evict();
  }

  #evict(): void {
    while (this.#dynamicBytes > this.#maxBytes) {
      this.#dynamicBytes -= bytesOf(this.#dynamic.pop() as Field);
    }
  }
}

function bytesOf([name, value]: Field): number {
  return name.length + value.length + ENTRY_OVERHEAD;
}

/** A place in a header block. */
class Cursor {
  readonly #block: Buffer;
  #at = 0;

  constructor(block: Buffer) {
    this.#block = block;
  }

  get more(): boolean {
    return this.#at < this.#block.length;
  }

  peek(): number {
    return this.#block.readUInt8(this.#at);
  }

  /** Section 5.1. */
  integer(prefixBits: number): number {
    const most = 2 ** prefixBits - 1;
    let value = this.#next() & most;
    if (value < most) return value;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#next();
      value += (byte & 127) * 2 ** shift;
      if (value > 2 ** 31 || shift > 28) throw new RangeError('a number too great for a header');
      if (byte < 128) return value;
    }
  }

  /** Section 5.2. */
  text(): string {
    const huffman = (this.peek() & 0x80) !== 0;
    const length = this.integer(7);
    const bytes = this.#block.subarray(this.#at, this.#at + length);
    if (bytes.length < length) throw new RangeError('a header that is cut short');
    this.#at += length;
    return (huffman ? decodeHuffman(bytes) : bytes).toString('latin1');
  }

  #next(): number {
    const byte = this.peek();
    this.#at += 1;
    return byte;
  }
}
