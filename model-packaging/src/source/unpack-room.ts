/** How much an archive may become. */
import { stat, statfs } from 'node:fs/promises';
import { MAX_ENTRIES } from '@sagemaker-tfs/manifest/entries';
import { PackagingError } from '../errors.ts';

/** What any archive may hold: models that were never trained are zeros for the most part. */
const ANY_ARCHIVE = 2 ** 30;
/** Bytes of a larger one for each of the archive's. Trained weights hardly shrink at all. */
const MAX_RATIO = 100;
/** Others need the disk too. */
const PART_OF_FREE = 0.9;

/** Counts an entry and its bytes, which are about to be written. @throws PackagingError CORRUPT_FILE or OUTPUT_FAILED for too many */
export type TakeRoom = (bytes: number) => void;

/** The room in `directory` for what `archive` holds. */
export async function unpackRoom(archive: string, directory: string): Promise<TakeRoom> {
  const [{ size }, { bavail, bsize }] = await Promise.all([stat(archive), statfs(directory)]);
  return roomWithin(archive, size, bavail * bsize);
}

/**
 * @param size of the archive in bytes
 * @param free bytes of the disk
 */
export function roomWithin(archive: string, size: number, free: number): TakeRoom {
  const most = Math.max(ANY_ARCHIVE, MAX_RATIO * size);
  let taken = 0;
  let entries = 0;
  return (bytes) => {
    taken += bytes;
    entries += 1;
    if (entries > MAX_ENTRIES) throw tooMany(archive);
    if (taken > most) throw tooLarge(archive);
    if (taken > PART_OF_FREE * free) throw tooLittleRoom(archive, free);
  };
}

function tooLarge(archive: string): PackagingError {
  return new PackagingError(
    'CORRUPT_FILE',
    `${archive} would unpack to more than a gigabyte and more than ${MAX_RATIO} times its size, as no trained model does. If you trust it, unpack it and give the directory.`,
  );
}

function tooMany(archive: string): PackagingError {
  return new PackagingError(
    'CORRUPT_FILE',
    `${archive} holds more than ${MAX_ENTRIES} files and folders, as no model does. If you trust it, unpack it and give the directory.`,
  );
}

function tooLittleRoom(archive: string, free: number): PackagingError {
  const percent = 100 * PART_OF_FREE;
  return new PackagingError(
    'OUTPUT_FAILED',
    `${archive} would take more than ${percent}% of the ${Math.floor(free / 2 ** 20)} MB that are free. Free some space, or choose another folder for temporary files with TMPDIR.`,
  );
}
