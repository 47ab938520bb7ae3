/** Color and width for people in a terminal; none of it where output goes elsewhere. */
import { stripVTControlCharacters } from 'node:util';
import { redraws } from '@sagemaker-tfs/libtensorflow/progress';
import { printable } from './printable.ts';

/** How text is marked. */
export interface Style {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly quiet: (text: string) => string;
  readonly strong: (text: string) => string;
  /** Columns of a line; without end where no terminal reads it: programs search lines, so none is broken. */
  readonly width: number;
}

/** Columns where a terminal does not tell. */
const WIDTH = 80;

const plain = (text: string) => text;

/** Style for a stream: colors on a terminal without `NO_COLOR` (no-color.org) and not `TERM=dumb`. */
export function styleOf(stream: NodeJS.WriteStream, environment = process.env): Style {
  const width = stream.isTTY ? stream.columns || WIDTH : Number.POSITIVE_INFINITY;
  const colored = redraws(stream, environment) && !environment.NO_COLOR;
  if (!colored) return { good: plain, bad: plain, quiet: plain, strong: plain, width };
  const marked = (code: string) => (text: string) => `\x1b[${code}m${text}\x1b[0m`;
  return { good: marked('32'), bad: marked('31'), quiet: marked('2'), strong: marked('1'), width };
}

/**
 * The text in at most `width` columns, {@link printable}, its end replaced by … where it is longer. For a line that is drawn
 * over, and for a glance at data: a reason or advice is {@link wrapped}.
 */
export function fitted(text: string, width: number): string {
  const shown = printable(text);
  const characters = Array.from(shown);
  return characters.length <= width
    ? shown
    : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** Parts with ` · ` between them on as few lines as they take; what is longer than a line is {@link wrapped}. */
export function flowed(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.pop();
    const joined = last === undefined ? printable(part) : `${last} · ${printable(part)}`;
    if (lengthOf(joined) <= width) lines.push(joined);
    else lines.push(...(last === undefined ? [] : [last]), ...wrapped(part, width));
  }
  return lines;
}

/** The text, {@link printable}, in lines of at most `width` columns, broken between words where they fit: nothing is cut. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const [piece] of printable(text).matchAll(/ *[^ ]+/g)) {
    const last = lines.pop() ?? '';
    if (lengthOf(last + piece) <= width) lines.push(last + piece);
    else {
      const parts = piece.trimStart().match(new RegExp(`.{1,${Math.max(1, width)}}`, 'gu')) ?? [];
      lines.push(...(last === '' ? [] : [last]), ...parts);
    }
  }
  return lines.length > 0 ? lines : [''];
}

/** Columns that a text of several lines needs behind something, or it begins below. */
const MIN_COLUMNS = 20;
const BELOW = '    ';

/** The text {@link wrapped} behind `start`, which may have colors; its other lines begin where the first one does. */
export function behind(start: string, text: string, width: number): string[] {
  const indent = lengthOf(stripVTControlCharacters(start));
  const isShort = lengthOf(text) <= width - indent;
  if (indent > 0 && width - indent < MIN_COLUMNS && !isShort) {
    const below = wrapped(text, width - BELOW.length).map((line) => BELOW + line);
    return start.trim() === '' ? below : [start.trimEnd(), ...below];
  }
  const [first = '', ...rest] = wrapped(text, width - indent);
  return [start + first, ...rest.map((line) => ' '.repeat(indent) + line)];
}

/** Its indentation and, if two spaces follow, its first word. */
const LINE_START = /^ *(?:\S+ {2,})?/;

/** A line that has an indentation, and perhaps a name, {@link behind} these; as it is if it fits. */
export function wrappedLine(line: string, width: number): string[] {
  if (lengthOf(line) <= width) return [printable(line)];
  const [start = ''] = LINE_START.exec(line) ?? [];
  return behind(printable(start), line.slice(start.length), width);
}

/** Columns of a text without colors. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}

/** `1 kB`, `0.3 kB`, `12 MB`: two digits are enough to compare. */
export function shortBytes(count: number): string {
  if (count < 100) return `${count} B`;
  if (count < 1e6) return `${twoDigits(count / 1e3)} kB`;
  return `${twoDigits(count / 1e6)} MB`;
}

function twoDigits(value: number): string {
  return value < 10 ? value.toFixed(1).replace(/\.0$/, '') : value.toFixed(0);
}
