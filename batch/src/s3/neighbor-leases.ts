/** Leases of outputs that lie above or below other outputs: whoever holds one may write among those. */
import type { S3Client } from '@aws-sdk/client-s3';
import { RUNS_FOLDER } from '../outputs.ts';
import { asDirectory, formatS3Uri, parseS3Uri, type S3Location } from '../s3-uri.ts';
import { httpStatusOf, isAbsent } from './errors.ts';
import { type FoundLease, leaseOf, leasePlace } from './leases.ts';
import { listPage } from './listing.ts';
import { receive } from './objects.ts';

/** A lease of other outputs. */
export interface NeighborLease extends FoundLease {
  readonly place: S3Location;
  /** Its outputs. */
  readonly outputUri: string;
  /** Where they lie, seen from the outputs that were asked about. */
  readonly side: 'above' | 'below';
}

/** Folders right below the outputs that are looked into, of those in the first page of a listing. */
const FOLDERS = 100;
/** Reads at once. */
const READS = 16;

/**
 * Leases of every folder above outputs, and of folders right below them: deeper ones would take a listing of all keys. What
 * may not be read is as if it were not there.
 */
export async function neighborLeases(s3: S3Client, outputUri: string): Promise<NeighborLease[]> {
  const { bucket, key } = asDirectory(parseS3Uri(outputUri));
  const below = await foldersBelow(s3, { bucket, key });
  const folders = [
    ...foldersAbove(key).map((above) => ({ key: above, side: 'above' as const })),
    ...below.map((folder) => ({ key: folder, side: 'below' as const })),
  ];
  const found: NeighborLease[] = [];
  for (let at = 0; at < folders.length; at += READS) {
    const some = folders.slice(at, at + READS);
    const leases = await Promise.all(
      some.map(({ key, side }) => readNeighbor(s3, formatS3Uri({ bucket, key }), side)),
    );
    found.push(...leases.filter((lease) => lease !== undefined));
  }
  return found;
}

/** Of `a/b/`: the bucket itself, and `a/`. What lies in a folder of runs, as of a probe, is in nobody's way. */
function foldersAbove(key: string): string[] {
  const names = key.split('/').slice(0, -1);
  const ofRuns = names.lastIndexOf(RUNS_FOLDER.slice(0, -1));
  return names
    .map((_, length) => names.slice(0, length))
    .slice(ofRuns + 1)
    .map((above) => above.map((name) => `${name}/`).join(''));
}

async function foldersBelow(s3: S3Client, place: S3Location): Promise<string[]> {
  const page = await ifAllowed(listPage(s3, place, { folders: true }));
  const folders = page?.folders.filter((folder) => folder !== `${place.key}${RUNS_FOLDER}`) ?? [];
  return folders.slice(0, FOLDERS);
}

async function readNeighbor(
  s3: S3Client,
  outputUri: string,
  side: NeighborLease['side'],
): Promise<NeighborLease | undefined> {
  const place = leasePlace(outputUri);
  const object = await ifAllowed(receive(s3, place));
  return object && { ...leaseOf(object), place, outputUri, side };
}

/** Undefined if there is nothing, or the caller may not know. */
async function ifAllowed<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (isAbsent(error) || httpStatusOf(error) === 403) return undefined;
    throw error;
  }
}
