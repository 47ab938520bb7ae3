/** Unpacks `.zip` archives safely. */
import { createWriteStream, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { inflateRawSync } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import { messageOf, PackagingError, unreadable } from '../errors.ts';
import { visible } from '../visible.ts';
import { checkEntryName, shown } from './entry-name.ts';
import { isSystemError, writingFailed } from './extract.ts';
import { type TakeRoom, unpackRoom } from './unpack-room.ts';
import { openZip } from './zip-file.ts';

/** File type bits of a Unix mode, which zip tools keep in the upper half of the external attributes. */
const S_IFMT = 0o170000;
const S_IFLNK = 0o120000;

/** How yauzl names the only compression that it reads. */
const DEFLATE = 8;
/** Bytes of a file that is unpacked and written at once. */
const SMALL = 64 * 1024;
/** Bytes of an entry's own header, without its name and extra fields. */
const HEADER_BYTES = 30;

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
  try {
    const all = await checkedEntries(zip, archive, await unpackRoom(archive, directory), corrupt);
    const folders = new Set<string>();
    for (const entry of all.filter(({ fileName }) => !fileName.endsWith('/'))) {
      const target = join(directory, entry.fileName);
      const failed = (error: unknown): never => {
        if (!isSystemError(error)) return corrupt(error);
        throw writingFailed(archive, directory, entry.fileName, error);
      };
      const folder = dirname(target);
      if (!folders.has(folder)) await mkdir(folder, { recursive: true }).catch(failed);
      folders.add(folder);
      if (Math.max(entry.uncompressedSize, entry.compressedSize) > SMALL) {
        const stream = await zip.openReadStreamPromise(entry).catch(corrupt);
        await pipeline(stream, createWriteStream(target)).catch(failed);
        continue;
      }
      const bytes = await smallFile(zip, entry).catch(corrupt);
      if (bytes.length !== entry.uncompressedSize) throw tooShort(archive, entry);
      try {
        writeFileSync(target, bytes);
      } catch (error) {
        failed(error);
      }
    }
  } finally {
    zip.close();
  }
}

/** A whole file, which may be shorter than it states. There may be thousands: streams to unpack and write each cost many times the file itself. */
async function smallFile(zip: ZipFile, entry: Entry): Promise<Uint8Array> {
  const { compressionMethod, uncompressedSize } = entry;
  if (compressionMethod !== DEFLATE) return buffer(await zip.openReadStreamPromise(entry));
  const packed = await buffer(await zip.openReadStreamPromise(entry, { decompress: false }));
  return inflateRawSync(packed, { maxOutputLength: Math.max(1, uncompressedSize) });
}

/** Every entry, before anything is inflated: what they declare, and that none lies in another. @throws PackagingError */
async function checkedEntries(
  zip: ZipFile,
  archive: string,
  take: TakeRoom,
  corrupt: (error: unknown) => never,
): Promise<readonly Entry[]> {
  const all: Entry[] = [];
  for await (const entry of entries(zip, corrupt)) {
    // What an entry states is what is written: yauzl stops at it.
    take(entry.uncompressedSize);
    checkEntry(archive, entry);
    all.push(entry);
  }
  const start = (entry: Entry) => entry.relativeOffsetOfLocalHeader;
  let end = 0;
  for (const entry of all.toSorted((a, b) => start(a) - start(b))) {
    if (start(entry) < end) throw overlapping(archive, entry);
    end = start(entry) + HEADER_BYTES + entry.fileNameLength + entry.compressedSize;
  }
  return all;
}

function tooShort(archive: string, { fileName }: Entry): PackagingError {
  return new PackagingError(
    'CORRUPT_FILE',
    `${archive} is truncated or not a zip archive: entry '${shown(fileName)}' has fewer bytes than it states. Make or copy it again.`,
  );
}

function overlapping(archive: string, { fileName }: Entry): PackagingError {
  return new PackagingError(
    'CORRUPT_FILE',
    `${archive}: entry '${shown(fileName)}' lies in another, which no zip tool does. Make the archive again.`,
  );
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

/** @throws PackagingError for links and odd names */
function checkEntry(archive: string, entry: Entry): void {
  const name = entry.fileName;
  checkEntryName(archive, name);
  if (((entry.externalFileAttributes >>> 16) & S_IFMT) !== S_IFLNK) return;
  throw new PackagingError(
    'UNSAFE_PATH',
    `${archive}: entry '${shown(name)}' is a symbolic link. Archive copies of files (zip without -y follows links).`,
  );
}
