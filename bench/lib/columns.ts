import type { Column } from './bench.ts';

/** Columns from their titles, by key. */
export function columns(titles: Readonly<Record<string, string>>): Column[] {
  return Object.entries(titles).map(([key, title]) => ({ key, title }));
}
