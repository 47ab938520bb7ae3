/**
 * How files of models and archives are read, which others made: a pipe instead of a file would keep its reader for
 * ever, deaf to signals, a device may have no end, and a file may be larger than memory.
 */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { DamagedFile } from './damaged-file.ts';

/** Thrown for a directory, pipe, socket or device instead of a file. */
export class SpecialFile extends Error {
  override readonly name = 'SpecialFile';
}

/** Throws where a file has more bytes than its reader takes. Asked before anything is read. */
export type CheckSize = (bytes: number) => void;

/** A pipe opens at once so, whether or not somebody writes to it. */
const WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK;

/** @throws SpecialFile, the file system's error */
export function requireRegularFile(path: string): void {
  if (!statSync(path).isFile()) throw special(path);
}

/**
 * Opens a regular file, which the caller closes.
 * @throws SpecialFile for anything else, the file system's error
 */
export function openRegularFileSync(path: string): number {
  // To open a device may already do something.
  requireRegularFile(path);
  const file = openSync(path, WITHOUT_WAITING);
  // It may be another by now.
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw special(path);
}

/** As {@link openRegularFileSync}. */
export async function openRegularFile(path: string): Promise<FileHandle> {
  if (!(await stat(path)).isFile()) throw special(path);
  const file = await open(path, WITHOUT_WAITING);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw special(path);
}

/**
 * The bytes that a regular file has when it is opened.
 * @throws SpecialFile, what `checkSize` throws, the file system's error
 */
export function readRegularFileSync(path: string, checkSize: CheckSize): Buffer {
  const file = openRegularFileSync(path);
  try {
    const { size } = fstatSync(file);
    checkSize(size);
    const bytes = Buffer.alloc(size);
    let done = 0;
    while (done < size) {
      const read = readSync(file, bytes, done, size - done, done);
      if (read === 0) break;
      done += read;
    }
    return bytes.subarray(0, done);
  } finally {
    closeSync(file);
  }
}

/** As {@link readRegularFileSync}. */
export async function readRegularFile(path: string, checkSize: CheckSize): Promise<Buffer> {
  const file = await openRegularFile(path);
  try {
    const { size } = await file.stat();
    checkSize(size);
    const bytes = Buffer.alloc(size);
    let done = 0;
    while (done < size) {
      const { bytesRead } = await file.read(bytes, done, size - done, done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return bytes.subarray(0, done);
  } finally {
    await file.close();
  }
}

/** For files that have no error of their own for it. */
export function atMost(path: string, bytes: number): CheckSize {
  return (size) => {
    if (size <= bytes) return;
    throw new DamagedFile(path, `it has ${size} bytes of ${bytes} at most`);
  };
}

function special(path: string): SpecialFile {
  return new SpecialFile(
    `${path} is a directory, a pipe, a socket or a device. Put the model's file there.`,
  );
}
