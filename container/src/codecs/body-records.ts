/** Bodies of many records taken apart, to find the bad ones, and put together again. */
import {
  type AbortSignalLike,
  encodeLengthPrefixed,
  encodeRecordIo,
  encodeTfRecord,
  readLengthPrefixed,
  readRecordIo,
  readTfRecords,
  TensorError,
} from '@sagemaker-tfs/tensors';
import type { DecodeLimits } from '../decode-limits.ts';
import { eachInTurns } from '../waiting/in-turns.ts';
import { parseMediaType } from './media-type.ts';
import './native-checksums.ts';

/** The records of a body. */
export interface BodyRecords {
  readonly records: readonly Uint8Array[];
  /** A body of these records alone. */
  join(records: readonly Uint8Array[]): Promise<Uint8Array>;
  /** True where one record alone may be read as several instances: a JSON list of lists. */
  readonly isAmbiguous: boolean;
}

const NEWLINE = Uint8Array.of(0x0a);

/**
 * Cuts JSON lines, CSV, TFRecord, RecordIO and length-prefixed records at the ends of the records, without reading
 * these, in turns of the event loop.
 * @returns undefined for other media types, where the ends cannot be found, and where there are more than `maxStrings`
 */
export async function bodyRecords(
  body: Uint8Array,
  contentType: string,
  { maxStrings, maxRecordParts: maxParts }: DecodeLimits,
  signal?: AbortSignalLike,
): Promise<BodyRecords | undefined> {
  const { type, parameters } = parseMediaType(contentType);
  const upTo = (most: number, records: Iterable<Uint8Array>) => listOf(records, most, signal);
  switch (type) {
    case 'application/jsonlines':
    case 'application/jsons':
      return jsonRecords(await upTo(maxStrings, linesOf(body)));
    case 'text/csv':
      return csvRecords(
        await upTo(maxStrings, linesOf(body)),
        parameters.header?.toLowerCase() === 'present',
      );
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

function jsonRecords(lines: readonly Uint8Array[] | undefined): BodyRecords | undefined {
  return lines && { records: lines, join: (some) => joined(some, line), isAmbiguous: true };
}

/** As SageMaker's SplitType Line: a line break in a quoted cell ends the record, too. */
function csvRecords(
  lines: readonly Uint8Array[] | undefined,
  hasHeader: boolean,
): BodyRecords | undefined {
  if (!lines) return undefined;
  const header = hasHeader ? lines.slice(0, 1) : [];
  return {
    records: lines.slice(header.length),
    join: (records) => joined([...header, ...records], line),
    isAmbiguous: false,
  };
}

function framed(
  records: readonly Uint8Array[] | undefined,
  encode: (record: Uint8Array) => readonly Uint8Array[],
): BodyRecords | undefined {
  return records && { records, join: (some) => joined(some, encode), isAmbiguous: false };
}

function* linesOf(body: Uint8Array): Generator<Uint8Array, void> {
  for (let from = 0; from < body.byteLength; ) {
    const at = body.indexOf(0x0a, from);
    const end = at < 0 ? body.byteLength : at;
    const content = body.subarray(from, end);
    if (content.some((byte) => byte > 0x20)) yield content;
    from = end + 1;
  }
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
