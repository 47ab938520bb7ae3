/** Which model server a run on this machine uses: TensorFlow's own where installed, else ours. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { roomDirectory } from '../files.ts';
import { libraryHere } from './library.ts';

const PROGRAM = 'tensorflow_model_server';
const TCP = 'SAGEMAKER_TFS_MODEL_SERVER_TCP';

/** Where `tensorflow_model_server` comes from. */
export interface ModelServerChoice {
  readonly kind: 'tensorflow-serving' | 'local-model-server' | 'in-process';
  /** Path of the program, or of the library if there is none. */
  readonly program: string;
  /** PATH under which the runtime finds it by name. */
  readonly path: string;
  /** Further environment for the runtime. */
  readonly environment: Readonly<Record<string, string>>;
}

/** TensorFlow's library inside the runtime instead of a model server. */
export async function chooseInProcess(signal?: AbortSignal): Promise<ModelServerChoice> {
  const { directory } = await libraryHere(signal);
  return {
    kind: 'in-process',
    program: directory,
    path: process.env.PATH ?? '',
    environment: { LIBTENSORFLOW_PATH: directory },
  };
}

/**
 * Picks TensorFlow Serving from PATH, else the local model server; the latter gets libtensorflow first,
 * with a progress bar on stderr where it must be fetched.
 * @throws LibTensorFlowError if libtensorflow can be neither found nor fetched
 */
export async function chooseModelServer(
  searchPath = process.env.PATH ?? '',
  signal?: AbortSignal,
): Promise<ModelServerChoice> {
  const installed = findOnPath(searchPath);
  if (installed) {
    return { kind: 'tensorflow-serving', program: installed, path: searchPath, environment: {} };
  }
  const library = await libraryHere(signal);
  const directory = join(roomDirectory('local-model-server'), 'bin');
  return {
    kind: 'local-model-server',
    program: join(directory, PROGRAM),
    path: `${directory}${delimiter}${searchPath}`,
    environment: { LIBTENSORFLOW_PATH: library.directory },
  };
}

/**
 * TensorFlow Serving binds its ports to all addresses, which no flag changes. Over its Unix socket it needs none, so it
 * gets none unless the environment asks for them. Ours listens on loopback.
 */
export function portSettings(
  { kind }: Pick<ModelServerChoice, 'kind'>,
  environment: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> {
  const needsNone = environment.SAGEMAKER_TFS_BACKEND !== 'rest' && environment[TCP] === undefined;
  return kind === 'tensorflow-serving' && needsNone ? { [TCP]: 'false' } : {};
}

/** Whether a runtime with these variables has a model server that other machines reach. */
export function opensModelServer(environment: NodeJS.ProcessEnv): boolean {
  if (environment.SAGEMAKER_TFS_BACKEND === 'in-process') return false;
  if (findOnPath(environment.PATH ?? '') === undefined) return false;
  const settings = portSettings({ kind: 'tensorflow-serving' }, environment);
  return { ...settings, ...environment }[TCP] !== 'false';
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
