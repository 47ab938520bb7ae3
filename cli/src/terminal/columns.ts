/** Rows of text in columns, for people in a terminal: no borders, numbers to the right. */
import { fitted } from './style.ts';

/** What reads as a number: digits, perhaps with a unit behind them. */
const NUMBER = /^-?[\d.,]+( ?[%a-zA-Z$/]+)?$|^-$/;

/**
 * Each row as a line of at most `width` columns. A column is right-aligned if all its cells below the head are numbers.
 * @param rows the first is the head
 */
export function columns(rows: readonly (readonly string[])[], width: number): string[] {
  const [head = [], ...body] = rows;
  const shape = head.map((_, at) => ({
    size: Math.max(...rows.map((row) => Array.from(row[at] ?? '').length)),
    isNumber: body.every((row) => NUMBER.test(row[at] ?? '')),
  }));
  return rows.map((row) => {
    const cells = shape.map(({ size, isNumber }, at) => {
      const cell = row[at] ?? '';
      return isNumber ? cell.padStart(size) : cell.padEnd(size);
    });
    return fitted(cells.join('  ').trimEnd(), width);
  });
}
