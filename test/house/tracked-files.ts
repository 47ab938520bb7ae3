import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export const ROOT = join(__dirname, '..', '..');

/** The files of these patterns that git tracks, from the root on. */
export function trackedFiles(...patterns: readonly string[]): string[] {
  const listed = execFileSync('git', ['ls-files', ...patterns], { cwd: ROOT, encoding: 'utf8' });
  return listed.trim().split('\n');
}
