/** Turns whatever names a model into a directory: a directory, an archive, an S3 URI, a Keras file. */
import { mkdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { PackagingError } from '../errors.ts';
import { convertKeras } from './convert-keras.ts';
import { discoverModels, type ModelSource } from './discover.ts';
import { extractArchive } from './extract.ts';
import { extractZip } from './extract-zip.ts';
import type { OpenOptions } from './open-options.ts';
import type { OpenedSource } from './opened-source.ts';
import { fetchFromS3, isS3Uri } from './s3.ts';
import { type Workspace, withWorkspace } from './workspace.ts';

const TAR = /\.(tar\.gz|tgz|tar)$/i;
const ZIP = /\.zip$/i;
const KERAS = /\.(keras|h5|hdf5)$/i;

/** Opens a source and finds its models; what had to be unpacked is removed after `use`. @throws PackagingError */
export async function withSource<T>(
  source: string,
  options: OpenOptions,
  use: (opened: OpenedSource & { models: ModelSource[] }) => Promise<T>,
): Promise<T> {
  return withWorkspace(async (workspace) => {
    const opened = await openSource(source, workspace, options);
    return use({ ...opened, models: discoverModels(opened) });
  });
}

/**
 * The directory that a source names. Archives are unpacked, S3 objects fetched and Keras files converted
 * into the workspace.
 * @throws PackagingError SOURCE_NOT_FOUND, CORRUPT_FILE, UNSAFE_PATH, S3_FAILED, PYTHON_TENSORFLOW and more
 */
export async function openSource(
  source: string,
  workspace: Workspace,
  options: OpenOptions,
): Promise<OpenedSource> {
  if (isS3Uri(source)) {
    const folder = await workspace.folder('s3');
    const fetched = await fetchFromS3(source, folder, options);
    workspace.rename(fetched, source.replace(/\/$/, ''));
    return openSource(fetched, workspace, options);
  }
  if (source === '') {
    // Else an unset variable in a script would mean the working directory.
    throw new PackagingError('SOURCE_NOT_FOUND', 'the name of the source is empty. Give one.');
  }
  const path = resolve(source);
  const found = await stat(path).catch(() => undefined);
  if (!found) {
    throw new PackagingError(
      'SOURCE_NOT_FOUND',
      `${source} does not exist. Give the directory of a SavedModel, a .tar.gz or .zip, a .keras or .h5 file, or an s3:// URI.`,
    );
  }
  const name = basename(path);
  if (found.isDirectory()) return { directory: path, name };
  if (KERAS.test(name)) return openKeras(path, workspace, options);
  if (name === 'saved_model.pb' || name === 'saved_model.pbtxt') {
    return openSource(join(path, '..'), workspace, options);
  }
  return openArchive(path, workspace);
}

async function openArchive(path: string, workspace: Workspace): Promise<OpenedSource> {
  const name = basename(path);
  const kind = TAR.test(name) ? TAR : ZIP.test(name) ? ZIP : undefined;
  if (!kind) {
    throw new PackagingError(
      'SOURCE_NOT_FOUND',
      `${path} is a file of unknown kind. Give the directory of a SavedModel, a .tar.gz or .zip, a .keras or .h5 file, or an s3:// URI.`,
    );
  }
  const stem = name.replace(kind, '');
  const directory = await workspace.folder('unpacked');
  await mkdir(directory);
  workspace.rename(directory, path);
  await (kind === TAR ? extractArchive : extractZip)(path, directory);
  return { directory, name: stem, isUnpacked: true };
}

/** A Keras file becomes version 1 of a model of its name. */
async function openKeras(
  path: string,
  workspace: Workspace,
  options: OpenOptions,
): Promise<OpenedSource> {
  const name = basename(path).replace(KERAS, '');
  const directory = await workspace.folder('converted');
  await mkdir(directory);
  workspace.rename(directory, path);
  await convertKeras(path, join(directory, '1'), options);
  return { directory, name };
}
