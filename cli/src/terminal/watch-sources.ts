/** Tells when a handler's sources change. */
import { createHash } from 'node:crypto';
import { type Dirent, existsSync, type FSWatcher, readdirSync, readFileSync, watch } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

/** Milliseconds without a change before it counts: editors write a file in several steps. */
const QUIET_MS = 150;
/** The same where a file is gone: an editor may be about to put a new one in its place. */
const GONE_MS = 500;
const SOURCE = /\.[cm]?[jt]s$/;
/** Files that {@link isSource} may be true of. */
const CONTENT = /\.([cm]?[jt]s|json)$/;
const OTHERS = new Set(['node_modules', '.git']);

/** Whether the handler may be made of the file: of JSON, which other programs write too, if a source names it. */
export function isSource(folder: string, file: string): boolean {
  if (file.split(sep).includes('node_modules')) return false;
  // Locks and copies of editors, such as `.#inference.ts`.
  if (basename(file).startsWith('.')) return false;
  return SOURCE.test(file) || (file.endsWith('.json') && isNamed(folder, basename(file)));
}

function isNamed(folder: string, name: string): boolean {
  try {
    return readdirSync(folder, { withFileTypes: true }).some((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return !OTHERS.has(entry.name) && isNamed(path, name);
      return entry.isFile() && SOURCE.test(entry.name) && readFileSync(path, 'utf8').includes(name);
    });
  } catch {
    // Something goes away meanwhile, or cannot be read: to load once too often does no harm.
    return true;
  }
}

/**
 * Watches the folder of the handler and those below it. What counts is what files hold: one save comes as several events, some
 * of them late, and of files that are there only meanwhile.
 * @returns what ends it
 */
export function watchSources(handler: string, onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const folder = dirname(resolve(handler));
  const known = new Map<string, string | undefined>();
  const touched = new Set<string>();
  /** @returns whether a file holds something else than before */
  const look = () => {
    const before = [...touched].map((path) => known.get(path));
    for (const path of touched) known.set(path, digestOf(path));
    const isOther = [...touched].some((path, i) => known.get(path) !== before[i]);
    touched.clear();
    return isOther;
  };
  const settle = () => {
    if (look()) onChange();
  };
  const wait = () => {
    const isGone = [...touched].some((path) => known.get(path) !== undefined && !existsSync(path));
    timer = setTimeout(settle, isGone ? GONE_MS : 0);
  };
  const folders = watchFolders(
    folder,
    (path) => {
      if (CONTENT.test(path)) known.set(path, digestOf(path));
    },
    (path) => {
      if (!isSource(folder, relative(folder, path))) return;
      touched.add(path);
      clearTimeout(timer);
      timer = setTimeout(wait, QUIET_MS);
    },
  );
  return () => {
    clearTimeout(timer);
    folders.close();
  };
}

/**
 * Watches each folder by itself: what Node watches recursively on Linux are the files, and one that an editor replaces by a
 * new one is lost.
 * @param onFound gets the files that are there at first
 */
function watchFolders(
  root: string,
  onFound: (path: string) => void,
  onFile: (path: string) => void,
): { close(): void } {
  const watchers = new Map<string, FSWatcher>();
  const leave = (folder: string) => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const changed = (path: string) => {
    // A folder that comes, goes, or is replaced by another.
    leave(path);
    enter(path, onFile);
    onFile(path);
  };
  const enter = (folder: string, onEach: (path: string) => void) => {
    const entries = entriesOf(folder);
    if (!entries || watchers.has(folder)) return;
    try {
      const watcher = watch(folder, (_event, name) => changed(join(folder, name ?? '')));
      // A folder that goes away ends its watching, not the serving.
      watcher.on('error', () => leave(folder));
      watchers.set(folder, watcher);
    } catch {
      return;
    }
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) onEach(path);
      else if (!OTHERS.has(entry.name)) enter(path, onEach);
    }
  };
  enter(root, onFound);
  return {
    close() {
      for (const folder of [...watchers.keys()]) leave(folder);
    },
  };
}

/** Undefined for what is no folder, or is none any more. */
function entriesOf(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}

/** Of what the file holds; undefined if it is not there. */
function digestOf(path: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('base64');
  } catch {
    return undefined;
  }
}
