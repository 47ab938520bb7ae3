/** What to do with a source of several models that cannot be told apart by name. */
import { relative } from 'node:path';
import { shellWord } from '../render/shell-word.ts';

/** Models that a message names at most. */
const MAX_TOLD = 4;

/**
 * The advice to name each model, as a command to copy.
 * @param directories of the models, below `root`
 */
export function nameEach(root: string, directories: readonly string[]): string {
  const options = directories
    .slice(0, MAX_TOLD)
    .map((directory) => `--model ${shellWord(`${nameFor(root, directory)}=${directory}`)}`);
  const more = directories.length > MAX_TOLD ? ' ...' : '';
  return `Give one of them, or name each: sagemaker-tfs package ${options.join(' ')}${more} --out model.tar.gz`;
}

/** A name that can be served, and differs where the paths differ. */
function nameFor(root: string, directory: string): string {
  const name = relative(root, directory).replace(/[^A-Za-z0-9._]+/g, '-');
  return name.replace(/^[^A-Za-z0-9]+|-+$/g, '') || 'model';
}
