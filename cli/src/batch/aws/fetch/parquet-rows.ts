/** Rows of a Parquet file in which no value is another one than in the file: what no number holds is text. */
import { parseJson } from '@sagemaker-tfs/tensors';
import {
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetReadObjects,
  type SchemaElement,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { usageError } from '../../../errors.ts';

/** Value of a column as the file has it, as a value for a cell. */
type Convert = (value: unknown) => unknown;

/** Reads all rows. @throws CommandError USAGE for what must be written otherwise; Error of whoever reads */
export async function parquetRows(path: string): Promise<Record<string, unknown>[]> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const columns = columnsOf(metadata.schema, path);
  const schema = metadata.schema.map((element) =>
    isDecimal(element) ? asStored(element) : element,
  );
  const rows = await parquetReadObjects({
    ...{ file, metadata: { ...metadata, schema }, compressors, utf8: false },
    parsers: {
      timestampFromMilliseconds: (value) => instant(value, 3),
      timestampFromMicroseconds: (value) => instant(value, 6),
      timestampFromNanoseconds: (value) => instant(value, 9),
      stringFromBytes: textIn,
      jsonFromBytes: jsonIn,
    },
  }).catch(otherCodec(path));
  const cellOf = (name: string, value: unknown) => {
    if (value === undefined || value === null) return null;
    const cell = plain(columns.get(name)?.(value) ?? value);
    if (hasBytes(cell)) {
      throw usageError(
        `column '${name}' of ${path} holds bytes that are no text in UTF-8. Leave the column out, or write it as text such as base64.`,
      );
    }
    return cell;
  };
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cellOf(name, value)])),
  );
}

function otherCodec(path: string): (error: Error) => never {
  return (error) => {
    const codec = /compression codec: (\w+)/.exec(error.message)?.[1];
    if (codec === undefined) throw error;
    throw usageError(
      `${path} is compressed with ${codec}, which --join does not read. Write it with compression snappy, gzip, zstd or none.`,
    );
  };
}

/** Dates and bytes as text, also those within lists; bytes that are none stay. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return textIn(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

function hasBytes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof Uint8Array || Object.values(value).some(hasBytes);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text, or the bytes if they are none. */
function textIn(bytes: Uint8Array | undefined): string | Uint8Array | undefined {
  try {
    return bytes && UTF8.decode(bytes);
  } catch {
    return bytes;
  }
}

function jsonIn(bytes: Uint8Array | undefined): unknown {
  const text = textIn(bytes);
  return typeof text === 'string' ? parseJson(text) : text;
}

/** The columns of one value whose type hyparquet does not read, or not exactly. */
function columnsOf(schema: readonly SchemaElement[], path: string): Map<string, Convert> {
  const columns = new Map<string, Convert>();
  for (const { element, top } of leaves(schema)) {
    const found = isDecimal(element) ? decimal(element.scale ?? 0) : timeOfDay(element);
    if (found && top === undefined && element.repetition_type !== 'REPEATED')
      columns.set(element.name, found);
    else if (isDecimal(element)) {
      throw usageError(
        `column '${top ?? element.name}' of ${path} has decimals within lists or structures. Write them as text, or leave the column out.`,
      );
    }
  }
  return columns;
}

/** A schema is a tree in the order of its nodes: each says how many of the next are its own. */
function* leaves(schema: readonly SchemaElement[]) {
  let at = 1;
  const within = function* (
    count: number,
    top?: string,
  ): Generator<{ element: SchemaElement; top?: string | undefined }> {
    for (let child = 0; child < count; child++) {
      const element = schema[at++];
      if (!element) return;
      if (element.num_children) yield* within(element.num_children, top ?? element.name);
      else yield { element, top };
    }
  };
  yield* within(schema[0]?.num_children ?? 0);
}

function isDecimal({ converted_type, logical_type }: SchemaElement): boolean {
  return converted_type === 'DECIMAL' || logical_type?.type === 'DECIMAL';
}

/** Without the type that hyparquet would make a number of. */
function asStored({ converted_type, logical_type, ...element }: SchemaElement): SchemaElement {
  return element;
}

/** Every decimal of so few digits comes back from a double. */
const EXACT_DIGITS = 15;

/** A number where it has the same digits, else text. */
function decimal(scale: number): Convert {
  return (value) => {
    const unscaled = value instanceof Uint8Array ? signed(value) : BigInt(value as number | bigint);
    const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
    const whole = digits.slice(0, digits.length - scale);
    const fraction = scale > 0 ? `.${digits.slice(-scale)}` : '';
    const text = `${unscaled < 0n ? '-' : ''}${whole}${fraction}`;
    const short = scale > 0 ? text.replace(/\.?0+$/, '') : text;
    const significant = short.replace(/^[-0.]+/, '').replace('.', '');
    const isExact = significant.length <= EXACT_DIGITS || String(Number(text)) === short;
    return isExact ? Number(text) : text;
  };
}

/** Big endian, in two's complement. */
function signed(bytes: Uint8Array): bigint {
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x0${Buffer.from(bytes).toString('hex')}`));
}

/** Digits of a second's fraction, by the unit. */
const FRACTIONS = { MILLIS: 3, MICROS: 6, NANOS: 9 } as const;

function timeOfDay({ converted_type, logical_type }: SchemaElement): Convert | undefined {
  const unit =
    logical_type?.type === 'TIME'
      ? logical_type.unit
      : /^TIME_(MILLIS|MICROS)$/.exec(converted_type ?? '')?.[1];
  if (unit === undefined) return undefined;
  const digits = FRACTIONS[unit as keyof typeof FRACTIONS];
  return (value) => {
    const [seconds, fraction] = split(BigInt(value as number | bigint), digits);
    return `${clock(seconds)}${fraction === '' ? '' : `.${fraction}`}`;
  };
}

function clock(seconds: bigint): string {
  const parts = [seconds / 3_600n, (seconds / 60n) % 60n, seconds % 60n];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** As `Date` writes it, with more digits where the fraction has them. @param digits of the unit */
function instant(value: bigint, digits: number): string {
  const [seconds, fraction] = split(BigInt(value), digits);
  const date = new Date(Number(seconds) * 1_000);
  // Beyond the years that a date has: what the file has.
  if (Number.isNaN(date.getTime())) return String(value);
  return date.toISOString().replace('.000Z', `.${fraction.padEnd(3, '0')}Z`);
}

/** Whole seconds and the digits behind them, in threes without zeros at the end. */
function split(value: bigint, digits: number): [seconds: bigint, fraction: string] {
  const unit = 10n ** BigInt(digits);
  const rest = ((value % unit) + unit) % unit;
  const fraction = String(rest)
    .padStart(digits, '0')
    .replace(/(000)+$/, '');
  return [(value - rest) / unit, fraction];
}
