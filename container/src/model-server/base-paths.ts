/**
 * Base paths of our own, with links to the versions where they lie: TensorFlow Serving loads nothing any more, of no
 * model, where one base path is gone (file_system_storage_path_source.cc), and SageMaker removes what it unloads.
 */
import { mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServedModel } from '../models/served-model.ts';
import { versionDirectories } from '../models/version-directories.ts';

/**
 * The models with base paths in `root`, made where they are not there yet. A link is not followed by the looks for
 * versions: where what it leads to is gone, only its own model cannot be loaded.
 */
export async function linkBasePaths(
  root: string,
  models: readonly ServedModel[],
): Promise<ServedModel[]> {
  return Promise.all(models.map((model) => linkBasePath(join(root, model.name), model)));
}

/** Removes the base paths of all other models, so that one may come back from somewhere else. */
export async function unlinkOthers(root: string, models: readonly ServedModel[]): Promise<void> {
  const names = new Set(models.map(({ name }) => name));
  const others = (await readdir(root).catch(() => [])).filter((name) => !names.has(name));
  await Promise.all(others.map((name) => rm(join(root, name), { recursive: true, force: true })));
}

async function linkBasePath(directory: string, model: ServedModel): Promise<ServedModel> {
  const isNew = (await mkdir(directory, { recursive: true })) !== undefined;
  if (isNew) {
    const versions = await versionDirectories(model);
    await Promise.all(
      versions.map(({ version, path }) => symlink(path, join(directory, `${version}`))),
    );
  }
  return { ...model, basePath: directory };
}
