/** What the formats that frame records have in common: reading from bytes and from a stream. */
import { TensorError, type TensorErrorCode } from './errors.ts';
import { concatBytes } from './text.ts';

/** A record, or one of the parts that it was written in: its place in the bytes. */
export interface Part {
  readonly data: Uint8Array;
  /** The offset after the part and what follows it. */
  readonly end: number;
  /** Whether the record ends with it. */
  readonly isLast: boolean;
}

/** A way of framing records. */
interface RecordFormat {
  /** For messages: `TFRecord`. */
  readonly name: string;
  /** What stood between two parts of a record. */
  readonly joint?: Uint8Array;
  /**
   * The part at `offset`; where the bytes end before it does, the bytes from `offset` on that are needed to
   * get further.
   * @param isContinued whether a record has begun before `offset`
   * @throws BadFrame
   */
  readonly partAt: (bytes: Uint8Array, offset: number, isContinued: boolean) => Part | number;
}

/** Thrown by `partAt`; the readers add the record and its place. */
export class BadFrame extends Error {}

/** How records are read. */
export interface ReadRecordsOptions {
  /** Parts that one record may have. Default: 65,536; RecordIO alone has any. */
  readonly maxParts?: number | undefined;
}

/** How a stream of records is read. */
export interface StreamRecordsOptions extends ReadRecordsOptions {
  /** Most bytes that one record may have, its framing included. */
  readonly maxRecordBytes: number;
}

/** As many only where the data is made of what separates parts. */
const MAX_PARTS = 65_536;

/** The two ways to read a format. */
interface RecordReaders {
  /** The records of `bytes`. @throws TensorError MALFORMED, TOO_LARGE */
  read(bytes: Uint8Array, options?: ReadRecordsOptions): Generator<Uint8Array, void>;
  /** The records of a stream. @throws TensorError MALFORMED, TOO_LARGE */
  stream(
    chunks: AsyncIterable<Uint8Array>,
    options: StreamRecordsOptions,
  ): AsyncGenerator<Uint8Array, void>;
}

/** Readers of a format. */
export function recordReaders(format: RecordFormat): RecordReaders {
  return {
    read: (bytes, options) => readRecords(format, bytes, options),
    stream: (chunks, options) => streamRecords(format, chunks, options),
  };
}

/**
 * The records of `bytes`, as views where they are of one part.
 * @throws TensorError MALFORMED, TOO_LARGE, naming the record and the byte where it starts
 */
function* readRecords(
  format: RecordFormat,
  bytes: Uint8Array,
  options: ReadRecordsOptions = {},
): Generator<Uint8Array, void> {
  const reader = recordReader(format, options);
  for (let offset = 0; offset < bytes.byteLength; ) {
    const read = reader.read(bytes, offset);
    if (typeof read === 'number') throw reader.truncated();
    offset = read.end;
    if (read.record) yield read.record;
  }
  if (reader.isWithin()) throw reader.truncated();
}

/**
 * The records of a stream, each as soon as all of it has arrived. Memory holds one record and the chunk
 * that ends it; every part is looked at once.
 * @throws TensorError MALFORMED, TOO_LARGE, naming the record and the byte where it starts
 */
async function* streamRecords(
  format: RecordFormat,
  chunks: AsyncIterable<Uint8Array>,
  options: StreamRecordsOptions,
): AsyncGenerator<Uint8Array, void> {
  const reader = recordReader(format, options);
  let pending: Uint8Array[] = [];
  let have = 0;
  let need = 1;
  for await (const chunk of chunks) {
    pending.push(chunk);
    have += chunk.byteLength;
    if (have < need) continue;
    const bytes = concatBytes(pending);
    let offset = 0;
    need = 1;
    while (offset < bytes.byteLength) {
      const read = reader.read(bytes, offset);
      if (typeof read === 'number') {
        need = read;
        break;
      }
      offset = read.end;
      if (read.record) yield read.record;
    }
    pending = [bytes.subarray(offset)];
    have = bytes.byteLength - offset;
  }
  if (have > 0 || reader.isWithin()) throw reader.truncated();
}

interface RecordReader {
  /** The part at `offset`, and the record where that was its last; else the bytes that are needed, as `partAt`. */
  read(bytes: Uint8Array, offset: number): { end: number; record?: Uint8Array } | number;
  /** Whether a record has begun that has not ended. */
  isWithin(): boolean;
  truncated(): TensorError;
}

/** Puts parts together, and knows which record is being read. */
function recordReader(
  format: RecordFormat,
  {
    maxParts = MAX_PARTS,
    maxRecordBytes = Number.POSITIVE_INFINITY,
  }: Partial<StreamRecordsOptions>,
): RecordReader {
  const parts: Uint8Array[] = [];
  let index = 0;
  let start = 0;
  let size = 0;
  const error = (code: TensorErrorCode, what: string, cause?: Error) =>
    recordError(code, format, index, start, what, cause);
  const partAt = (bytes: Uint8Array, offset: number) => {
    try {
      return format.partAt(bytes, offset, parts.length > 0);
    } catch (cause) {
      throw cause instanceof BadFrame ? error('MALFORMED', cause.message, cause) : cause;
    }
  };
  const whole = (): Uint8Array => {
    const { joint } = format;
    if (parts.length === 1) return parts[0] as Uint8Array;
    const pieces = joint ? parts.flatMap((part, at) => (at > 0 ? [joint, part] : [part])) : parts;
    return concatBytes(pieces);
  };
  return {
    read(bytes, offset) {
      const part = partAt(bytes, offset);
      const partSize = typeof part === 'number' ? part : part.end - offset;
      if (size + partSize > maxRecordBytes) {
        throw error('TOO_LARGE', `it has ${size + partSize} bytes, the limit is ${maxRecordBytes}`);
      }
      if (typeof part === 'number') return part;
      if (parts.length === maxParts) throw error('TOO_LARGE', `it has more than ${maxParts} parts`);
      size += partSize;
      parts.push(part.data);
      if (!part.isLast) return { end: part.end };
      const record = whole();
      parts.length = 0;
      index += 1;
      start += size;
      size = 0;
      return { end: part.end, record };
    },
    isWithin: () => parts.length > 0,
    truncated: () => error('MALFORMED', 'the data ends within it'),
  };
}

function recordError(
  code: TensorErrorCode,
  format: RecordFormat,
  index: number,
  offset: number,
  what: string,
  cause?: Error,
): TensorError {
  const message = `${format.name} record ${index} at byte ${offset}: ${what}`;
  return new TensorError(code, message, cause && { cause });
}
