/** Tables of text. */
import Grid from 'cli-table3';

/** Draws a table. */
export type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

/** A table with borders, without colors. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const grid = new Grid({ head: [...head], style: { head: [], border: [], compact: true } });
  for (const row of rows) grid.push([...row]);
  return grid.toString();
}
