/** Messages of protocol buffers with one field changed; all lengths around it are right again. */
import { edgeNumber, mutate, pick, type Random } from '../random.ts';

interface Field {
  readonly number: number;
  readonly wire: number;
  /** Tag and all. */
  readonly raw: Buffer;
  /** After the tag and the length. */
  readonly value: Buffer;
  /** Where the value can be read as a message. */
  readonly fields?: readonly Field[] | undefined;
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
/** A number beyond this is no field's, but text that looks like one. */
const MAX_FIELD = 300;
const MAX_DEPTH = 12;

export function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

function readVarint(bytes: Buffer, at: number): readonly [value: bigint, end: number] | undefined {
  let value = 0n;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    value |= BigInt(byte & 127) << BigInt(7 * index);
    if (byte < 128) return [value, at + index + 1];
  }
  return undefined;
}

/** The fields; undefined if the bytes are no message. */
function fieldsOf(bytes: Buffer, depth = 0): Field[] | undefined {
  const fields: Field[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at);
    if (!tag) return undefined;
    const number = Number(tag[0] >> 3n);
    const wire = Number(tag[0] & 7n);
    const place = placeOf(bytes, tag[1], wire);
    if (!place || place.end > bytes.length || number === 0 || number > MAX_FIELD) return undefined;
    const raw = bytes.subarray(at, place.end);
    const value = bytes.subarray(place.start, place.end);
    const inner = wire === BYTES && value.length > 1 && depth < MAX_DEPTH;
    fields.push({
      number,
      wire,
      raw,
      value,
      fields: inner ? fieldsOf(value, depth + 1) : undefined,
    });
    at = place.end;
  }
  return fields;
}

function placeOf(
  bytes: Buffer,
  at: number,
  wire: number,
): { start: number; end: number } | undefined {
  if (wire === FIXED64) return { start: at, end: at + 8 };
  if (wire === FIXED32) return { start: at, end: at + 4 };
  const number = wire === VARINT || wire === BYTES ? readVarint(bytes, at) : undefined;
  if (!number) return undefined;
  if (wire === VARINT) return { start: at, end: number[1] };
  return { start: number[1], end: number[1] + Number(number[0]) };
}

/** Seeds are read once. */
const known = new WeakMap<Uint8Array, readonly Field[]>();

function parsed(seed: Uint8Array): readonly Field[] {
  const fields = known.get(seed) ?? fieldsOf(Buffer.from(seed)) ?? [];
  known.set(seed, fields);
  return fields;
}

function written(number: number, wire: number, value: Buffer): Buffer {
  const tag = varint(BigInt(number * 8 + wire));
  return Buffer.concat(wire === BYTES ? [tag, varint(BigInt(value.length)), value] : [tag, value]);
}

/** One of the seeds with one to three of its fields changed. */
export function changedMessage(random: Random, seeds: readonly Uint8Array[]): Buffer {
  const seed = pick(random, seeds);
  let fields = parsed(seed);
  let bytes = Buffer.from(seed);
  for (let change = random(3); change >= 0; change--) {
    bytes = Buffer.concat(changedFields(random, fields));
    // The next change goes by what is there now.
    fields = change > 0 ? (fieldsOf(bytes) ?? fields) : fields;
  }
  return bytes;
}

function changedFields(random: Random, fields: readonly Field[]): Buffer[] {
  const all = fields.map(({ raw }) => raw);
  const at = random(fields.length + 1);
  const field = fields[at];
  if (!field) return [...all, anyField(random)];
  switch (random(12)) {
    case 0:
      return all.toSpliced(at, 1);
    case 1:
      return [...all, field.raw];
    case 2:
      return all.toSpliced(random(all.length), 0, anyField(random));
    case 3:
      return all.toReversed();
    default:
      return all.with(at, changedField(random, field));
  }
}

function changedField(random: Random, { number, wire, value, fields }: Field): Buffer {
  const choice = random(20);
  if (choice === 0) return written(1 + random(16), wire, value);
  if (choice === 1) return ofWire(random, number);
  if (choice === 2 && wire === BYTES) {
    // The length alone is wrong.
    return Buffer.concat([
      varint(BigInt(number * 8 + wire)),
      varint(BigInt(edgeNumber(random))),
      value,
    ]);
  }
  if (wire === BYTES && fields && fields.length > 0 && choice < 17) {
    return written(number, wire, Buffer.concat(changedFields(random, fields)));
  }
  if (wire === BYTES) return written(number, wire, changedBytes(random, value));
  if (wire === VARINT) return written(number, wire, varint(anyNumber(random)));
  const fixed = Buffer.from(value);
  fixed[random(fixed.length)] = random(256);
  return written(number, wire, fixed);
}

function changedBytes(random: Random, value: Buffer): Buffer {
  switch (random(5)) {
    case 0:
      return Buffer.alloc(0);
    case 1:
      return Buffer.concat([value, value]).subarray(0, 20_000);
    case 2:
      return Buffer.concat(Array.from({ length: random(9) }, () => varint(anyNumber(random))));
    default:
      return mutate(random, [value], []).subarray(0, 20_000);
  }
}

function anyNumber(random: Random): bigint {
  switch (random(4)) {
    case 0:
      return -BigInt(1 + random(3));
    case 1:
      return BigInt(edgeNumber(random));
    case 2:
      return BigInt(edgeNumber(random)) << 31n;
    default:
      return BigInt(random(130));
  }
}

function anyField(random: Random): Buffer {
  return ofWire(random, 1 + random(20));
}

function ofWire(random: Random, number: number): Buffer {
  const wire = pick(random, [VARINT, FIXED64, BYTES, FIXED32, 3, 4]);
  if (wire === VARINT) return written(number, wire, varint(anyNumber(random)));
  if (wire === FIXED64) return written(number, wire, Buffer.alloc(8, random(256)));
  if (wire === FIXED32) return written(number, wire, Buffer.alloc(4, random(256)));
  if (wire === BYTES) return written(number, wire, Buffer.alloc(random(20), random(256)));
  return written(number, wire, Buffer.alloc(0));
}
