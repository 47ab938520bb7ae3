/** A file of a result: whole or not at all. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { cannotWrite } from '../errors.ts';
import { placeOf } from './place.ts';

/** {@link replaceWhole} of what a link leads to. @throws CommandError OUTPUT_FAILED, USAGE */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  await replaceWhole(await placeOf(path), content);
}

/** Writes beside the file and then puts it in its place. @throws CommandError OUTPUT_FAILED */
export async function replaceWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}.part`;
  try {
    await writeFile(temporary, content);
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cannotWrite(path, cause);
  }
}
