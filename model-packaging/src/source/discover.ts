/** Finds the models and versions in a directory: `saved_model.pb` in directories whose names are numbers. */
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { inPackagedOrder } from '@sagemaker-tfs/manifest/packaged-order';
import { comparePaths } from '@sagemaker-tfs/manifest/path-order';
import { versionOf } from '@sagemaker-tfs/manifest/version';
import { PackagingError } from '../errors.ts';
import { isInside, listNames, resolveLink } from '../files/walk.ts';
import { notASavedModel } from '../saved-model/saved-model.ts';
import { manifestIn } from './manifest-in.ts';
import { listed, nameEach } from './name-each.ts';
import { NOT_SEARCHED, noModelBelow } from './near-misses.ts';
import type { OpenedSource } from './opened-source.ts';

/** One version of a model. */
export interface VersionSource {
  /** Decimal digits without leading zeros; int64, may exceed 2^53. */
  readonly version: string;
  /** Holds `saved_model.pb`. */
  readonly directory: string;
}

/** One model with its versions, oldest first. */
export interface ModelSource {
  /** Name of the directory above the versions. */
  readonly name: string;
  readonly versions: readonly VersionSource[];
}

const VERSION = /^\d+$/;

/** The deepest directory below a source in which a SavedModel is looked for (`export/Servo/1` is at 3). */
const MAX_DEPTH = 16;

/** So far below a link to elsewhere a SavedModel is looked for (`digits -> /models/digits`, with `export/1`). */
const LINK_DEPTH = 2;

/**
 * The models in a source. It may be a version directory (TF-Hub style: no number needed, the version
 * is then 1), a directory of versions, or any depth of directories above such. Those of an archive come in the order in
 * which they were packaged, others in that of their paths.
 * @throws PackagingError NOT_A_SAVED_MODEL, TEXT_FORMAT or BAD_VERSION, naming the path
 */
export function discoverModels(source: OpenedSource): ModelSource[] {
  const { name: rootName } = source;
  const absolute = resolve(source.directory);
  if (!isSavedModel(absolute)) return discoverBelow({ ...source, directory: absolute });
  const isVersion = VERSION.test(rootName);
  const version = isVersion ? parseVersion(absolute) : '1';
  const name = isVersion ? basename(dirname(absolute)) : rootName;
  return [{ name, versions: [{ version, directory: absolute }] }];
}

function discoverBelow(source: OpenedSource): ModelSource[] {
  const { directory: root } = source;
  const savedModels = withoutLinked(findSavedModels(root, 0, realpathSync(root)));
  if (savedModels.length === 0) throw noModelBelow(root, MAX_DEPTH);
  requireVersions(source, savedModels);
  const parents = new Map<string, VersionSource[]>();
  for (const directory of savedModels) {
    const parent = dirname(directory);
    const versions = parents.get(parent) ?? [];
    const version = parseVersion(directory);
    const twin = versions.find((other) => other.version === version);
    if (twin) {
      throw new PackagingError(
        'BAD_VERSION',
        `${directory} and ${twin.directory} are both version ${version}. Rename or remove one.`,
      );
    }
    versions.push({ version, directory });
    parents.set(parent, versions);
  }
  return nameModels(parents, source);
}

/** @throws PackagingError BAD_VERSION for several models side by side, none of them in a version directory */
function requireVersions(source: OpenedSource, savedModels: readonly string[]): void {
  const { directory: root } = source;
  const isVersion = (path: string) => VERSION.test(basename(path));
  if (savedModels.length < 2 || savedModels.some(isVersion)) return;
  throw new PackagingError(
    'BAD_VERSION',
    `${root} holds ${savedModels.length} SavedModels, but none in a version directory such as 1: ${listed(root, savedModels)}. ${nameEach(source, savedModels)}`,
  );
}

/** Without the directories that a version among them links to (`1 -> run-a`): they are that version. */
function withoutLinked(savedModels: readonly string[]): string[] {
  const linked = new Set(
    savedModels
      .filter((path) => lstatSync(path).isSymbolicLink())
      .map((path) => realpathSync(path)),
  );
  return savedModels.filter(
    (path) => VERSION.test(basename(path)) || !linked.has(realpathSync(path)),
  );
}

function nameModels(
  parents: ReadonlyMap<string, VersionSource[]>,
  source: OpenedSource,
): ModelSource[] {
  const models = [...parents].map(([parent, versions]) => ({
    name: parent === source.directory ? source.name : basename(parent),
    parent,
    versions: versions.sort((a, b) => (BigInt(a.version) < BigInt(b.version) ? -1 : 1)),
  }));
  models.sort((a, b) => comparePaths(a.parent, b.parent));
  const twin = models.find(({ name }, i) => models.findIndex((m) => m.name === name) < i);
  if (twin) {
    const same = models.filter(({ name }) => name === twin.name).map(({ parent }) => parent);
    throw new PackagingError(
      'BAD_OPTION',
      `${source.directory} holds several models named '${twin.name}': ${listed(source.directory, same)}. ${nameEach(source, same)}`,
    );
  }
  const packaged = models.length > 1 ? manifestIn(source.directory)?.models : undefined;
  return inPackagedOrder(models, packaged).map(({ name, versions }) => ({ name, versions }));
}

/** @throws PackagingError if one version holds a model and the one beside it does not */
function findSavedModels(directory: string, depth: number, boundary: string): string[] {
  if (isSavedModel(directory)) return [directory];
  const found: string[] = [];
  if (depth === MAX_DEPTH) return found;
  let gap: string | undefined;
  for (const name of namesBelow(directory, depth)) {
    const path = join(directory, name);
    if (!existsSync(path) || !statSync(path).isDirectory() || isIdleLink(path, boundary)) continue;
    const below = findSavedModels(path, depth + 1, boundary);
    for (const one of below) found.push(one);
    if (below.length === 0 && VERSION.test(name)) gap ??= path;
  }
  const hasVersions = found.some((path) => dirname(path) === directory);
  if (gap !== undefined && hasVersions) throw notASavedModel(gap);
  return found;
}

/**
 * Folders that may not be read are passed over, but for the source itself and for versions; so are those of
 * {@link NOT_SEARCHED}.
 */
function namesBelow(directory: string, depth: number): string[] {
  try {
    return listNames(directory).filter((name) => !NOT_SEARCHED.test(name));
  } catch (error) {
    const isUnreadable = error instanceof PackagingError && error.code === 'SOURCE_NOT_FOUND';
    if (!isUnreadable || depth === 0 || VERSION.test(basename(directory))) throw error;
    return [];
  }
}

/**
 * True for links that are not models: those to what is found without them (`latest -> 3`), and those
 * elsewhere that lead to no model.
 * @throws PackagingError UNSAFE_PATH for a version or a model that is a link out of the source
 */
function isIdleLink(path: string, boundary: string): boolean {
  if (!lstatSync(path).isSymbolicLink()) return false;
  const isVersion = VERSION.test(basename(path));
  const isElsewhere = !isInside(realpathSync(path), boundary);
  if (isElsewhere && !isVersion && !leadsToModel(path, LINK_DEPTH)) return true;
  resolveLink(path, boundary);
  return !isVersion;
}

function leadsToModel(directory: string, depth: number): boolean {
  if (isSavedModel(directory)) return true;
  if (depth === 0) return false;
  return namesBelow(directory, 1).some((name) => {
    const path = join(directory, name);
    // What a link leads to is not ours, and may go meanwhile.
    const isDirectory = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    return isDirectory && leadsToModel(path, depth - 1);
  });
}

/** True for a directory that is or claims to be a SavedModel. @throws PackagingError TEXT_FORMAT */
function isSavedModel(directory: string): boolean {
  if (existsSync(join(directory, 'saved_model.pb'))) return true;
  if (existsSync(join(directory, 'saved_model.pbtxt'))) throw notASavedModel(directory);
  return false;
}

/** The version that a directory's name says, leading zeros dropped as TensorFlow Serving does. */
function parseVersion(directory: string): string {
  const name = basename(directory);
  if (!VERSION.test(name)) {
    throw new PackagingError(
      'BAD_VERSION',
      `${directory} holds a SavedModel, but its name '${name}' is not a version number. TensorFlow Serving loads only directories named with digits: give this directory itself, or rename it, for example to 1.`,
    );
  }
  const version = versionOf(name);
  if (version === undefined) {
    throw new PackagingError(
      'BAD_VERSION',
      `${directory}: version ${name} is larger than TensorFlow Serving allows (2^63 - 1). Rename it.`,
    );
  }
  return version.toString();
}
