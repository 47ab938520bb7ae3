/** JSON lines cut at the ends of the documents, without reading them. */

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** What comes before a value, and what comes after one. */
const BEFORE_VALUE = new Set(Buffer.from('[{,:'));
const AFTER_VALUE = new Set(Buffer.from(']},:'));
const OPENING = new Set(Buffer.from('[{'));
const CLOSING = new Set(Buffer.from(']}'));

/**
 * The documents: a line each, or several lines where lists and objects are still open at the end of one, as the reader
 * has it. Lines that make no document so are a record each: one that was cut short does not take the next ones with it.
 */
export function* jsonRecords(body: Uint8Array): Generator<Uint8Array, void> {
  let lines: Uint8Array[] = [];
  let open = 0;
  for (const line of linesOf(body)) {
    const scanned = scan(line);
    if (open > 0 && !continues(lines.at(-1), scanned.first)) {
      yield* lines;
      [lines, open] = [[], 0];
    }
    lines.push(line);
    open = scanned.isBroken ? -1 : open + scanned.opened;
    if (open > 0) continue;
    if (open < 0) yield* lines;
    else yield spanned(body, lines);
    [lines, open] = [[], 0];
  }
  yield* lines;
}

/** Lines of more than space, each without the space around it. */
function* linesOf(body: Uint8Array): Generator<Uint8Array, void> {
  for (let from = 0; from < body.byteLength; ) {
    const at = body.indexOf(LINE_FEED, from);
    const end = at < 0 ? body.byteLength : at;
    const content = trimmed(body.subarray(from, end));
    if (content.byteLength > 0) yield content;
    from = end + 1;
  }
}

function trimmed(line: Uint8Array): Uint8Array {
  let [from, end] = [0, line.byteLength];
  while (from < end && (line[from] as number) <= SPACE) from += 1;
  while (end > from && (line[end - 1] as number) <= SPACE) end -= 1;
  return line.subarray(from, end);
}

/** How many more lists and objects it opens than it closes; a string that is open at its end is broken. */
function scan(line: Uint8Array) {
  let opened = 0;
  let inText = false;
  for (let at = 0; at < line.byteLength; at++) {
    const byte = line[at] as number;
    if (byte === QUOTE) inText = !inText;
    else if (inText && byte === BACKSLASH) at += 1;
    else if (inText) continue;
    else if (OPENING.has(byte)) opened += 1;
    else if (CLOSING.has(byte)) opened -= 1;
  }
  return { opened, isBroken: inText, first: line[0] as number };
}

/** Whether a line with this first character can continue where the other line ends. */
function continues(line: Uint8Array | undefined, first: number): boolean {
  return BEFORE_VALUE.has(line?.at(-1) as number) || AFTER_VALUE.has(first);
}

function spanned(body: Uint8Array, lines: readonly Uint8Array[]): Uint8Array {
  const [first, last] = [lines[0] as Uint8Array, lines.at(-1) as Uint8Array];
  const from = first.byteOffset - body.byteOffset;
  return body.subarray(from, last.byteOffset - body.byteOffset + last.byteLength);
}
