/** A file of a result: whole or not at all. */
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { cannotWrite, usageError } from '../errors.ts';

/** Writes beside the file and then puts it in its place. @throws CommandError OUTPUT_FAILED */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}.part`;
  try {
    await writeFile(temporary, content);
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cannotWrite(path, cause);
  }
}

/**
 * For before the work, whose result would be lost: what is written by renaming must not take the place of a device.
 * @param option that names the file
 * @throws CommandError USAGE
 */
export async function requirePlace(option: string, path: string): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory()) {
    throw usageError(`${option} ${path} lies in no folder that exists. Make the folder first.`);
  }
  const existing = await stat(path).catch(() => undefined);
  if (!existing || existing.isFile()) return;
  const kind = existing.isDirectory() ? 'a directory' : 'a device, pipe or socket';
  throw usageError(`${option} ${path} is ${kind}. Give a file name, or leave out ${option}.`);
}
