/** Finds the models of an unpacked archive, in any layout that the AWS container accepted. */
import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { comparePaths } from '@sagemaker-tfs/manifest/path-order';
import { versionOf } from '@sagemaker-tfs/manifest/version';
import { StartError } from '../errors.ts';

/** One model: a directory whose numeric children each hold a SavedModel. */
export interface DiscoveredModel {
  readonly name: string;
  /** TensorFlow Serving's `base_path`, absolute. */
  readonly basePath: string;
  /** Decimal digits without leading zeros, ascending. */
  readonly versions: readonly string[];
}

const SAVED_MODEL_FILES = new Set(['saved_model.pb', 'saved_model.pbtxt']);

/** Name of a model whose versions lie directly in the model directory, as SageMaker's `/opt/ml/model`. */
export const ROOT_MODEL_NAME = 'model';

/**
 * Models below `modelDir`, in the order of their paths: any depth of directories above a numeric version
 * directory that holds a SavedModel. A model is named by the directory above its versions. Links to directories
 * are followed, but for those to a directory that they lie in. `code/`, where the handler lies, and versions are not
 * searched.
 * @throws StartError MODELS_INVALID if there is none, or two have the same name
 */
export async function discoverModels(modelDir: string): Promise<DiscoveredModel[]> {
  const found = await savedModelDirs(modelDir, modelDir, []);
  const byBase = new Map<string, Set<bigint>>();
  for (const directory of found) {
    const version = versionOf(basename(directory));
    if (version === undefined) continue;
    const base = dirname(directory);
    const versions = byBase.get(base) ?? new Set();
    byBase.set(base, versions.add(version));
  }
  if (byBase.size === 0) throw new StartError('MODELS_INVALID', nothingFound(modelDir, found));
  const bases = [...byBase].sort(([a], [b]) => comparePaths(a, b));
  const models = bases.map(([basePath, versions]) => ({
    name: basePath === modelDir ? ROOT_MODEL_NAME : basename(basePath),
    basePath,
    versions: [...versions].sort((a, b) => (a < b ? -1 : 1)).map(String),
  }));
  refuseDuplicates(models);
  return models;
}

/** @param linksIn real paths of the directories whose links led here */
async function savedModelDirs(
  directory: string,
  root: string,
  linksIn: readonly string[],
): Promise<string[]> {
  const entries = await entriesOf(directory);
  const isOne = entries.some((entry) => SAVED_MODEL_FILES.has(entry.name));
  // What lies in a version is its own.
  if (isOne && versionOf(basename(directory)) !== undefined) return [directory];
  // Side by side: a directory of many versions would wait for the disk once for each.
  const below = await Promise.all(
    entries
      .filter(({ name }) => directory !== root || name !== 'code')
      .map((entry) => savedModelDirsIn(directory, entry, root, linksIn)),
  );
  return [...(isOne ? [directory] : []), ...below.flat()];
}

async function savedModelDirsIn(
  directory: string,
  entry: Dirent,
  root: string,
  linksIn: readonly string[],
): Promise<string[]> {
  const path = join(directory, entry.name);
  if (entry.isDirectory()) return savedModelDirs(path, root, linksIn);
  if (!entry.isSymbolicLink()) return [];
  const links = [...linksIn, await realpath(directory)];
  return (await leadsOn(path, links)) ? savedModelDirs(path, root, links) : [];
}

/** Whether a link is one to a directory that is not above the links on the way: that would have no end. */
async function leadsOn(link: string, linksIn: readonly string[]): Promise<boolean> {
  try {
    const target = await realpath(link);
    const below = target.endsWith(sep) ? target : `${target}${sep}`;
    if (linksIn.some((directory) => `${directory}${sep}`.startsWith(below))) return false;
    return (await stat(target)).isDirectory();
  } catch {
    // A link to nothing.
    return false;
  }
}

async function entriesOf(directory: string): Promise<Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code;
    throw new StartError(
      'MODELS_INVALID',
      `the model directory ${directory} cannot be read (${reason}). SAGEMAKER_TFS_MODEL_DIR names the unpacked archive.`,
      { cause },
    );
  }
}

function nothingFound(modelDir: string, savedModels: readonly string[]): string {
  const misplaced = savedModels[0];
  if (misplaced === undefined) {
    return `no SavedModel below ${modelDir}. It needs <version>/saved_model.pb, for example 1/saved_model.pb.`;
  }
  return `${misplaced} holds a SavedModel but its name is not a version number. Move it to ${join(misplaced, '1')}.`;
}

function refuseDuplicates(models: readonly DiscoveredModel[]): void {
  const paths = new Map<string, string>();
  for (const { name, basePath } of models) {
    const other = paths.get(name);
    if (other) {
      throw new StartError(
        'MODELS_INVALID',
        `two models are named "${name}": ${other} and ${basePath}. Rename one of the directories.`,
      );
    }
    paths.set(name, basePath);
  }
}
