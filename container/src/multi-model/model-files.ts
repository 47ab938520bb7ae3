/** Walks the files of a model before any of them is opened. */
import type { Dir, Dirent } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { MAX_ENTRIES } from '@sagemaker-tfs/manifest/entries';
import { ServingError } from '../errors.ts';

/**
 * Models of one endpoint may be from different people: a link must not lead to the files of another. Pipes and devices
 * are refused because opening them may wait for ever.
 * @param directory without links on its way
 * @throws ServingError BAD_ARCHIVE for a link that leads out of the directory or nowhere, a pipe, socket or device,
 *   and for too many files
 * @returns the files by their paths, with their bytes
 */
export async function checkModelFiles(directory: string): Promise<ReadonlyMap<string, number>> {
  const files = new Map<string, number>();
  const links: string[] = [];
  const targets = new Set<string>();
  for await (const entry of entriesBelow(directory)) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(path, await sizeOf(path));
    if (entry.isFile() || entry.isDirectory()) continue;
    const target = entry.isSymbolicLink() ? await targetInside(path, directory) : undefined;
    if (target !== undefined) {
      links.push(path);
      targets.add(target);
      continue;
    }
    const what = entry.isSymbolicLink()
      ? 'a link that leads out of the model, or nowhere'
      : 'a pipe, a socket or a device';
    throw new ServingError(
      'BAD_ARCHIVE',
      `${relative(directory, path)} is ${what}. Package files only (tar czhf follows links).`,
    );
  }
  refuseWaysWithoutEnd(links, targets, directory);
  return files;
}

/** 0 for a name that is not UTF-8, which nothing here can open. */
function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

async function* entriesBelow(directory: string): AsyncGenerator<Dirent, void> {
  const waiting = [directory];
  // Their number alone must not keep others waiting.
  let entries = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for await (const entry of await opened(folder)) {
      if (++entries > MAX_ENTRIES) throw tooMany();
      if (entry.isDirectory()) waiting.push(join(folder, entry.name));
      yield entry;
    }
  }
}

async function opened(folder: string): Promise<Dir> {
  try {
    return await opendir(folder);
  } catch (cause) {
    const { message } = cause as Error;
    throw new ServingError('BAD_ARCHIVE', `the model cannot be read: ${message}`, { cause });
  }
}

function tooMany(): ServingError {
  return new ServingError(
    'BAD_ARCHIVE',
    `the model has more than ${MAX_ENTRIES} files and folders. Package the SavedModel alone.`,
  );
}

async function targetInside(link: string, directory: string): Promise<string | undefined> {
  const target = await realpath(link).catch(() => '');
  return `${target}${sep}`.startsWith(`${directory}${sep}`) ? target : undefined;
}

/** TensorFlow follows links as it walks: one below the target of another may lead round, or double the way each time. */
function refuseWaysWithoutEnd(
  links: readonly string[],
  targets: ReadonlySet<string>,
  directory: string,
): void {
  for (const link of links) {
    for (let above = dirname(link); above.startsWith(directory); above = dirname(above)) {
      if (!targets.has(above)) continue;
      throw new ServingError(
        'BAD_ARCHIVE',
        `${relative(directory, link)} is a link in a folder that a link leads to. Package files only (tar czhf follows links).`,
      );
    }
  }
}
