/** Where a libtensorflow lies: two shared libraries side by side. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the library was found. */
export interface LibraryLocation {
  readonly directory: string;
  /** Path of the library that exports TensorFlow's C API. */
  readonly cc: string;
  /** Path of the library that the first one needs. */
  readonly framework: string;
  /** TensorFlow's version where the place tells it; `loadLibrary().version` always does. */
  readonly version: string | undefined;
  readonly source: 'LIBTENSORFLOW_PATH' | 'cache' | 'python';
}

/**
 * Names of the C API's library: in TensorFlow's Python wheels (`libtensorflow_cc`) and in the
 * libtensorflow archives (`libtensorflow`).
 */
const CC_NAMES = ['libtensorflow_cc', 'libtensorflow'];
const FRAMEWORK_NAME = 'libtensorflow_framework';

/** File name of a library: macOS puts the version before the ending. */
function fileName(name: string): string {
  return process.platform === 'darwin' ? `${name}.2.dylib` : `${name}.so.2`;
}

/** The names that people look for in a message. */
export function libraryNames(): string {
  return `${fileName('libtensorflow_cc')} and ${fileName(FRAMEWORK_NAME)}`;
}

/** Paths of both libraries, or undefined if the directory lacks one of them or is none. */
export async function librariesIn(
  directory: string,
): Promise<{ readonly cc: string; readonly framework: string } | undefined> {
  const names = await readdir(directory).catch((): string[] => []);
  const cc = CC_NAMES.map(fileName).find((name) => names.includes(name));
  const framework = fileName(FRAMEWORK_NAME);
  if (cc === undefined || !names.includes(framework)) return undefined;
  return { cc: join(directory, cc), framework: join(directory, framework) };
}
