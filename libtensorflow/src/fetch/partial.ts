/**
 * Directories of fetches that are under way. The finished library gets its name by one rename, so that
 * whatever interrupts a fetch leaves only such a directory, which the next fetch removes.
 */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../is-running.ts';

/** `.partial-<host>-<process id>-<random>`; hosts because a home directory can be shared. */
const PARTIAL_NAME = /^\.partial-(.+)-(\d+)-\w{6}$/;

/** Age in milliseconds at which another host's directory is taken for left behind: a day. */
const STALE_AGE = 24 * 60 * 60 * 1000;

/** Makes a directory of this process's own. */
export function makePartial(root: string): Promise<string> {
  return mkdtemp(join(root, `.partial-${hostname()}-${process.pid}-`));
}

/** Removes what interrupted fetches left. */
export async function removeStalePartials(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const match = PARTIAL_NAME.exec(name);
    if (!match) continue;
    const path = join(root, name);
    const stale = match[1] === hostname() ? !isRunning(Number(match[2])) : await isOld(path);
    if (stale) await rm(path, { recursive: true, force: true });
  }
}

async function isOld(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > STALE_AGE;
}
