/** The part of `docs/batch.md` that the simulation writes. */
import { join } from 'node:path';

/** The document. */
export const DOCUMENT = join(import.meta.dirname, '../../docs/batch.md');

const MARKERS = ['<!-- simulation: npm run simulate -->', '<!-- end of simulation -->'] as const;

/** The document with a new result between its markers. @throws where they are missing */
export function withResult(document: string, text: string): string {
  const [from, to] = [document.indexOf(MARKERS[0]), document.indexOf(MARKERS[1])];
  if (from < 0 || to < from) throw new Error('docs/batch.md has lost its markers');
  return `${document.slice(0, from + MARKERS[0].length)}\n\n${text}\n\n${document.slice(to)}`;
}
