/** The changelog's entry of moved pins. */
import type { Move } from './moves.ts';

const HEADING = '## [Unreleased]\n';

/** The changelog with one more entry at the top of what is unreleased. @throws Error if it has no such part */
export function withMoves(changelog: string, moves: readonly Move[]): string {
  const at = changelog.indexOf(HEADING);
  if (at < 0) throw new Error(`CHANGELOG.md has no ${HEADING.trim()}. Add it.`);
  const start = at + HEADING.length;
  const [lead = '\n### Added\n\n'] = /^\n### [^\n]+\n\n/.exec(changelog.slice(start)) ?? [];
  const rest = changelog.slice(start).startsWith(lead) ? start + lead.length : start;
  return `${changelog.slice(0, start)}${lead}${entryOf(moves)}\n${changelog.slice(rest)}`;
}

function entryOf(moves: readonly Move[]): string {
  const all = moves.map(({ name, from, to }) => `${name} ${short(from)} to ${short(to)}`);
  return `- Pinned anew: ${all.join(', ')}.`;
}

/** A digest by its first digits. */
const short = (version: string) => version.replace(/^(sha256:[0-9a-f]{12})[0-9a-f]+$/, '$1');
