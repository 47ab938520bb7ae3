/** A pasted table as cells, for showing answers beside it; what is sent is the text itself. */
import type { TensorDescription } from '../description.ts';

/** Rows of cells; a quoted cell may hold commas, quotes ("") and line ends. Empty lines are left out. */
export function cellsOf(table: string): string[][] {
  // A byte-order mark, as Excel writes it, is no part of the first name.
  const text = table.replace(/^\ufeff/, '');
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  const endRow = () => {
    row.push(cell);
    if (row.length > 1 || cell !== '') rows.push(row);
    row = [];
    cell = '';
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === ',') {
      row.push(cell);
      cell = '';
    } else if (character === '\n') endRow();
    else if (character !== '\r') cell += character;
  }
  endRow();
  return rows;
}

/** Columns beyond which nobody reads a header. */
const SHORT = 24;

/** The first line for several inputs: each name as often as the input has values in a row. Undefined if it is long, or a size free. */
export function headerOf(inputs: Readonly<Record<string, TensorDescription>>): string | undefined {
  const counts = Object.values(inputs).map(({ shape }) =>
    (shape ?? [0, -1])
      .slice(1)
      .reduce((product, size) => product * (size < 0 ? Number.NaN : size), 1),
  );
  // Not `>`: a free size makes the sum NaN.
  if (!(counts.reduce((sum, count) => sum + count, 0) <= SHORT)) return undefined;
  return Object.keys(inputs)
    .flatMap((name, at) => Array<string>(counts[at] ?? 0).fill(name))
    .join(',');
}

const NEWLINE = 10;

/** The media type of a table: with a header where its first line has the names of all inputs and no other. */
export function csvTypeOf(table: Uint8Array, inputs: readonly string[]): string {
  const line = new TextDecoder().decode(table.subarray(0, table.indexOf(NEWLINE) + 1));
  const [first = []] = cellsOf(line);
  const names = new Set(first.map((name) => name.trim()));
  const isHeader = names.size === inputs.length && inputs.every((name) => names.has(name));
  return isHeader && inputs.length > 0 ? 'text/csv; header=present' : 'text/csv';
}
