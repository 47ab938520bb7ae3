/** Where a file of a result goes: it is complete or absent, so it is put in place of a file, and of nothing else. */
import { readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type CommandError, usageError } from '../errors.ts';

/** As many as Linux follows. */
const MAX_LINKS = 40;

/**
 * The path that a complete file is renamed to: the target of a link, which need not exist, so that the link stays.
 * @throws CommandError USAGE if something is there that a file must not replace
 */
export async function placeOf(path: string): Promise<string> {
  const place = await targetOf(path);
  const kind = await kindOf(place);
  if (kind !== undefined) throw refused(path, kind);
  return place;
}

/**
 * {@link placeOf} for before the work, whose result would be lost.
 * @param option that names the file
 * @param folder `made` if the command makes the folder
 * @throws CommandError USAGE
 */
export async function requirePlace(
  option: string,
  path: string,
  folder: 'made' | 'there' = 'there',
): Promise<void> {
  const place = await targetOf(path);
  const parent = await stat(dirname(place)).catch(() => undefined);
  if (folder === 'there' && !parent?.isDirectory()) {
    throw usageError(`${option} ${path} lies in no folder that exists. Make the folder first.`);
  }
  const kind = await kindOf(place);
  if (kind !== undefined) throw refused(`${option} ${path}`, kind);
}

function refused(name: string, kind: string): CommandError {
  return usageError(
    `${name} is ${kind}, and the complete file is put in its place. Give the name of a file.`,
  );
}

async function targetOf(path: string): Promise<string> {
  let place = resolve(path);
  for (let links = 0; links < MAX_LINKS; links++) {
    const folder = await realpath(dirname(place)).catch(() => dirname(place));
    place = join(folder, basename(place));
    if (isOfProcess(place)) return place;
    const target = await readlink(place).catch(() => undefined);
    if (target === undefined) return place;
    place = resolve(folder, target);
  }
  return place;
}

/** What is there; undefined for a file, or nothing. */
async function kindOf(place: string): Promise<string | undefined> {
  if (isOfProcess(place)) return 'an open file of a process';
  const existing = await stat(place).catch(() => undefined);
  if (!existing || existing.isFile()) return undefined;
  return existing.isDirectory() ? 'a directory' : 'a device, pipe or socket';
}

/** `/dev/stdout` and `/dev/fd/1` lead to `/proc/<pid>/fd/1`, also where that is a file. */
function isOfProcess(place: string): boolean {
  return place.startsWith('/proc/');
}
