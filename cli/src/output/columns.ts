/** Rows of text in columns, for people in a terminal: no borders, numbers to the right. */
import { printable } from './printable.ts';
import { behind, lengthOf } from './style.ts';

/** What reads as a number: digits, perhaps with a unit behind them. */
const NUMBER = /^-?\$?[\d.,]+( ?[%a-zA-Z$/]+)?$|^-$/;

/**
 * The lines of each row; of the head first. A column is right-aligned if all its cells below the head are numbers. Where the
 * columns take more than `width`, nothing is cut off: each cell has lines of its own behind its head, those below the first
 * of several rows indented, and the head has none.
 * @param rows the first is the head; a column without a head only decorates
 */
export function columns(rows: readonly (readonly string[])[], width: number): string[][] {
  const lines = side(rows);
  if (lines.every((line) => lengthOf(line) <= width)) return lines.map((line) => [printable(line)]);
  const [head = [], ...body] = rows;
  const indent = body.length > 1 ? '  ' : '';
  const names = head.map((name, at) => (at === 0 ? name : indent + name));
  const widest = Math.max(...names.map(lengthOf));
  const records = body.map((row) =>
    names.flatMap((name, at) =>
      name.trim() === '' ? [] : behind(`${printable(name.padEnd(widest))}  `, row[at] ?? '', width),
    ),
  );
  return [[], ...records];
}

/** Each row as a line. */
function side(rows: readonly (readonly string[])[]): string[] {
  const [head = [], ...body] = rows;
  const shape = head.map((_, at) => ({
    size: Math.max(...rows.map((row) => lengthOf(row[at] ?? ''))),
    isNumber: body.every((row) => NUMBER.test(row[at] ?? '')),
  }));
  return rows.map((row) => {
    const cells = shape.map(({ size, isNumber }, at) => {
      const cell = row[at] ?? '';
      return isNumber ? cell.padStart(size) : cell.padEnd(size);
    });
    return cells.join('  ').trimEnd();
  });
}
