/** Names of entries in archives: none leads out, writes lines of its own into a log, or is more than a disk takes. */
import { PackagingError } from '../errors.ts';
import { hasInvisible, visible } from '../visible.ts';

/** Of one folder or file, in bytes, as file systems have it. */
const LONGEST_NAME = 255;
/** Of the whole path, in bytes; a disk takes four times that, the folder it is unpacked to included. */
const LONGEST_PATH = 1024;
/** Folders in each other. */
const DEEPEST = 64;
/** Characters of a name that a message shows. */
const SHOWN = 200;

/** @throws PackagingError UNSAFE_PATH or BAD_FILE_NAME */
export function checkEntryName(archive: string, path: string): void {
  const parts = path.split(/[\\/]/);
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path) || parts.includes('..')) {
    throw new PackagingError(
      'UNSAFE_PATH',
      `${archive}: entry '${shown(path)}' would be written outside the directory. Make the archive with relative paths.`,
    );
  }
  const problem = problemOf(path, parts);
  if (problem === undefined) return;
  throw new PackagingError(
    'BAD_FILE_NAME',
    `${archive}: the name of entry '${shown(path)}' ${problem}. Rename the file and archive it again.`,
  );
}

/** The name as a message shows it. */
export function shown(path: string): string {
  return visible(path.length > SHOWN ? `${path.slice(0, SHOWN)}...` : path);
}

function problemOf(path: string, parts: readonly string[]): string | undefined {
  if (path.includes('\ufffd')) return 'is not UTF-8';
  // Later messages name files too.
  if (hasInvisible(path)) return 'has a control character in it';
  const isLong =
    Buffer.byteLength(path) > LONGEST_PATH ||
    parts.some((part) => Buffer.byteLength(part) > LONGEST_NAME);
  if (isLong) {
    return `is too long: ${LONGEST_NAME} bytes a folder or file and ${LONGEST_PATH} in all are allowed`;
  }
  return parts.length > DEEPEST ? `leads through more than ${DEEPEST} folders` : undefined;
}
