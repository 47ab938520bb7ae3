import { printableLines } from './printable.ts';

/** `--quiet`: no progress and no remarks on stderr; results, warnings and errors stay. */
let quiet = false;

/** Sets it for the whole process. */
export function beQuiet(): void {
  quiet = true;
}

/** True with `--quiet`. */
export function isQuiet(): boolean {
  return quiet;
}

/** A line for people on stderr. */
export function remark(text: string): void {
  if (!quiet) process.stderr.write(`${printableLines(text)}\n`);
}
