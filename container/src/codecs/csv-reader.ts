/** Reads CSV (RFC 4180) into rows without keeping the event loop from other requests. */

import { isUtf8 } from 'node:buffer';
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { CsvError, parse } from 'csv-parse';
import { ServingError } from '../errors.ts';
import { nextTurn } from '../waiting/next-turn.ts';

/** One record and the line on which it ends, from 1. */
export interface CsvRow {
  readonly cells: readonly string[];
  readonly line: number;
}

/** Parsed between two turns of the event loop: a few milliseconds of work. */
const SLICE_BYTES = 65_536;
const QUOTE = 0x22;
const LINE_FEED = 0x0a;

/** How a body is read. */
export interface CsvReading {
  /**
   * Drop the space around cells, and lines of nothing else: for numbers. As text, space belongs to the cell (RFC 4180,
   * Python's csv, pandas), and a quote behind it is an error.
   */
  readonly trim: boolean;
  /** Lines on which messages have the records end, where not as they are counted here. */
  readonly places?: readonly number[] | undefined;
  readonly signal?: AbortSignalLike | undefined;
}

/**
 * Calls `onRow` for each record; empty lines are passed over. Lines end with LF, CRLF or CR; quoted cells may
 * hold commas and line ends; a byte order mark is dropped.
 * @throws ServingError BAD_INPUT naming the line, and whatever `onRow` throws
 */
export async function readCsv(
  body: Uint8Array,
  onRow: (row: CsvRow) => void,
  reading: CsvReading,
): Promise<void> {
  if (!isUtf8(body)) throw new ServingError('BAD_INPUT', 'the CSV is not UTF-8.');
  const { places } = reading;
  let row = 0;
  const onPlaced: typeof onRow = places
    ? ({ cells, line }) => onRow({ cells, line: places[row++] ?? line })
    : onRow;
  try {
    await (body.includes(QUOTE) ? readQuoted : readPlain)(body, onPlaced, reading);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The parser is at the record behind those that it has handed over.
    const own = `line ${error.lines}`;
    const message = error.message.replace(own, `line ${places?.[row] ?? error.lines}`);
    throw new ServingError('BAD_INPUT', `the CSV is broken: ${message}`, { cause: error });
  }
}

async function readQuoted(
  body: Uint8Array,
  onRow: (row: CsvRow) => void,
  { trim, signal }: CsvReading,
): Promise<void> {
  const parser = parse({
    bom: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    trim,
    on_record: (cells: string[], { lines }) => {
      onRow({ cells, line: lines });
      return null;
    },
  });
  const finished = new Promise<void>((resolve, reject) => {
    parser.on('end', resolve);
    parser.on('error', reject);
  });
  const fed = feed(parser, body, signal);
  try {
    await Promise.all([fed, finished]);
  } catch (error) {
    parser.destroy();
    throw error;
  }
}

async function feed(
  parser: ReturnType<typeof parse>,
  body: Uint8Array,
  signal: AbortSignalLike | undefined,
): Promise<void> {
  parser.resume();
  for (let at = 0; at < body.length && !parser.destroyed; at += SLICE_BYTES) {
    parser.write(body.subarray(at, at + SLICE_BYTES));
    await nextTurn();
    signal?.throwIfAborted();
  }
  parser.end();
}

/** Without a quote in the whole body every comma and line end counts: several times faster than a full parser. */
async function readPlain(
  body: Uint8Array,
  onRow: (row: CsvRow) => void,
  { trim, signal }: CsvReading,
): Promise<void> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let line = 0;
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf(LINE_FEED, at + SLICE_BYTES);
    const end = lineEnd < 0 ? bytes.length : lineEnd + 1;
    const text = bytes.toString('utf8', at, end);
    for (const row of linesOf(at === 0 ? text.replace(/^\uFEFF/, '') : text)) {
      line += 1;
      if (row === '' || (trim && row.trim() === '')) continue;
      const cells = row.split(',');
      onRow({ cells: trim ? cells.map((cell) => cell.trim()) : cells, line });
    }
    at = end;
    if (at < bytes.length) await nextTurn();
    signal?.throwIfAborted();
  }
}

/** Without the empty text after the last line end. */
function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
