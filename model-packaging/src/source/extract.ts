/** Unpacks `.tar.gz` and `.tar` archives safely. */
import { closeSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Parser, type ReadEntry } from 'tar';
import { messageOf, PackagingError, unreadable } from '../errors.ts';
import { visible } from '../visible.ts';
import { checkEntryName, shown } from './entry-name.ts';
import { parseTar } from './tar-bytes.ts';
import { type TakeRoom, unpackRoom } from './unpack-room.ts';

/** Entry types that a model archive may hold; links and devices are refused. */
const ALLOWED = new Set(['File', 'OldFile', 'ContiguousFile', 'Directory', 'GNUDumpDir']);

/** Entry types without content of their own, which tar skips too: volume labels, access rights. */
const SKIPPED = new Set(['TapeVolumeHeader', 'SolarisACL', 'Inode']);

/** Extended headers, two for each entry of the largest archive; tools write one. */
const MAX_HEADERS = 20_000;

/** In extended headers of files that are archived without their holes, in formats 0.0 to 1.0. */
const SPARSE_HEADER = /^\d+ GNU\.sparse\./m;

/** What other compressors' files begin with. */
const OTHER_KINDS: readonly (readonly [kind: string, magic: Buffer])[] = [
  ['a zip archive (name it .zip)', Buffer.from('PK\x03\x04', 'latin1')],
  ['compressed with bzip2', Buffer.from('BZh', 'latin1')],
  ['compressed with xz', Buffer.from('fd377a585a00', 'hex')],
  ['compressed with zstd', Buffer.from('28b52ffd', 'hex')],
];

/**
 * Unpacks `archive` into `directory`, which exists and is empty. Modes and times of the archive are dropped.
 * @throws PackagingError SOURCE_NOT_FOUND, UNSAFE_PATH, BAD_FILE_NAME, CORRUPT_FILE or OUTPUT_FAILED
 */
export async function extractArchive(archive: string, directory: string): Promise<void> {
  const found = await stat(archive).catch(() => undefined);
  if (!found?.isFile()) {
    throw new PackagingError('SOURCE_NOT_FOUND', `${archive} is not a file. Give a model.tar.gz.`);
  }
  const take = await unpackRoom(archive, directory);
  const writer = entryWriter(archive, directory, take);
  const stop = new AbortController();
  const fail = (error: Error) => stop.abort(error);
  const parser = new Parser({
    strict: true,
    zstd: false,
    onReadEntry: (entry) => writer.write(entry, fail),
  });
  let headers = 0;
  parser.on('meta', (header) => {
    headers += 1;
    if (headers > MAX_HEADERS) fail(tooManyHeaders(archive));
    if (SPARSE_HEADER.test(header)) fail(sparse(archive, 'an entry'));
  });
  parser.on('ignoredEntry', ({ path, type }) => {
    if (type === 'SparseFile') fail(sparse(archive, `entry '${shown(path)}'`));
    else if (!SKIPPED.has(type)) fail(notAFile(archive, path, type));
  });
  try {
    await parseTar(archive, parser, stop.signal);
  } catch (error) {
    throw extractionFailed(archive, error);
  } finally {
    writer.close();
  }
  if (writer.entries() === 0) {
    throw new PackagingError('CORRUPT_FILE', `${archive} holds no files. Is it a .tar.gz?`);
  }
}

/**
 * Writes entries as the parser emits them. Synchronously, so that nothing is still being written once an
 * archive turns out to be damaged.
 */
function entryWriter(archive: string, directory: string, take: TakeRoom) {
  let entries = 0;
  let file: number | undefined;
  const close = () => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  const begin = (entry: ReadEntry) => {
    checkEntryName(archive, entry.path);
    if (!ALLOWED.has(entry.type)) throw notAFile(archive, entry.path, entry.type);
    take(entry.size);
    const target = join(directory, entry.path);
    const isDirectory = entry.type === 'Directory' || entry.type === 'GNUDumpDir';
    mkdirSync(isDirectory ? target : dirname(target), { recursive: true });
    if (!isDirectory) file = openSync(target, 'w');
  };
  const write = (entry: ReadEntry, fail: (error: Error) => void) => {
    const attempt = (step: () => void) => {
      try {
        step();
      } catch (error) {
        fail(writingFailed(archive, directory, entry.path, error));
      }
    };
    entries += 1;
    attempt(() => begin(entry));
    entry.on('data', (chunk) => {
      const open = file;
      if (open !== undefined) attempt(() => writeFileSync(open, chunk));
    });
    entry.on('end', close);
  };
  return { write, close, entries: () => entries };
}

function notAFile(archive: string, path: string, type: string): PackagingError {
  return new PackagingError(
    'UNSAFE_PATH',
    `${archive}: entry '${shown(path)}' is a ${type}, not a file. Archive copies of files (tar czhf follows links).`,
  );
}

function tooManyHeaders(archive: string): PackagingError {
  return new PackagingError(
    'CORRUPT_FILE',
    `${archive} has more than ${MAX_HEADERS} extended headers, as no model does. Make it again with tar czf.`,
  );
}

function sparse(archive: string, subject: string): PackagingError {
  return new PackagingError(
    'CORRUPT_FILE',
    `${archive}: ${subject} is a sparse file, which is not supported. Archive it without --sparse (-S).`,
  );
}

/** The system's own errors name the call that failed, those of archives (zlib's) do not. */
export function isSystemError(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/** Entries that are in each other's way are the archive's fault, all else is the disk's. */
export function writingFailed(
  archive: string,
  directory: string,
  path: string,
  error: unknown,
): PackagingError {
  if (error instanceof PackagingError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'EEXIST' && code !== 'ENOTDIR' && code !== 'EISDIR') {
    return new PackagingError(
      'OUTPUT_FAILED',
      `${archive} cannot be unpacked in ${dirname(directory)}: ${visible(messageOf(error))}. Check the free space and the permissions there, or choose another folder for temporary files with TMPDIR.`,
      { cause: error },
    );
  }
  return new PackagingError(
    'CORRUPT_FILE',
    `${archive}: entry '${shown(path)}' is a file where another entry needs a folder, or the reverse. Make the archive again.`,
    { cause: error },
  );
}

function extractionFailed(archive: string, error: unknown): Error {
  if (error instanceof PackagingError) return error;
  if (isSystemError(error)) return unreadable(archive, error);
  const other = otherKind(archive);
  if (other === undefined && !/\.(tar\.gz|tgz|tar)$/i.test(archive)) {
    return new PackagingError(
      'SOURCE_NOT_FOUND',
      `${archive} is a file of unknown kind. Give a model.tar.gz.`,
      { cause: error },
    );
  }
  return new PackagingError(
    'CORRUPT_FILE',
    other === undefined
      ? `${archive} is truncated or not a tar archive: ${visible(messageOf(error))}. Make or copy it again.`
      : `${archive} is not a .tar.gz: it is ${other}. Make it with tar czf.`,
    { cause: error },
  );
}

function otherKind(archive: string): string | undefined {
  const file = openSync(archive, 'r');
  try {
    const start = Buffer.alloc(6);
    readSync(file, start, 0, start.length, 0);
    return OTHER_KINDS.find(([, magic]) => start.indexOf(magic) === 0)?.[0];
  } finally {
    closeSync(file);
  }
}
