/** How `--help` lays out its lists, so that 80 columns are enough whatever an option is called. */
import type { Help } from 'commander';

/** Terms wider than this (in columns) would squeeze the descriptions: those stand below them then. */
const WIDEST_TERM = 34;
const BELOW = 6;
const INDENT = 2;

/** For `configureHelp`: a term with its description beside it, or below it in a list with a wide term. */
export function formatItem(
  this: Help,
  term: string,
  termWidth: number,
  description: string,
  helper: Help,
): string {
  const indent = ' '.repeat(INDENT);
  const width = this.helpWidth ?? 80;
  const isBelow = termWidth > WIDEST_TERM || width - termWidth - 2 * INDENT < this.minWidthToWrap;
  const column = isBelow ? BELOW : termWidth + 2 * INDENT;
  const text = helper.boxWrap(description, Math.max(this.minWidthToWrap, width - column));
  const hanging = text.replaceAll('\n', `\n${' '.repeat(column)}`);
  if (description === '') return `${indent}${term}`;
  if (isBelow) return `${indent}${term}\n${' '.repeat(BELOW)}${hanging}`;
  return `${indent}${term.padEnd(termWidth)}${indent}${hanging}`;
}

/** A command line in lines of at most `width` columns: a line breaks before an option or a redirection, with a backslash. */
export function wrapCommand(line: string, width: number): string {
  const lines: string[] = [];
  for (const part of line.split(/ (?=--?[a-z]|[<>])/)) {
    const last = lines.at(-1);
    // 2 columns for the backslash of a line that is not the last.
    if (last !== undefined && last.length + 1 + part.length <= width - 2)
      lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(last === undefined ? part : `    ${part}`);
  }
  return lines.join(' \\\n');
}
