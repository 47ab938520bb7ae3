/** Results go to stdout: a text for people or one JSON document for programs. */
import Table from 'cli-table3';
import { columns } from './columns.ts';
import { printable, printableJson, printableLines } from './printable.ts';
import { type Style, styleOf } from './style.ts';

/** Prints `value` as JSON where asked, else `text()`, neither with control characters, in a terminal or not. */
export function printResult(json: boolean | undefined, value: unknown, text: () => string): void {
  if (json) process.stdout.write(`${printableJson(value, 2)}\n`);
  else printText(text());
}

/** Prints lines without control characters. */
export function printText(text: string): void {
  process.stdout.write(`${printableLines(text)}\n`);
}

/** Prints lines in the terminal's style; what is from others in them was made printable. */
export function printStyled(lines: (style: Style) => readonly string[]): void {
  process.stdout.write(`${lines(styleOf(process.stdout)).join('\n')}\n`);
}

/** {@link columns} that fit a terminal; elsewhere a table with borders, numbers to the right. Every column has a head. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const cells = rows.map((row) => row.map((cell) => printable(String(cell))));
  if (process.stdout.isTTY) {
    return columns([head, ...cells], styleOf(process.stdout).width)
      .flat()
      .join('\n');
  }
  const grid = new Table({
    head: [...head],
    style: { head: [], border: [], compact: true },
    colAligns: head.map((_, column) =>
      rows.every((row) => typeof row[column] === 'number') ? 'right' : 'left',
    ),
  });
  for (const row of cells) grid.push(row);
  return grid.toString();
}

/** Milliseconds for people: three significant digits. */
export function ms(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
