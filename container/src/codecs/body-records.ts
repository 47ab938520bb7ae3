/** Bodies of many records taken apart, to find the bad ones, and put together again. */
import {
  type AbortSignalLike,
  encodeLengthPrefixed,
  encodeRecordIo,
  encodeTfRecord,
  readLengthPrefixed,
  readRecordIo,
  readTfRecords,
  type Signature,
  TensorError,
} from '@sagemaker-tfs/tensors';
import { parseMediaType } from '@sagemaker-tfs/tensors/media-type';
import type { DecodeLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import { eachInTurns } from '../waiting/in-turns.ts';
import { namesInputs } from './csv-header.ts';
import { type CsvReading, type CsvRow, readCsv } from './csv-reader.ts';
import { csvRecords } from './csv-records.ts';
import { jsonRecords } from './json-records.ts';
import './native-checksums.ts';

/** The records of a body. */
export interface BodyRecords {
  readonly records: readonly Uint8Array[];
  /** A body of these records alone. */
  join(records: readonly Uint8Array[]): Promise<Uint8Array>;
  /** For `DecodeContext.places` of a body of some of the records. */
  places(indices: readonly number[]): readonly number[];
  /** What messages call a record: `record 3`, `document[3]`, and of CSV the line on which it ends, `line 4`. */
  place(index: number): string;
  /** Media type of a body that `join` returns, if it is not the client's. */
  readonly contentType?: string;
  /** True if one record alone may be read as several instances: a JSON list of lists. */
  readonly isAmbiguous: boolean;
}

const NEWLINE = Uint8Array.of(0x0a);

/** Records that are not counted in lines have their index. */
const places = (indices: readonly number[]) => indices;

/**
 * Cuts JSON lines, CSV, TFRecord, RecordIO and length-prefixed records at the ends of the records, without reading
 * these, in turns of the event loop.
 * @param trim whether space counts for nothing in CSV
 * @returns undefined for other media types, if the ends cannot be found, and if there are more than `maxStrings`
 */
export async function bodyRecords(
  body: Uint8Array,
  contentType: string,
  {
    limits: { maxStrings, maxRecordParts: maxParts },
    signature,
    trim,
    signal,
  }: {
    readonly limits: DecodeLimits;
    readonly signature: Signature;
    readonly trim: boolean;
    readonly signal?: AbortSignalLike | undefined;
  },
): Promise<BodyRecords | undefined> {
  const { type, parameters } = parseMediaType(contentType);
  const upTo = (most: number, records: Iterable<Uint8Array>) => listOf(records, most, signal);
  switch (type) {
    case 'application/jsonlines':
    case 'application/jsons':
      return documents(await upTo(maxStrings, jsonRecords(body)));
    case 'text/csv': {
      const lines: number[] = [];
      const records = await upTo(maxStrings, csvLines(body, trim, lines));
      const header = parameters.header?.toLowerCase();
      const isNamed = await hasHeader(records ?? [], header, { signature, trim, signal });
      return csv(records, lines, isNamed ? 1 : 0);
    }
    case 'application/x-tfrecord':
      return framed(await upTo(maxStrings, readTfRecords(body)), encodeTfRecord);
    case 'application/x-recordio':
    case 'application/x-recordio-protobuf':
      return framed(await upTo(maxStrings, readRecordIo(body, { maxParts })), encodeRecordIo);
    case 'application/octet-stream':
      return framed(await upTo(maxStrings, readLengthPrefixed(body)), encodeLengthPrefixed);
    default:
      return undefined;
  }
}

/** The records, each a view; undefined if they have no boundaries, or if there are more than `most`. */
async function listOf(
  records: Iterable<Uint8Array>,
  most: number,
  signal: AbortSignalLike | undefined,
): Promise<Uint8Array[] | undefined> {
  const list: Uint8Array[] = [];
  const add = (record: Uint8Array) => {
    if (list.length === most) throw new TensorError('TOO_LARGE', `more than ${most} records.`);
    list.push(record);
  };
  try {
    await eachInTurns(records, add, { signal, bytesOf: ({ byteLength }) => byteLength });
    return list;
  } catch (error) {
    if (error instanceof TensorError) return undefined;
    throw error;
  }
}

function documents(records: readonly Uint8Array[] | undefined): BodyRecords | undefined {
  const place = (index: number) => `document[${index}]`;
  return (
    records && { records, join: (some) => joined(some, line), places, place, isAmbiguous: true }
  );
}

/** @param lines where the records end, filled as they are read */
function* csvLines(body: Uint8Array, trim: boolean, lines: number[]): Generator<Uint8Array, void> {
  for (const { bytes, line } of csvRecords(body, trim)) {
    lines.push(line);
    yield bytes;
  }
}

/** As the reader of the whole body: a line of names before others is the header, declared or not. */
async function hasHeader(
  [first, ...others]: readonly Uint8Array[],
  declared: string | undefined,
  { signature, trim, signal }: CsvReading & { readonly signature: Signature },
): Promise<boolean> {
  if (declared === 'present') return true;
  if (!first || others.length === 0) return false;
  const cells = await cellsOf(first, { trim, signal });
  return cells !== undefined && namesInputs(cells, declared, signature);
}

/** Undefined of a line that cannot be read. */
async function cellsOf(
  line: Uint8Array,
  reading: CsvReading,
): Promise<readonly string[] | undefined> {
  const rows: CsvRow[] = [];
  try {
    await readCsv(line, (row) => rows.push(row), reading);
  } catch (error) {
    if (!(error instanceof ServingError)) throw error;
  }
  return rows[0]?.cells;
}

function csv(
  all: readonly Uint8Array[] | undefined,
  lines: readonly number[],
  headers: 0 | 1,
): BodyRecords | undefined {
  return (
    all && {
      records: all.slice(headers),
      join: (records) => joined([...all.slice(0, headers), ...records], line),
      places: (indices) => [
        ...lines.slice(0, headers),
        ...indices.map((index) => lines[headers + index] as number),
      ],
      place: (index) => `line ${lines[headers + index]}`,
      contentType: `text/csv; header=${headers > 0 ? 'present' : 'absent'}`,
      isAmbiguous: false,
    }
  );
}

function framed(
  records: readonly Uint8Array[] | undefined,
  encode: (record: Uint8Array) => readonly Uint8Array[],
): BodyRecords | undefined {
  const place = (index: number) => `record ${index}`;
  return (
    records && { records, join: (some) => joined(some, encode), places, place, isAmbiguous: false }
  );
}

function line(content: Uint8Array): readonly Uint8Array[] {
  return [content, NEWLINE];
}

async function joined(
  records: readonly Uint8Array[],
  encode: (record: Uint8Array) => readonly Uint8Array[],
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const add = (record: Uint8Array) => void pieces.push(...encode(record));
  await eachInTurns(records, add, { bytesOf: ({ byteLength }) => byteLength });
  return Buffer.concat(pieces);
}
