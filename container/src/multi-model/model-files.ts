/** Checks the files of a model before any of them is opened. */
import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { ServingError } from '../errors.ts';

/**
 * Models of one endpoint may be from different people: a link must not lead to the files of another. Pipes and devices
 * are refused because opening them may wait for ever.
 * @param directory without links on its way
 * @throws ServingError BAD_ARCHIVE for a link that leads out of the directory or nowhere, a pipe, socket or device
 */
export async function checkModelFiles(directory: string): Promise<void> {
  for (const entry of await entriesBelow(directory)) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() || entry.isDirectory()) continue;
    if (entry.isSymbolicLink() && (await leadsInside(path, directory))) continue;
    const what = entry.isSymbolicLink()
      ? 'a link that leads out of the model, or nowhere'
      : 'a pipe, a socket or a device';
    throw new ServingError(
      'BAD_ARCHIVE',
      `${relative(directory, path)} is ${what}. Package files only (tar czhf follows links).`,
    );
  }
}

async function entriesBelow(directory: string): Promise<Dirent[]> {
  try {
    return await readdir(directory, { recursive: true, withFileTypes: true });
  } catch (cause) {
    const { message } = cause as Error;
    throw new ServingError('BAD_ARCHIVE', `the model cannot be read: ${message}`, { cause });
  }
}

async function leadsInside(link: string, directory: string): Promise<boolean> {
  const target = await realpath(link).catch(() => '');
  return `${target}${sep}`.startsWith(`${directory}${sep}`);
}
