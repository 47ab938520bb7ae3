/** The records of an output in CSV, as JSON. */
import { parse } from 'csv-parse/sync';
import { errorOfRow } from './error-row.ts';
import { isJson } from './is-json.ts';

/** What the runtime writes without quotes: its strings are quoted, whatever they look like. */
const BARE = /^(?:true|false|-?(?:\d|Infinity$)|NaN$)/;

/**
 * Each record as the row of an answer in JSON would be: a cell alone, or a list of several. Numbers and booleans keep
 * their digits, cells in quotes are strings. A record that the runtime could not answer is its error,
 * `{"error": "..."}`.
 * @returns undefined for text that is no CSV (RFC 4180)
 */
export function csvRows(text: string): string[] | undefined {
  try {
    const records: string[][] = parse(text, {
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      cast: (cell, { quoting }) => (!quoting && isBare(cell) ? cell : JSON.stringify(cell)),
    });
    return records.map((cells) => (cells.length === 1 ? single(cells[0] ?? '') : `[${cells}]`));
  } catch {
    return undefined;
  }
}

function isBare(cell: string): boolean {
  return BARE.test(cell) && isJson(cell);
}

/** The runtime's error, or the cell. */
function single(cell: string): string {
  if (!cell.startsWith('"{\\"error\\":')) return cell;
  const text = JSON.parse(cell) as string;
  return isJson(text) && errorOfRow(text) !== undefined ? text : cell;
}
