/** Bodies of many records taken apart, to find the bad ones, and put together again. */
import {
  encodeLengthPrefixed,
  encodeRecordIo,
  encodeTfRecord,
  readLengthPrefixed,
  readRecordIo,
  readTfRecords,
  TensorError,
} from '@sagemaker-tfs/tensors';
import { parseMediaType } from './media-type.ts';
import './native-checksums.ts';

/** The records of a body. */
export interface BodyRecords {
  readonly records: readonly Uint8Array[];
  /** A body of these records alone. */
  join(records: readonly Uint8Array[]): Uint8Array;
  /** True where one record alone may be read as several instances: a JSON list of lists. */
  readonly isAmbiguous: boolean;
}

const NEWLINE = Uint8Array.of(0x0a);

/**
 * Cuts JSON lines, CSV, TFRecord, RecordIO and length-prefixed records at the ends of the records, without reading
 * these.
 * @returns undefined for other media types, and where the ends cannot be found
 */
export function bodyRecords(body: Uint8Array, contentType: string): BodyRecords | undefined {
  const { type, parameters } = parseMediaType(contentType);
  switch (type) {
    case 'application/jsonlines':
    case 'application/jsons':
      return {
        records: linesOf(body),
        join: (lines) => joined(lines.map(line)),
        isAmbiguous: true,
      };
    case 'text/csv':
      return csvRecords(linesOf(body), parameters.header?.toLowerCase() === 'present');
    case 'application/x-tfrecord':
      return framed(() => readTfRecords(body), encodeTfRecord);
    case 'application/x-recordio':
    case 'application/x-recordio-protobuf':
      return framed(() => readRecordIo(body), encodeRecordIo);
    case 'application/octet-stream':
      return framed(() => readLengthPrefixed(body), encodeLengthPrefixed);
    default:
      return undefined;
  }
}

/** As SageMaker's SplitType Line: a line break in a quoted cell ends the record, too. */
function csvRecords(lines: readonly Uint8Array[], hasHeader: boolean): BodyRecords {
  const header = hasHeader ? lines.slice(0, 1) : [];
  return {
    records: lines.slice(header.length),
    join: (records) => joined([...header, ...records].map(line)),
    isAmbiguous: false,
  };
}

function framed(
  read: () => Iterable<Uint8Array>,
  encode: (record: Uint8Array) => readonly Uint8Array[],
): BodyRecords | undefined {
  try {
    const records = [...read()];
    return { records, join: (some) => joined(some.map(encode)), isAmbiguous: false };
  } catch (error) {
    if (error instanceof TensorError) return undefined;
    throw error;
  }
}

function linesOf(body: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let from = 0; from < body.byteLength; ) {
    const at = body.indexOf(0x0a, from);
    const end = at < 0 ? body.byteLength : at;
    const content = body.subarray(from, end);
    if (content.some((byte) => byte > 0x20)) lines.push(content);
    from = end + 1;
  }
  return lines;
}

function line(content: Uint8Array): readonly Uint8Array[] {
  return [content, NEWLINE];
}

function joined(parts: readonly (readonly Uint8Array[])[]): Uint8Array {
  return Buffer.concat(parts.flat());
}
