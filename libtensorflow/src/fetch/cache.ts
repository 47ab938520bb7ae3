/** The folder where fetched libraries are kept, `~/.cache/sagemaker-tfs/libtensorflow/<version>-<arch>`. */
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { type LibraryLocation, librariesIn } from '../library-location.ts';
import { PINNED_VERSION, type PinnedWheel, pinnedWheel } from './pinned-wheel.ts';

/** Parent of every fetched library; follows the XDG base directory specification. */
export function cacheRoot(): string {
  const xdg = process.env.XDG_CACHE_HOME;
  // A relative XDG_CACHE_HOME is invalid and must be ignored (XDG Base Directory Specification).
  const base = xdg && isAbsolute(xdg) ? xdg : join(homedir(), '.cache');
  return join(base, 'sagemaker-tfs', 'libtensorflow');
}

/** Where the library for this machine is kept once it is complete. */
export function cacheDirectory(): string {
  // A home folder may be shared with containers.
  const system = process.platform === 'darwin' ? 'macos-' : '';
  return join(cacheRoot(), `${PINNED_VERSION}-${system}${process.arch}`);
}

/** The cached library, or undefined if there is none, or one of other sizes than the pinned. */
export async function cachedLibrary(): Promise<LibraryLocation | undefined> {
  const wheel = pinnedWheel();
  const directory = cacheDirectory();
  if (!wheel || !(await isComplete(directory, wheel))) return undefined;
  const libraries = await librariesIn(directory);
  return libraries && { directory, ...libraries, version: PINNED_VERSION, source: 'cache' };
}

/** True if the directory holds both libraries in full length. */
export async function isComplete(directory: string, wheel: PinnedWheel): Promise<boolean> {
  for (const { entry, bytes } of wheel.libraries) {
    const stats = await stat(join(directory, basename(entry))).catch(() => undefined);
    if (stats?.size !== bytes) return false;
  }
  return true;
}
