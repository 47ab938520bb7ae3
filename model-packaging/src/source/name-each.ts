/** What to do with a source of several models whose names do not distinguish them. */
import { relative } from 'node:path';
import { shellWord } from '../shell-word.ts';
import type { OpenedSource } from './opened-source.ts';

/** Models that a message names at most. */
const MAX_TOLD = 4;

/**
 * Advises to pass one model, or to name each with `--model`. An archive has to be unpacked first: no source names a
 * part of one.
 * @param directories of the models, below the source
 */
export function nameEach(
  { directory: root, isUnpacked }: OpenedSource,
  directories: readonly string[],
): string {
  const options = directories.slice(0, MAX_TOLD).map((directory) => {
    const source = isUnpacked ? relative(root, directory) || '.' : directory;
    return `--model ${shellWord(`${nameFor(root, directory)}=${source}`)}`;
  });
  const more = directories.length > MAX_TOLD ? ' ...' : '';
  const first = isUnpacked ? 'Unpack the archive, then give one of them.' : 'Give one of them.';
  return `${first} To package all in one archive, name each: sagemaker-tfs package ${options.join(' ')}${more} --out model.tar.gz`;
}

/** The first directories, as they are below the root. */
export function listed(root: string, directories: readonly string[]): string {
  const told = directories.slice(0, MAX_TOLD).map((path) => `'${relative(root, path) || '.'}'`);
  const rest = directories.length - told.length;
  return `${told.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** A name that can be served, and differs where the paths differ. */
function nameFor(root: string, directory: string): string {
  const name = relative(root, directory).replace(/[^A-Za-z0-9._]+/g, '-');
  return name.replace(/^[^A-Za-z0-9]+|-+$/g, '') || 'model';
}
