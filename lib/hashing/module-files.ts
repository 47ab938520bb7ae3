/** The files that a bundled module is made of. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { buildSync, version as esbuildVersion } from 'esbuild';
import { invalidProp, type Where } from '../validation.ts';
import type { FileCache } from './file-cache.ts';

/** A file with the name under which it enters a hash. */
export interface InputFile {
  /** Relative, with `/` between names. */
  readonly path: string;
  readonly file: string;
}

/**
 * A module and everything that its bundle would hold, sorted. Files of the module's own package are named
 * relative to the module, others by package, wherever it is installed.
 * @param prop the prop that names the module, for messages
 * @param external modules that are supplied at run time
 * @throws where the module does not exist or cannot be bundled
 */
export function moduleFiles(
  where: Where,
  prop: string,
  module: string,
  external: readonly string[],
  cache: FileCache,
): InputFile[] {
  if (!existsSync(module)) {
    invalidProp(where, prop, `${resolve(module)} does not exist`, 'Give the path of a module');
  }
  const entry = realpathSync(module);
  const directory = dirname(entry);
  const key = JSON.stringify([entry, external, esbuildVersion]);
  return cache
    .moduleFiles(key, () => importsOf(where, prop, entry, external))
    .map((file) => ({ path: stableName(directory, file), file }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function stableName(directory: string, file: string): string {
  const home = packageOf(dirname(file));
  const from = home === packageOf(directory) ? directory : home;
  const path = relative(from, file).split(sep).join('/');
  return from === directory ? path : `${packageName(home)}:${path}`;
}

/** The closest directory with a `package.json` that has a name. */
function packageOf(directory: string): string {
  const parent = dirname(directory);
  if (parent === directory || packageName(directory)) return directory;
  return packageOf(parent);
}

const packageNames = new Map<string, string | undefined>();

function packageName(directory: string): string | undefined {
  if (!packageNames.has(directory)) packageNames.set(directory, readPackageName(directory));
  return packageNames.get(directory);
}

function readPackageName(directory: string): string | undefined {
  const file = join(directory, 'package.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { name?: string }).name;
}

function importsOf(
  where: Where,
  prop: string,
  entry: string,
  external: readonly string[],
): string[] {
  try {
    const { metafile } = buildSync({
      entryPoints: [entry],
      absWorkingDir: dirname(entry),
      outdir: dirname(entry),
      write: false,
      metafile: true,
      bundle: true,
      format: 'esm',
      platform: 'node',
      logLevel: 'silent',
      external: [...external],
      loader: { '.node': 'copy' },
    });
    return Object.keys(metafile.inputs)
      .map((input) => resolve(dirname(entry), input))
      .filter((file) => existsSync(file));
  } catch (error) {
    const problem = `${entry} cannot be bundled: ${error instanceof Error ? error.message : error}`;
    return invalidProp(where, prop, problem, 'Correct the module, or install what it imports');
  }
}
