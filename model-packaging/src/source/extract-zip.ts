/** Unpacks `.zip` archives safely. */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { Entry, ZipFile } from 'yauzl';
import { messageOf, PackagingError, unreadable } from '../errors.ts';
import { visible } from '../visible.ts';
import { checkEntryName, shown } from './entry-name.ts';
import { isSystemError, writingFailed } from './extract.ts';
import { unpackRoom } from './unpack-room.ts';
import { openZip } from './zip-file.ts';

/** File type bits of a Unix mode, which zip tools keep in the upper half of the external attributes. */
const S_IFMT = 0o170000;
const S_IFLNK = 0o120000;

/**
 * Unpacks `archive` into `directory`, which exists and is empty.
 * @throws PackagingError UNSAFE_PATH, BAD_FILE_NAME, CORRUPT_FILE or OUTPUT_FAILED
 */
export async function extractZip(archive: string, directory: string): Promise<void> {
  const corrupt = (error: unknown): never => {
    if (isSystemError(error)) throw unreadable(archive, error);
    const text = visible(messageOf(error)).replace(/\.+$/, '');
    const unsafe = /invalid relative path|absolute path|invalid characters in fileName/.test(text);
    throw new PackagingError(
      unsafe ? 'UNSAFE_PATH' : 'CORRUPT_FILE',
      `${archive} ${unsafe ? 'has an unsafe name in it' : 'is truncated or not a zip archive'}: ${text}. Make or copy it again.`,
      { cause: error },
    );
  };
  const zip = await openZip(archive).catch(corrupt);
  const openStream = promisify(zip.openReadStream.bind(zip)) as (
    entry: Entry,
  ) => Promise<NodeJS.ReadableStream>;
  try {
    const take = await unpackRoom(archive, directory);
    for await (const entry of entries(zip, corrupt)) {
      // What an entry states is what is written: yauzl stops at it.
      take(entry.uncompressedSize);
      const target = join(directory, entry.fileName);
      if (refused(archive, entry)) continue;
      const failed = (error: unknown): never => {
        if (!isSystemError(error)) return corrupt(error);
        throw writingFailed(archive, directory, entry.fileName, error);
      };
      await mkdir(dirname(target), { recursive: true }).catch(failed);
      const stream = await openStream(entry).catch(corrupt);
      await pipeline(stream, createWriteStream(target)).catch(failed);
    }
  } finally {
    zip.close();
  }
}

async function* entries(zip: ZipFile, corrupt: (error: unknown) => never): AsyncGenerator<Entry> {
  for (;;) {
    const entry = await new Promise<Entry | undefined>((resolve, reject) => {
      const settle = (value: Entry | undefined, error?: unknown) => {
        zip.removeAllListeners('entry').removeAllListeners('end').removeAllListeners('error');
        if (error === undefined) resolve(value);
        else reject(error);
      };
      zip.once('entry', (value: Entry) => settle(value));
      zip.once('end', () => settle(undefined));
      zip.once('error', (error: unknown) => settle(undefined, error));
      zip.readEntry();
    }).catch(corrupt);
    if (!entry) return;
    yield entry;
  }
}

/** True for directories, which need no work. @throws PackagingError for links and odd names */
function refused(archive: string, entry: Entry): boolean {
  const name = entry.fileName;
  checkEntryName(archive, name);
  if (((entry.externalFileAttributes >>> 16) & S_IFMT) === S_IFLNK) {
    throw new PackagingError(
      'UNSAFE_PATH',
      `${archive}: entry '${shown(name)}' is a symbolic link. Archive copies of files (zip without -y follows links).`,
    );
  }
  return name.endsWith('/');
}
