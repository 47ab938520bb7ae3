/** Tells when a handler's sources change. */
import { watch } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';

/** Milliseconds without a change before it counts: editors write a file in several steps. */
const QUIET_MS = 150;
const SOURCE = /\.([cm]?[jt]s|json)$/;

/** Watches the folder of the handler and those below it. @returns what ends it */
export function watchSources(handler: string, onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(dirname(resolve(handler)), { recursive: true }, (_event, name) => {
    const file = name ?? '';
    if (!SOURCE.test(file) || file.split(sep).includes('node_modules')) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS);
  });
  // A folder that goes away ends the watching, not the serving.
  watcher.on('error', () => watcher.close());
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}
