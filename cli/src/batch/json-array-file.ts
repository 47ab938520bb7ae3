/** A JSON array that is written item by item. */
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { namingFile } from '../errors.ts';
import { placeOf } from '../output/place.ts';

/** A JSON array that is written item by item: of any length, and there as a whole or not at all. */
export interface JsonArrayFile {
  add(item: unknown): Promise<void>;
  /** Puts the file in place. */
  commit(): Promise<void>;
  /** Leaves no file. */
  discard(): Promise<void>;
}

/** Bytes gathered before they are written. */
const BUFFER = 64 * 1024;

/**
 * Starts an array in a file, or in what a link leads to.
 * @param partial where it is written until it is complete, on the same disk as the path, which is no link then
 * @throws CommandError USAGE if a device or directory is there
 */
export async function openJsonArray(path: string, partial?: string): Promise<JsonArrayFile> {
  if (partial === undefined) {
    const place = await placeOf(path);
    return openJsonArray(place, `${place}.${process.pid}.partial`);
  }
  await mkdir(dirname(path), { recursive: true });
  const file: FileHandle = await open(partial, 'w').catch(namingFile(path));
  let waiting = '[';
  let separator = '';
  let writing: Promise<unknown> = Promise.resolve();
  // One write after the other: several parts of a job add to the array at the same time.
  const flush = async () => {
    const text = waiting;
    waiting = '';
    writing = writing.then(() => file.writeFile(text)).catch(namingFile(path));
    await writing;
  };
  return {
    async add(item) {
      waiting += `${separator}\n${JSON.stringify(item)}`;
      separator = ',';
      if (waiting.length > BUFFER) await flush();
    },
    async commit() {
      waiting += '\n]\n';
      await flush();
      await file.close();
      await rename(partial, path);
    },
    async discard() {
      await file.close();
      await rm(partial, { force: true });
    },
  };
}
