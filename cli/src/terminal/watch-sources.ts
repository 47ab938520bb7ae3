/** Tells when a handler's sources change. */
import { statSync, watch } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';

/** Milliseconds without a change before it counts: editors write a file in several steps. */
const QUIET_MS = 150;
const SOURCE = /\.([cm]?[jt]s|json)$/;

/** Watches the folder of the handler and those below it. @returns what ends it */
export function watchSources(handler: string, onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const folder = dirname(resolve(handler));
  const seen = new Map<string, string>();
  const watcher = watch(folder, { recursive: true }, (_event, name) => {
    const file = name ?? '';
    if (!SOURCE.test(file) || file.split(sep).includes('node_modules')) return;
    // One save comes as several events, some of them late.
    const stamp = stampOf(join(folder, file));
    if (seen.get(file) === stamp) return;
    seen.set(file, stamp);
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

/** Differs once the file was written. */
function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return `${found?.ino} ${found?.size} ${found?.mtimeMs}`;
}
