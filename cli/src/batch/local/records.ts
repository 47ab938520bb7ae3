/** Cuts an object into the payloads of its requests, as SageMaker's SplitType and BatchStrategy say. */
import { createReadStream } from 'node:fs';
import type { BatchStrategy, SplitType } from '@sagemaker-tfs/batch';
import {
  encodeRecordIo,
  encodeTfRecord,
  streamRecordIo,
  streamTfRecords,
  TensorError,
} from '@sagemaker-tfs/tensors';

/** One request's body. */
export interface Payload {
  readonly body: Uint8Array;
  /** Number of its first record, from 0. */
  readonly first: number;
  readonly count: number;
}

/** How to cut. */
export interface Cut {
  readonly splitType: Exclude<SplitType, 'None'>;
  readonly strategy: BatchStrategy;
  /** Most bytes of a payload; 0 for no limit. */
  readonly maxBytes: number;
  /** Gets the file's bytes as they are read. */
  readonly onChunk?: (chunk: Uint8Array) => void;
}

/** Largest record where the payload has no limit. */
const UNLIMITED = 2 ** 31 - 1;
/** Most that the formats put around a record of usual size. */
const FRAMING = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * The payloads of a file, in order; memory holds one. With SingleRecord each is a record without its framing
 * (SageMaker removes the padding of binary formats), with MultiRecord as many whole records as MaxPayloadInMB
 * takes, framed as they were. Empty lines are no records.
 * @throws TensorError for a file that is not what the split type says, or with a record over the limit
 */
export async function* payloadsOf(path: string, cut: Cut): AsyncGenerator<Payload> {
  const single = cut.strategy === 'SingleRecord';
  const payload = growing();
  let first = 0;
  let index = 0;
  for await (const record of recordsOf(path, cut)) {
    if (single) {
      yield { body: record, first: index, count: 1 };
    } else {
      const framed = frame(cut.splitType, record);
      const size = framed.reduce((sum, { byteLength }) => sum + byteLength, 0);
      const { bytes } = payload;
      if (bytes > 0 && cut.maxBytes > 0 && bytes + size > cut.maxBytes) {
        yield { body: payload.take(), first, count: index - first };
        first = index;
      }
      for (const piece of framed) payload.add(piece);
    }
    index++;
  }
  if (payload.bytes > 0) yield { body: payload.take(), first, count: index - first };
}

/** Bytes put together piece by piece: kept pieces would take many times their bytes where these are few. */
function growing() {
  let room = Buffer.alloc(FRAMING);
  const own = {
    bytes: 0,
    add(piece: Uint8Array) {
      const end = own.bytes + piece.byteLength;
      if (end > room.byteLength) {
        const larger = Buffer.alloc(2 * end);
        larger.set(room.subarray(0, own.bytes));
        room = larger;
      }
      room.set(piece, own.bytes);
      own.bytes = end;
    },
    take(): Uint8Array {
      const taken = room.subarray(0, own.bytes);
      room = Buffer.alloc(FRAMING);
      own.bytes = 0;
      return taken;
    },
  };
  return own;
}

function recordsOf(path: string, { splitType, maxBytes, onChunk }: Cut): AsyncIterable<Uint8Array> {
  const chunks = watched(createReadStream(path, { highWaterMark: 256 * 1024 }), onChunk);
  const maxRecordBytes = maxBytes > 0 ? maxBytes + FRAMING : UNLIMITED;
  switch (splitType) {
    case 'Line':
      return lines(chunks, maxRecordBytes);
    case 'RecordIO':
      return streamRecordIo(chunks, { maxRecordBytes });
    case 'TFRecord':
      return streamTfRecords(chunks, { maxRecordBytes });
  }
}

async function* watched(
  chunks: AsyncIterable<Buffer>,
  onChunk: Cut['onChunk'],
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    onChunk?.(chunk);
    yield chunk;
  }
}

function frame(splitType: Cut['splitType'], record: Uint8Array): Uint8Array[] {
  switch (splitType) {
    case 'Line':
      return [record, Uint8Array.of(NEWLINE)];
    case 'RecordIO':
      return encodeRecordIo(record);
    case 'TFRecord':
      return encodeTfRecord(record);
  }
}

async function* lines(
  chunks: AsyncIterable<Buffer>,
  maxRecordBytes: number,
): AsyncGenerator<Uint8Array> {
  let pending: Buffer[] = [];
  let have = 0;
  for await (const chunk of chunks) {
    let from = 0;
    // Millions of empty lines, which are no records, are left at once.
    while (have === 0 && chunk[from] === NEWLINE) from++;
    for (let at = chunk.indexOf(NEWLINE, from); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const rest = chunk.subarray(from, at);
      const line = have > 0 ? Buffer.concat([...pending, rest]) : rest;
      if (!isEmptyLine(line)) yield line;
      pending = [];
      have = 0;
      from = at + 1;
      while (chunk[from] === NEWLINE) from++;
    }
    pending.push(chunk.subarray(from));
    have += chunk.byteLength - from;
    if (have > maxRecordBytes) {
      throw new TensorError(
        'TOO_LARGE',
        `a line has more than ${maxRecordBytes} bytes. Split the record.`,
      );
    }
  }
  const last = Buffer.concat(pending);
  if (!isEmptyLine(last)) yield last;
}

const RETURN = 0x0d;

/** Files of Windows end their lines with a return before the line feed. */
function isEmptyLine(line: Uint8Array): boolean {
  return line.byteLength === 0 || (line.byteLength === 1 && line[0] === RETURN);
}
