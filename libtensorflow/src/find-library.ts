/** Finds a libtensorflow that is already on the machine. */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { LibTensorFlowError } from './errors.ts';
import { cachedLibrary } from './fetch/cache.ts';
import { type LibraryLocation, librariesIn, libraryNames } from './library-location.ts';

const run = promisify(execFile);

/**
 * Says where an installed TensorFlow lies without importing it (an import takes seconds). The current
 * directory leaves the path first: a folder named `tensorflow` there is not the package.
 */
const PYTHON_PROBE = `
import importlib.metadata, importlib.util, json, sys
sys.path[:] = [p for p in sys.path if p not in ('', '.')]
spec = importlib.util.find_spec('tensorflow')
version = None
for name in ('tensorflow', 'tensorflow-cpu', 'tensorflow-intel', 'tensorflow-cpu-aws', 'tensorflow-macos'):
    try:
        version = importlib.metadata.version(name)
        break
    except importlib.metadata.PackageNotFoundError:
        pass
folders = list(spec.submodule_search_locations or []) if spec else []
print(json.dumps({'folders': folders, 'version': version}))
`;

/** Longest wait for a Python to answer, in milliseconds. */
const PYTHON_TIMEOUT = 20_000;

/**
 * Looks at the environment variable `LIBTENSORFLOW_PATH` (a directory, or the library's file), then in
 * this package's cache, then for an installed Python TensorFlow.
 *
 * @param signal ends the search
 * @returns undefined if there is none
 * @throws LibTensorFlowError LIBRARY_NOT_FOUND if LIBTENSORFLOW_PATH is set and holds no library, or if the
 * search was interrupted; the reason of `signal` where it aborted
 */
export async function findLibrary(signal?: AbortSignal): Promise<LibraryLocation | undefined> {
  const named = process.env.LIBTENSORFLOW_PATH;
  if (named) return namedLibrary(named);
  return (await cachedLibrary()) ?? (await pythonLibrary(signal));
}

async function namedLibrary(named: string): Promise<LibraryLocation> {
  const path = resolve(named);
  const stats = await stat(path).catch(() => undefined);
  const directory = stats?.isFile() ? dirname(path) : path;
  const libraries = stats && (await librariesIn(directory));
  if (!libraries) {
    throw new LibTensorFlowError(
      'LIBRARY_NOT_FOUND',
      `LIBTENSORFLOW_PATH is set to ${named}, which ${
        stats ? `does not hold ${libraryNames()} side by side` : 'does not exist'
      }. Set it to the directory that holds them, or unset it to have the library found or fetched.`,
    );
  }
  return { directory, ...libraries, version: undefined, source: 'LIBTENSORFLOW_PATH' };
}

async function pythonLibrary(signal?: AbortSignal): Promise<LibraryLocation | undefined> {
  for (const python of ['python3', 'python']) {
    const { folders, version } = await askPython(python, signal);
    for (const directory of folders) {
      const libraries = await librariesIn(directory);
      if (libraries) return { directory, ...libraries, version, source: 'python' };
    }
  }
  return undefined;
}

/** Ctrl-C reaches every process of the terminal, so also the Python that is asked. */
const INTERRUPTIONS: readonly unknown[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** A Python that is missing, too old or broken is the same as one without TensorFlow; one that is interrupted is not. */
async function askPython(
  python: string,
  signal?: AbortSignal,
): Promise<{ folders: readonly string[]; version: string | undefined }> {
  try {
    const { stdout } = await run(python, ['-c', PYTHON_PROBE], {
      timeout: PYTHON_TIMEOUT,
      // Node's default is the process's environment, which under jest is not the one that a test sets.
      env: process.env,
      ...(signal && { signal }),
    });
    const answer = JSON.parse(stdout) as { folders: string[]; version: string | null };
    return { folders: answer.folders, version: answer.version ?? undefined };
  } catch (error) {
    signal?.throwIfAborted();
    const { killed, signal: endedBy } = error as { killed?: boolean; signal?: unknown };
    // One that is too slow is killed by Node.
    if (!killed && INTERRUPTIONS.includes(endedBy)) {
      throw new LibTensorFlowError(
        'LIBRARY_NOT_FOUND',
        `${python} was ended by ${endedBy} while it was asked where TensorFlow is. Try again.`,
      );
    }
    return { folders: [], version: undefined };
  }
}
