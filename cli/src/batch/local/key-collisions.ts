/** Keys whose outputs would be one file: on disks that ignore case, `A.jpg` and `a.jpg`. */
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError, cannotWrite } from '../../errors.ts';
import type { InputSource } from './inputs.ts';
import { partialPath } from './outputs.ts';

/** Hashes that there is room for at first. */
const ROOM = 4_096;

/**
 * Refuses inputs whose outputs would overwrite one another. Only a disk that ignores case is looked at: the keys are
 * listed once, and memory holds 8 bytes for each.
 * @throws CommandError KEYS_COLLIDE with the first two
 */
export async function refuseCollisions(
  source: InputSource,
  outputDirectory: string,
  ignoring: (directory: string) => Promise<boolean> = ignoresCase,
): Promise<void> {
  if (!(await ignoring(outputDirectory))) return;
  const pair = await firstCollision(source);
  if (!pair) return;
  const [first, second] = pair.map((key) => JSON.stringify(key));
  throw new CommandError(
    'KEYS_COLLIDE',
    `${outputDirectory} lies on a disk that ignores case, and the outputs of ${first} and ${second} would be one file. Nothing was started. Choose an output folder on another disk, or rename one of them.`,
  );
}

/** Whether a folder takes a name in other letters for the same file. The folder is made where it is missing. @throws CommandError OUTPUT_FAILED */
export async function ignoresCase(directory: string): Promise<boolean> {
  const probe = partialPath(directory, 'case');
  try {
    await mkdir(dirname(probe), { recursive: true });
    await writeFile(probe, '');
  } catch (cause) {
    throw cannotWrite(probe, cause);
  }
  const ignores = await stat(partialPath(directory, 'CASE')).then(
    () => true,
    () => false,
  );
  await rm(probe, { force: true });
  return ignores;
}

/** The first two keys that differ in case alone; hashes find candidates, a second listing compares these. */
async function firstCollision(source: InputSource): Promise<[string, string] | undefined> {
  const suspects = repeated(await hashesOf(source));
  if (suspects.size === 0) return undefined;
  const seen = new Map<string, string>();
  for await (const { key } of source.list()) {
    const name = folded(key);
    if (!suspects.has(hash(name))) continue;
    const other = seen.get(name);
    if (other !== undefined && other !== key) return [other, key];
    seen.set(name, key);
  }
  return undefined;
}

async function hashesOf(source: InputSource): Promise<Float64Array> {
  let hashes = new Float64Array(ROOM);
  let count = 0;
  for await (const { key } of source.list()) {
    if (count === hashes.length) {
      const larger = new Float64Array(2 * count);
      larger.set(hashes);
      hashes = larger;
    }
    hashes[count++] = hash(folded(key));
  }
  return hashes.subarray(0, count).sort();
}

function repeated(sorted: Float64Array): Set<number> {
  const found = new Set<number>();
  for (let at = 1; at < sorted.length; at++) {
    const value = sorted[at] as number;
    if (value === sorted[at - 1]) found.add(value);
  }
  return found;
}

/** Disks that ignore case mostly take composed and decomposed letters for the same, too. */
function folded(key: string): string {
  return key.normalize('NFC').toLowerCase();
}

/** 53 bits: two FNV-1a of 32 bits from different starts. */
function hash(text: string): number {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x85ebca6b);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
