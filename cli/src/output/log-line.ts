/** Log lines of the command between those of the runtime, in the runtime's form: a JSON object each. */

import { printableJson } from './printable.ts';

/** Writes a line to stdout. @param fields of the line, beside what every line has */
export function writeLogLine(
  level: 'info' | 'warn',
  msg: string,
  fields: Readonly<Record<string, unknown>> = {},
): void {
  const time = new Date().toISOString();
  const line = { level, time, source: 'sagemaker-tfs', ...fields, msg };
  process.stdout.write(`${printableJson(line)}\n`);
}
