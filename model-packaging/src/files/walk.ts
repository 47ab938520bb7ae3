/** Lists the files below a directory, refusing whatever could not be packed safely. */
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { messageOf, PackagingError, unreadable } from '../errors.ts';

/** One file below a directory. */
interface WalkedFile {
  /** Path below the directory, with `/` between names. */
  readonly path: string;
  /** Where to read it. */
  readonly file: string;
  /** Bytes. */
  readonly size: number;
}

/** What desktops and archivers leave behind; never part of a model. */
const LITTER = /^(\.DS_Store|\._.*|Thumbs\.db|desktop\.ini|__MACOSX|\.git|\.ipynb_checkpoints)$/;

/**
 * The files below `root`, sorted by path (UTF-16 order). Symbolic links are followed as long as they stay
 * below `boundary`.
 * @throws PackagingError UNSAFE_PATH or BAD_FILE_NAME, naming the path
 */
export function walk(root: string, boundary: string = root): WalkedFile[] {
  const files: WalkedFile[] = [];
  visit(root, '', realpathSync(boundary), new Set([realpathSync(root)]), files);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The names in a directory, litter left out, sorted. @throws PackagingError BAD_FILE_NAME or SOURCE_NOT_FOUND */
export function listNames(directory: string): string[] {
  return readNames(directory)
    .map((bytes) => {
      const name = bytes.toString('utf8');
      if (Buffer.from(name, 'utf8').equals(bytes)) return name;
      throw new PackagingError(
        'BAD_FILE_NAME',
        `${join(directory, bytes.toString('latin1'))}: the name is not UTF-8 (shown as Latin-1). Rename the file.`,
      );
    })
    .filter((name) => !LITTER.test(name))
    .sort();
}

function readNames(directory: string): Buffer[] {
  try {
    return readdirSync(directory, { encoding: 'buffer' });
  } catch (error) {
    throw unreadable(directory, error);
  }
}

function visit(
  directory: string,
  prefix: string,
  boundary: string,
  ancestors: ReadonlySet<string>,
  files: WalkedFile[],
): void {
  for (const name of listNames(directory)) {
    const file = join(directory, name);
    const path = prefix + name;
    const target = resolveLink(file, boundary);
    const stat = statSync(target);
    if (stat.isFile()) files.push({ path, file: target, size: stat.size });
    else if (!stat.isDirectory()) {
      throw new PackagingError(
        'BAD_FILE_NAME',
        `${file} is neither a file nor a directory (socket, pipe or device). Remove it.`,
      );
    } else if (ancestors.has(target)) {
      throw new PackagingError(
        'UNSAFE_PATH',
        `${file} is a link to a directory around it. Remove it.`,
      );
    } else visit(target, `${path}/`, boundary, new Set([...ancestors, target]), files);
  }
}

/** The path itself, or the target of a symbolic link that stays inside. @throws PackagingError UNSAFE_PATH */
export function resolveLink(file: string, boundary: string): string {
  if (!lstatSync(file).isSymbolicLink()) return file;
  let target: string;
  try {
    target = realpathSync(file);
  } catch (error) {
    throw new PackagingError(
      'UNSAFE_PATH',
      `${file} is a broken symbolic link: ${messageOf(error)}. Remove it or restore its target.`,
      { cause: error },
    );
  }
  if (isInside(target, boundary)) return target;
  throw new PackagingError(
    'UNSAFE_PATH',
    `${file} is a symbolic link that leaves the model directory, to ${target}. Replace it with a copy (cp -rL).`,
  );
}

/** True if `path` is `directory` or below it. Both are real, absolute paths. */
export function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`));
}
