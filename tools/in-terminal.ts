import { join } from 'node:path';

/**
 * Arguments of `python3` that run a command in a pseudo-terminal: its keys come from stdin, its screen goes to stdout.
 * @param root of this repository
 */
export function inTerminal(root: string, columns: number, command: readonly string[]): string[] {
  const program = join(root, 'tools/run_in_terminal.py');
  return [program, String(columns), ...command];
}
