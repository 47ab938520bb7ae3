/** Which model server a run on this machine uses: TensorFlow's own where installed, else ours. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureLibrary, progressBar } from '@sagemaker-tfs/libtensorflow';
import { roomDirectory } from '../files.ts';

const PROGRAM = 'tensorflow_model_server';

/** Where `tensorflow_model_server` comes from. */
export interface ModelServerChoice {
  readonly kind: 'tensorflow-serving' | 'local-model-server' | 'in-process';
  /** Path of the program, or of the library where there is none. */
  readonly program: string;
  /** PATH under which the runtime finds it by name. */
  readonly path: string;
  /** Further environment for the runtime. */
  readonly environment: Readonly<Record<string, string>>;
}

/** TensorFlow's library inside the runtime instead of a model server. */
export async function chooseInProcess(): Promise<ModelServerChoice> {
  const { directory } = await fetchLibrary();
  return {
    kind: 'in-process',
    program: directory,
    path: process.env.PATH ?? '',
    environment: { LIBTENSORFLOW_PATH: directory },
  };
}

async function fetchLibrary() {
  const bar = progressBar();
  return ensureLibrary({ onProgress: bar.onProgress }).finally(bar.stop);
}

/**
 * Picks TensorFlow Serving from PATH, else the local model server; the latter gets libtensorflow first,
 * with a progress bar on stderr where it must be fetched.
 * @throws LibTensorFlowError where libtensorflow can be neither found nor fetched
 */
export async function chooseModelServer(
  searchPath = process.env.PATH ?? '',
): Promise<ModelServerChoice> {
  const installed = findOnPath(searchPath);
  if (installed) {
    return { kind: 'tensorflow-serving', program: installed, path: searchPath, environment: {} };
  }
  const library = await fetchLibrary();
  const directory = join(roomDirectory('local-model-server'), 'bin');
  return {
    kind: 'local-model-server',
    program: join(directory, PROGRAM),
    path: `${directory}${delimiter}${searchPath}`,
    environment: { LIBTENSORFLOW_PATH: library.directory },
  };
}

/** The first `tensorflow_model_server` on a search path. */
export function findOnPath(searchPath: string): string | undefined {
  return searchPath
    .split(delimiter)
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, PROGRAM))
    .find((candidate) => {
      try {
        accessSync(candidate, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
