/** Color and width for people in a terminal; none of it where output goes elsewhere. */

import { redraws } from '@sagemaker-tfs/libtensorflow/progress';
import { printable } from './printable.ts';

/** How text is marked. */
export interface Style {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly quiet: (text: string) => string;
  readonly strong: (text: string) => string;
  /** Columns of a line. */
  readonly width: number;
}

/** Columns where the terminal does not tell. */
const WIDTH = 80;

const plain = (text: string) => text;

/** Style for a stream: colors on a terminal without `NO_COLOR` (no-color.org) and not `TERM=dumb`. */
export function styleOf(stream: NodeJS.WriteStream, environment = process.env): Style {
  const width = stream.columns || WIDTH;
  const colored = redraws(stream, environment) && !environment.NO_COLOR;
  if (!colored) return { good: plain, bad: plain, quiet: plain, strong: plain, width };
  const marked = (code: string) => (text: string) => `\x1b[${code}m${text}\x1b[0m`;
  return { good: marked('32'), bad: marked('31'), quiet: marked('2'), strong: marked('1'), width };
}

/** The text in at most `width` columns, {@link printable}, its end replaced by … where it is longer. */
export function fitted(text: string, width: number): string {
  const shown = printable(text);
  const characters = Array.from(shown);
  return characters.length <= width
    ? shown
    : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** Parts with ` · ` between them on as few lines as they take; only what is longer than a line is {@link fitted}. */
export function flowed(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts.map((text) => fitted(text, width))) {
    const last = lines.pop();
    const joined = `${last} · ${part}`;
    if (last === undefined) lines.push(part);
    else if (Array.from(joined).length <= width) lines.push(joined);
    else lines.push(last, part);
  }
  return lines;
}

/** The text in lines of at most `width` columns, broken between words where they fit. */
export function wrapped(text: string, width: number): string[] {
  const result = [''];
  const pieces = text
    .split(' ')
    .flatMap((word) => word.match(new RegExp(`.{1,${width}}`, 'gu')) ?? []);
  for (const word of pieces) {
    const last = result.at(-1) as string;
    if (last && last.length + 1 + word.length > width) result.push(word);
    else result[result.length - 1] = last ? `${last} ${word}` : word;
  }
  return result;
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
