import { printable } from './printable.ts';

/** Warns on stderr. @param warning a sentence without its period */
export function warn(warning: string): void {
  process.stderr.write(`Warning: ${printable(warning)}.\n`);
}
