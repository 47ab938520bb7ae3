/** Thrift's compact protocol, in which Parquet writes its footer and the heads of its pages. */
import { TensorError } from '@sagemaker-tfs/tensors';

/** Fields by their numbers. */
export type Struct = ReadonlyMap<number, Value>;
type Value = number | boolean | Uint8Array | readonly Value[] | Struct;

/** Deeper than Parquet's own structs. */
const MAX_DEPTH = 16;
/** Type numbers of the protocol. */
const TRUE = 1;
const FALSE = 2;
const INTEGERS: ReadonlySet<number> = new Set([4, 5, 6]);
const [BYTE, DOUBLE, BINARY, LIST, SET, STRUCT] = [3, 7, 8, 9, 10, 12];

/** Reads structs one behind the other. */
export class ThriftReader {
  readonly #bytes: Uint8Array;
  readonly #maxValues: number;
  #at: number;
  #values = 0;

  /** @param maxValues fields and elements that are read at most, over all structs */
  constructor(bytes: Uint8Array, at: number, maxValues: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#maxValues = maxValues;
  }

  /** Where the next struct begins. */
  get at(): number {
    return this.#at;
  }

  /** @throws TensorError for bytes that are no struct, or one of too many values */
  struct(depth = 0): Struct {
    const fields = new Map<number, Value>();
    let id = 0;
    for (;;) {
      const head = this.#byte();
      const type = head & 0x0f;
      if (type === 0) return fields;
      const delta = head >> 4;
      id = delta === 0 ? this.#integer() : id + delta;
      this.#count(1);
      fields.set(id, type === TRUE || type === FALSE ? type === TRUE : this.#value(type, depth));
    }
  }

  /** Before memory is taken for them. */
  #count(values: number): void {
    this.#values += values;
    if (this.#values <= this.#maxValues) return;
    throw new TensorError(
      'TOO_LARGE',
      `the Parquet file has more than ${this.#maxValues} fields in its footer, or in the head of a page.`,
    );
  }

  #value(type: number, depth: number): Value {
    if (depth > MAX_DEPTH) throw bad('is nested too deeply');
    if (INTEGERS.has(type)) return this.#integer();
    if (type === TRUE || type === FALSE) return this.#byte() === TRUE;
    if (type === BYTE) return this.#byte();
    if (type === DOUBLE) return this.#skip(8);
    if (type === BINARY) return this.#binary();
    if (type === LIST || type === SET) return this.#list(depth + 1);
    if (type === STRUCT) return this.struct(depth + 1);
    throw bad(`has a field of the unknown type ${type}`);
  }

  #list(depth: number): Value[] {
    const head = this.#byte();
    const short = head >> 4;
    const count = short === 15 ? this.#varint() : short;
    // An element takes a byte at least.
    if (count > this.#bytes.length - this.#at) throw bad('has a list beyond its end');
    this.#count(count);
    const values: Value[] = [];
    for (let i = 0; i < count; i++) values.push(this.#value(head & 0x0f, depth));
    return values;
  }

  #binary(): Uint8Array {
    const length = this.#varint();
    const start = this.#at;
    this.#skip(length);
    return this.#bytes.subarray(start, this.#at);
  }

  #skip(length: number): number {
    if (length > this.#bytes.length - this.#at) throw bad('ends within a field');
    this.#at += length;
    return length;
  }

  /** Signed; beyond 2^53 it is no number that Parquet's own fields may have. */
  #integer(): number {
    const zigzag = this.#varint();
    return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 63; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 128) return value;
    }
    throw bad('has a number of too many bytes');
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw bad('ends within a field');
    this.#at += 1;
    return byte;
  }
}

/** A whole number from 0 to 2^53. @throws TensorError if the field is none, or missing with no `otherwise` */
export function count(struct: Struct, field: number, what: string, otherwise?: number): number {
  const value = struct.get(field) ?? otherwise;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw bad(`has no usable ${what}`);
}

/** @throws TensorError if the field is no struct */
export function structIn(struct: Struct, field: number, what: string): Struct {
  const value = struct.get(field);
  if (value instanceof Map) return value;
  throw bad(`has no ${what}`);
}

/** Structs of a list. @throws TensorError if the field is none */
export function structsIn(struct: Struct, field: number, what: string): Struct[] {
  const value = struct.get(field);
  if (!Array.isArray(value) || !value.every((one) => one instanceof Map))
    throw bad(`has no ${what}`);
  return value as Struct[];
}

/** UTF-8. @throws TensorError if the field is no text */
export function textIn(struct: Struct, field: number, what: string): string {
  const value = struct.get(field);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  throw bad(`has no ${what}`);
}

/** The error for bytes that are no Parquet; the message continues behind 'the Parquet file'. */
export function bad(what: string): TensorError {
  return new TensorError('MALFORMED', `the Parquet file ${what}`);
}
