/** Tells when a handler's sources change. */
import { readdirSync, readFileSync, statSync, watch } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';

/** Milliseconds without a change before it counts: editors write a file in several steps. */
const QUIET_MS = 150;
const SOURCE = /\.[cm]?[jt]s$/;
const OTHERS = new Set(['node_modules', '.git']);

/** Whether the handler may be made of the file: of JSON, which other programs write too, if a source names it. */
export function isSource(folder: string, file: string): boolean {
  if (file.split(sep).includes('node_modules')) return false;
  return SOURCE.test(file) || (file.endsWith('.json') && isNamed(folder, basename(file)));
}

function isNamed(folder: string, name: string): boolean {
  try {
    return readdirSync(folder, { withFileTypes: true }).some((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return !OTHERS.has(entry.name) && isNamed(path, name);
      return SOURCE.test(entry.name) && readFileSync(path, 'utf8').includes(name);
    });
  } catch {
    // Something goes away meanwhile, or cannot be read: to load once too often does no harm.
    return true;
  }
}

/** Watches the folder of the handler and those below it. @returns what ends it */
export function watchSources(handler: string, onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const folder = dirname(resolve(handler));
  const seen = new Map<string, string>();
  const watcher = watch(folder, { recursive: true }, (_event, name) => {
    const file = name ?? '';
    // One save comes as several events, some of them late.
    const stamp = stampOf(join(folder, file));
    if (seen.get(file) === stamp) return;
    seen.set(file, stamp);
    if (!isSource(folder, file)) return;
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
