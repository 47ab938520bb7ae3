/** CSV cut at the ends of its records as the reader finds them, without reading the cells. */

/** A record's bytes, and the line on which it ends, from 1. */
interface CsvRecord {
  readonly bytes: Uint8Array;
  readonly line: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * The records that are not empty. Line ends (LF, CRLF, CR) in a quoted cell belong to it. A quote that never closes
 * spoils its line alone.
 * @param trim as the reader's: space around cells, and lines of nothing else, do not count
 */
export function* csvRecords(body: Uint8Array, trim: boolean): Generator<CsvRecord, void> {
  let from = BYTE_ORDER_MARK.every((byte, at) => body[at] === byte) ? BYTE_ORDER_MARK.length : 0;
  let line = 0;
  while (from < body.byteLength) {
    const { end, lines } = endOfRecord(body, from, trim);
    const bytes = body.subarray(from, end);
    line += lines;
    if (trim ? bytes.some((byte) => byte > SPACE) : bytes.byteLength > 0) yield { bytes, line };
    from = end + (body[end] === CARRIAGE_RETURN && body[end + 1] === LINE_FEED ? 2 : 1);
  }
}

/** Where the record ends, and how many lines it has. */
function endOfRecord(body: Uint8Array, from: number, trim: boolean) {
  let lines = 1;
  let isCellStart = true;
  for (let at = from; at < body.byteLength; at++) {
    const byte = body[at] as number;
    if (byte === LINE_FEED || byte === CARRIAGE_RETURN) return { end: at, lines };
    if (byte === QUOTE && isCellStart) {
      const close = closingQuote(body, at);
      if (close === undefined) return { end: endOfLine(body, at), lines };
      for (let inside = at; inside < close; inside++) if (isLineEnd(body, inside)) lines += 1;
      at = close;
    }
    isCellStart = byte === COMMA || (isCellStart && trim && byte <= SPACE);
  }
  return { end: body.byteLength, lines };
}

/** CRLF ends one line, at its LF. */
function isLineEnd(body: Uint8Array, at: number): boolean {
  if (body[at] === LINE_FEED) return true;
  return body[at] === CARRIAGE_RETURN && body[at + 1] !== LINE_FEED;
}

function endOfLine(body: Uint8Array, from: number): number {
  for (let at = from; at < body.byteLength; at++) {
    if (body[at] === LINE_FEED || body[at] === CARRIAGE_RETURN) return at;
  }
  return body.byteLength;
}

/** The quote that closes the cell: two of them are one of its text. */
function closingQuote(body: Uint8Array, open: number): number | undefined {
  let at = body.indexOf(QUOTE, open + 1);
  while (at >= 0 && body[at + 1] === QUOTE) at = body.indexOf(QUOTE, at + 2);
  return at < 0 ? undefined : at;
}
