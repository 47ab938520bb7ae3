/** Thrift's compact protocol, written: the few types that Parquet's footer and heads of pages have. */

/** A value as it is written, with the number of its type. */
export interface Written {
  readonly type: number;
  readonly bytes: Buffer;
}

const [I32, I64, BINARY, LIST, STRUCT] = [5, 6, 8, 9, 12];
/** Longer lists write their length behind their head. */
const SHORT_LIST = 15;

/** A whole number from 0 to 2^51. */
export const i32 = (value: number): Written => ({ type: I32, bytes: zigzag(value) });
export const i64 = (value: number): Written => ({ type: I64, bytes: zigzag(value) });

/** Text as UTF-8. */
export function binary(text: string): Written {
  const bytes = Buffer.from(text);
  return { type: BINARY, bytes: Buffer.concat([unsigned(bytes.length), bytes]) };
}

/** Values of one type, and at least one. */
export function list(values: readonly Written[], type = values[0]?.type ?? STRUCT): Written {
  const { length } = values;
  const head =
    length < SHORT_LIST
      ? Buffer.from([length * 16 + type])
      : Buffer.concat([Buffer.from([SHORT_LIST * 16 + type]), unsigned(length)]);
  return { type: LIST, bytes: Buffer.concat([head, ...values.map(({ bytes }) => bytes)]) };
}

/** Fields by their numbers, from 1 to 15, which rise; those that are undefined are left out. */
export function struct(fields: Readonly<Record<number, Written | undefined>>): Written {
  const parts: Buffer[] = [];
  let before = 0;
  for (const [number, value] of Object.entries(fields)) {
    if (!value) continue;
    parts.push(Buffer.from([(Number(number) - before) * 16 + value.type]), value.bytes);
    before = Number(number);
  }
  return { type: STRUCT, bytes: Buffer.concat([...parts, Buffer.from([0])]) };
}

const zigzag = (value: number) => unsigned(value * 2);

/** Seven bits a byte. */
export function unsigned(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
