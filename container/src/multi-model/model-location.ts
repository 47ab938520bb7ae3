/** Checks the name and the place of a model before anything is loaded from it. */
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { ServingError } from '../errors.ts';

/** Names as SageMaker makes them, hashes; whatever could leave a directory or a URL is refused. */
const NAME = /^[A-Za-z0-9][\w.-]{0,255}$/;

/** Whether a model may have this name. */
export function isModelName(name: string): boolean {
  return NAME.test(name);
}

/** @throws ServingError BAD_REQUEST */
export function checkModelName(name: string): void {
  if (isModelName(name)) return;
  throw new ServingError(
    'BAD_REQUEST',
    `"${name}" is not a model name. Use letters, digits, ".", "_" and "-", beginning with a letter or digit.`,
  );
}

/**
 * The real path of a model's directory, symbolic links followed.
 * @throws ServingError BAD_REQUEST if it leads out of `root`, MODEL_NOT_FOUND if it does not exist
 */
export async function locateModel(name: string, url: string, root: string): Promise<string> {
  const path = resolve(root, url.replace(/^file:\/\//, ''));
  if (!isInside(path, root)) throw outside(url, root);
  let directory: string;
  try {
    directory = await realpath(path);
  } catch (cause) {
    const message = `Could not find valid base path ${url} for servable ${name}: there is no such directory`;
    throw new ServingError('MODEL_NOT_FOUND', message, { cause });
  }
  if (!isInside(directory, await realpath(root))) throw outside(url, root);
  return directory;
}

function isInside(path: string, root: string): boolean {
  const fromRoot = relative(root, path);
  return fromRoot !== '' && !fromRoot.startsWith('..') && !isAbsolute(fromRoot);
}

function outside(url: string, root: string): ServingError {
  return new ServingError('BAD_REQUEST', `the url "${url}" does not lie inside ${root}`);
}
