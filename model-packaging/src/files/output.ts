/** Preparing output paths, and errors of writing to them. */
import { mkdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf, PackagingError } from '../errors.ts';
import type { PlannedFile } from './archive-files.ts';
import { isInside } from './walk.ts';

/**
 * The path that an output file is renamed to: the target of a link, so that the link stays.
 * @throws PackagingError BAD_OPTION if something is there that a file must not replace
 */
export async function outputFile(path: string): Promise<string> {
  const target = await realpath(path).catch(() => resolve(path));
  const existing = await stat(target).catch(() => undefined);
  if (!existing || (existing.isFile() && !(await isOfProcess(path)))) return target;
  throw new PackagingError(
    'BAD_OPTION',
    existing.isDirectory()
      ? `the output ${path} is a directory. Give a file name, for example ${join(path, 'model.tar.gz')}.`
      : `the output ${path} is a device, pipe, socket or open file of a process, which the archive would replace. Give a file name.`,
  );
}

/** `/dev/stdout` and `/dev/fd/1`, where they lead to a file: what the process writes later would be lost. */
async function isOfProcess(path: string): Promise<boolean> {
  const folder = await realpath(dirname(resolve(path))).catch(() => '');
  const target = await readlink(path).catch(() => '');
  return [folder, target].some((place) => place.startsWith('/proc/'));
}

/** The path that a complete folder is renamed to: the target of a link, so that the link stays. */
export async function outputFolder(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

/** Endings of formats that an archive is not, behind which programs look for these. */
const OTHER_FORMAT = /([.](tar|zip|7z|rar|bz2|tbz2?|xz|txz|zst|keras|h5|pb))+$/i;

/** @throws PackagingError BAD_OPTION for a name that says another format than a gzipped tar */
export function requireArchiveName(path: string): void {
  if (!OTHER_FORMAT.test(path)) return;
  throw new PackagingError(
    'BAD_OPTION',
    `the output ${path} would be a gzipped tar, as SageMaker takes it, under another name. Name it ${path.replace(OTHER_FORMAT, '')}.tar.gz.`,
  );
}

/**
 * What is written into a version directory would be packed the next time.
 * @throws PackagingError BAD_OPTION
 */
export function requireOutsideModel(files: readonly PlannedFile[], target: string): void {
  for (const { content } of files) {
    if (!('file' in content) || basename(content.file) !== 'saved_model.pb') continue;
    const version = dirname(content.file);
    if (!isInside(target, version)) continue;
    throw new PackagingError(
      'BAD_OPTION',
      `the output ${target} lies inside the model directory ${version}. Choose another path.`,
    );
  }
}

/** Makes the directory of an output file. @throws PackagingError OUTPUT_FAILED */
export async function makeParent(target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true }).catch(outputFailed(target));
}

/** A file system error about the output, as a {@link PackagingError}. */
function outputError(target: string, cause: unknown): PackagingError {
  // Without the system's own end, which names a temporary file: `, open '...'`.
  const reason = messageOf(cause).replace(/, \w+ '.*$/s, '');
  return new PackagingError(
    'OUTPUT_FAILED',
    `${target} cannot be written: ${reason}. Check the free space and the permissions of the directory.`,
  );
}

/** For `catch`: throws {@link outputError}. */
export function outputFailed(target: string): (error: unknown) => never {
  return (error) => {
    throw outputError(target, error);
  };
}
