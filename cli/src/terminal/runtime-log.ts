/** The log of a runtime that a verb starts for its own work: what a person should see, above the verb's progress. */

import { styleOf } from '../output/style.ts';
import type { RuntimeOptions } from '../serving/runtime-process.ts';
import { quietLog } from './quiet-log.ts';

/** Whatever the progress has on its line. */
const CLEAR_LINE = '\r\x1b[K';

/**
 * In a terminal, warnings and errors of the runtime in words, each once; refused requests are the verb's to tell. Elsewhere the
 * runtime's own lines.
 */
export function runtimeLog(stream: NodeJS.WriteStream = process.stderr): RuntimeOptions['log'] {
  if (!stream.isTTY) return 'inherit';
  const shown = new Set<string>();
  const log = quietLog(styleOf(stream), (line) => {
    // A runtime is started more than once, for each of several settings.
    if (shown.has(line)) return;
    shown.add(line);
    stream.write(`${CLEAR_LINE}${line}\n`);
  });
  return log.take;
}
