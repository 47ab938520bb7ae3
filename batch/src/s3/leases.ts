/** The lease of outputs as it lies in S3, written on conditions alone. */
import type { S3Client } from '@aws-sdk/client-s3';
import { RUNS_FOLDER } from '../outputs.ts';
import { parseRunLease, RUN_LEASE, type RunLease } from '../run-lease.ts';
import { asDirectory, parseS3Uri, type S3Location } from '../s3-uri.ts';
import { putIf } from './conditional-write.ts';
import { type Received, receiveIfThere } from './objects.ts';

/** What lies at the place of a lease. */
export interface FoundLease {
  /** Undefined for a file that is no lease; it keeps nobody out. */
  readonly lease: RunLease | undefined;
  /** Names what was read. */
  readonly etag: string;
  /** Milliseconds since 1970, by S3's clock. */
  readonly modified: number;
}

/** Where the lease of outputs lies. */
export function leasePlace(outputUri: string): S3Location {
  const { bucket, key } = asDirectory(parseS3Uri(outputUri));
  return { bucket, key: `${key}${RUNS_FOLDER}${RUN_LEASE}` };
}

/** Reads a lease; undefined if there is none: somebody may have deleted it, as messages advise. */
export async function readLease(s3: S3Client, place: S3Location): Promise<FoundLease | undefined> {
  const object = await receiveIfThere(s3, place);
  return object && leaseOf(object);
}

/** What an object at the place of a lease says. */
export function leaseOf({
  bytes,
  ETag: etag = '',
  modified,
}: Pick<Received, 'bytes' | 'ETag' | 'modified'>): FoundLease {
  return { lease: parseRunLease(new TextDecoder().decode(bytes)), etag, modified };
}

/** Whether a lease was written, or else what is there: undefined if it was deleted meanwhile. */
export type LeaseWrite =
  | { readonly written: true; readonly etag: string }
  | { readonly written: false; readonly found: FoundLease | undefined };

/**
 * Writes a lease if there is none yet, or in place of the one with an ETag. One that is there and says the same is this one:
 * the answer of an own write was lost, and the SDK or the state machine has made it again.
 * @param replaced ETag; undefined: there is to be none
 */
export async function writeLease(
  s3: S3Client,
  place: S3Location,
  own: RunLease,
  replaced: string | undefined,
): Promise<LeaseWrite> {
  const object = {
    ...{ Bucket: place.bucket, Key: place.key, ContentType: 'application/json' },
    Body: Buffer.from(JSON.stringify(own)),
  };
  const condition = replaced === undefined ? { IfNoneMatch: '*' as const } : { IfMatch: replaced };
  const etag = await putIf(s3, object, condition);
  if (etag !== undefined) return { written: true, etag };
  const found = await readLease(s3, place);
  return found?.lease && isSame(found.lease, own)
    ? { written: true, etag: found.etag }
    : { written: false, found };
}

function isSame(one: RunLease, other: RunLease): boolean {
  return isHeldBy(one, other) && one.returned === other.returned && one.write === other.write;
}

/** Whether two leases are of one execution, or of one job of one start. */
export function isHeldBy(lease: RunLease, { execution, job }: Omit<RunLease, 'returned'>): boolean {
  if (job) return lease.job?.start === job.start && lease.job.name === job.name;
  return execution !== undefined && lease.execution === execution;
}

/** Others that are faster, one after another. */
const MAX_TRIES = 5;

/**
 * Takes a lease, also one that is free or was deleted meanwhile.
 * @param isFree whether one that is there may be taken over
 * @returns what is there, if it is not free or others were faster each time
 */
export async function takeLease(
  s3: S3Client,
  place: S3Location,
  own: RunLease,
  isFree: (found: FoundLease) => boolean | Promise<boolean>,
): Promise<LeaseWrite> {
  let taken = await writeLease(s3, place, own, undefined);
  for (let tries = 1; !taken.written && tries <= MAX_TRIES; tries++) {
    const { found } = taken;
    if (found && !(await isFree(found))) break;
    taken = await writeLease(s3, place, own, found?.etag);
  }
  return taken;
}
