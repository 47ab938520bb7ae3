/** The objects of a local batch job, found as the job goes: a folder's files or those of a manifest. */
import { isUtf8 } from 'node:buffer';
import type { Dirent, Stats } from 'node:fs';
import { opendir, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compareKeys, parseManifest } from '@sagemaker-tfs/batch';
import { CommandError, cannotRead, usageError } from '../../errors.ts';

/** One input, named as S3 would name it. */
export interface BatchInput {
  /** Path below the folder with `/` between its parts: the S3 key without the prefix. */
  readonly key: string;
  readonly path: string;
}

/** Where inputs come from; can be listed more than once. */
export interface InputSource {
  /** What a manifest of these keys has as its prefix. */
  readonly prefix: string;
  readonly duplicates: readonly string[];
  list(): AsyncIterable<BatchInput>;
}

/**
 * Every file below a folder. Hidden files are left out, as a prefix on S3 would rarely have them. Links to files are
 * inputs, those to folders are not. Pipes, sockets and devices are inputs that cannot be read: {@link statOfInput}.
 * @param except a folder that is not part of the input, such as the outputs' own
 */
export function folderSource(directory: string, except?: string): InputSource {
  const left = except && resolve(except);
  return {
    prefix: `${pathToFileURL(resolve(directory)).href}/`,
    duplicates: [],
    list: () => listInputs(directory, directory, { except: left, entriesOf: opened }),
  };
}

/** The files of {@link folderSource} in the order of their keys. Memory holds the names of a folder. */
export function sortedFolder(directory: string, except?: string): AsyncIterable<BatchInput> {
  return listInputs(directory, directory, { except: except && resolve(except), entriesOf: sorted });
}

/**
 * The files that a manifest names, below a folder that stands for its prefix.
 * @throws BatchError MANIFEST_INVALID; CommandError UNSAFE_PATH for a key that leads out of the folder
 */
export async function manifestSource(file: string, directory: string): Promise<InputSource> {
  const text = await readFile(file, 'utf8').catch(cannotRead(file, 'the manifest'));
  const { prefix, keys, duplicates } = await parseManifest(text, file);
  const root = resolve(directory) + sep;
  const outside = keys.find((key) => !resolve(directory, `./${key}`).startsWith(root));
  if (outside !== undefined) {
    throw new CommandError(
      'UNSAFE_PATH',
      `${file}: the key ${JSON.stringify(outside)} leads out of ${directory}. Remove it.`,
    );
  }
  return {
    prefix,
    duplicates,
    async *list() {
      for (const key of keys) yield { key, path: join(directory, key) };
    },
  };
}

/** How a folder is walked through. */
interface Walk {
  readonly except: string | undefined;
  readonly entriesOf: (directory: string) => Promise<AsyncIterable<Dirent> | Iterable<Dirent>>;
}

const opened = (directory: string) => opendir(directory, { bufferSize: 256 });

/** A folder's own name stands for all keys below it, which have a `/` behind it. */
async function sorted(directory: string): Promise<Dirent[]> {
  const nameOf = (entry: Dirent) => (entry.isDirectory() ? `${entry.name}/` : entry.name);
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.sort((a, b) => compareKeys(nameOf(a), nameOf(b)));
}

/** @throws CommandError FILE_NOT_FOUND; USAGE for a name that no key can have */
async function* listInputs(
  directory: string,
  below: string,
  walk: Walk,
): AsyncGenerator<BatchInput> {
  const entries = await walk.entriesOf(below).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOTDIR') throw isAFile(below);
    return cannotRead(below, 'the input folder')(cause);
  });
  for await (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    if (entry.name.includes(REPLACED)) await requireUtf8(below);
    const path = join(below, entry.name);
    if (entry.isDirectory()) {
      if (resolve(path) !== walk.except) yield* listInputs(directory, path, walk);
    } else if (!(entry.isSymbolicLink() && (await leadsToFolder(path)))) {
      yield { key: relative(directory, path).split(sep).join('/'), path };
    }
  }
}

function isAFile(path: string): CommandError {
  return usageError(
    `${path} is a file, and the input is a folder of files. Give its folder, or send the one file with sagemaker-tfs invoke.`,
  );
}

/** What stands for bytes of a name that are not UTF-8. A name may also have it itself. */
const REPLACED = '\ufffd';

/** A key is UTF-8, and such a file could not be opened by the name that is shown. */
async function requireUtf8(directory: string): Promise<void> {
  const names = await readdir(directory, { encoding: 'buffer' });
  const bad = names.find((name) => !isUtf8(name));
  if (!bad) return;
  throw usageError(
    `${join(directory, bad.toString('latin1'))}: the name is not UTF-8 (shown as Latin-1). Rename the file.`,
  );
}

/**
 * Size and times of an input, to be called before it is opened. Whoever may put a file into a folder must not have others read for it.
 * @param within the folder that links must stay in; undefined if they may lead anywhere
 * @throws CommandError UNSAFE_PATH for a link that leads out of the folder, USAGE for a pipe or a device; the file
 * system's error
 */
export async function statOfInput(within: string | undefined, path: string): Promise<Stats> {
  const target = await realpath(path);
  if (within !== undefined && !isBelow(await realpath(within), target)) {
    throw new CommandError(
      'UNSAFE_PATH',
      `a link leads out of ${within}, to ${target}. Read such files with --follow-links.`,
    );
  }
  const info = await stat(target);
  if (info.isFile()) return info;
  throw usageError('it is a folder, a pipe or a device. Remove it.');
}

function isBelow(root: string, path: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** Any other link is an input, also one that leads nowhere: it cannot be read, and is listed as such. */
async function leadsToFolder(link: string): Promise<boolean> {
  return stat(link).then(
    (target) => target.isDirectory(),
    () => false,
  );
}

/**
 * Number of inputs.
 * @param name what the user calls the source
 * @throws CommandError FILE_NOT_FOUND, INPUT_EMPTY where there is nothing to do
 */
export async function countInputs(source: InputSource, name: string): Promise<number> {
  let count = 0;
  for await (const _ of source.list()) count++;
  if (count === 0) throw noInputs(name);
  return count;
}

/** A source without inputs. */
export function noInputs(name: string): CommandError {
  return new CommandError(
    'INPUT_EMPTY',
    `${name} holds no files. Name a folder with inputs. Hidden files are left out.`,
  );
}
