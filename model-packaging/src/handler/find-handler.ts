/** Finds the handler that comes with a source, and refuses handlers that would silently be ignored. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PackagingError } from '../errors.ts';
import { shellWord } from '../shell-word.ts';
import type { ModelSource } from '../source/discover.ts';
import { pythonAdvice } from './bundle.ts';

const NAMES = ['inference.ts', 'inference.mts', 'inference.mjs', 'inference.js'];

/**
 * The handler to bundle: the one given, in place of whatever the source has; else `code/inference.ts` (or .mts, .mjs, .js)
 * of the source.
 * @throws PackagingError of the source alone: PYTHON_HANDLER for `inference.py`, BAD_OPTION for a handler in a wrong folder
 */
export function findHandler(
  given: string | undefined,
  root: string,
  models: readonly ModelSource[],
): string | undefined {
  if (given !== undefined) return given;
  const versions = models.flatMap((model) => model.versions.map(({ directory }) => directory));
  const folders = [root, ...versions];
  for (const folder of folders) {
    for (const path of [join(folder, 'code', 'inference.py'), join(folder, 'inference.py')]) {
      if (existsSync(path)) throw new PackagingError('PYTHON_HANDLER', pythonAdvice(path));
    }
  }
  const inCode = NAMES.map((name) => join(root, 'code', name)).find((path) => existsSync(path));
  if (inCode !== undefined) return inCode;
  const wrongPlaces = [...folders, ...versions.map((directory) => join(directory, 'code'))];
  for (const folder of wrongPlaces) {
    const misplaced = NAMES.map((name) => join(folder, name)).find((path) => existsSync(path));
    if (misplaced === undefined) continue;
    if (existsSync(join(folder, 'package.json'))) {
      const [model = folder] = versions;
      throw new PackagingError(
        'BAD_OPTION',
        `${folder} is a project that holds a model. Name the model and the handler: ${shellWord(model)} --handler ${shellWord(misplaced)}.`,
      );
    }
    throw new PackagingError(
      'BAD_OPTION',
      `${misplaced} lies where no handler is looked for and would be ignored. Move it to ${join(root, 'code')}/, or name it with --handler.`,
    );
  }
  return undefined;
}
