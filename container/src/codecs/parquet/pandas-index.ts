/** The columns that pandas' index is written as: https://pandas.pydata.org/docs/development/developer.html */
import { bad } from './thrift.ts';

/** @param metadata that pandas writes beside a table. An index that is a range has no column. */
export function pandasIndex(metadata: string | undefined): ReadonlySet<string> {
  const written = metadata === undefined ? undefined : parsed(metadata);
  const columns: unknown = (written as { index_columns?: unknown } | null | undefined)
    ?.index_columns;
  return new Set(Array.isArray(columns) ? columns.filter((name) => typeof name === 'string') : []);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw bad("has metadata of pandas' that is no JSON. Write it anew");
  }
}
