/** The lease of outputs as it lies in S3, written on conditions alone. */
import { PutObjectCommand } from '@aws-sdk/client-s3';
import {
  asDirectory,
  type LeaseJob,
  parseRunLease,
  parseS3Uri,
  RUN_LEASE,
  RUNS_FOLDER,
  type RunLease,
  type S3Location,
} from '@sagemaker-tfs/batch';
import { findObject, receive } from '@sagemaker-tfs/batch/s3';
import type { AwsClients } from './clients.ts';

type S3 = AwsClients['s3'];

/** What lies at the place of a lease. */
export interface FoundLease {
  /** Undefined for a file that is no lease; it keeps nobody out. */
  readonly lease: RunLease | undefined;
  readonly etag: string;
  /** Milliseconds since 1970, by S3's clock. */
  readonly modified: number;
}

/** Where the lease of outputs lies. */
export function leasePlace(outputUri: string): S3Location {
  const { bucket, key } = asDirectory(parseS3Uri(outputUri));
  return { bucket, key: `${key}${RUNS_FOLDER}${RUN_LEASE}` };
}

/** Reads a lease; undefined if there is none. */
export async function readLease(s3: S3, place: S3Location): Promise<FoundLease | undefined> {
  const object = await findObject(s3, place);
  if (!object) return undefined;
  const { bytes, ETag: etag = '' } = await receive(s3, place);
  const lease = parseRunLease(new TextDecoder().decode(bytes));
  return { lease, etag, modified: object.modified };
}

/** What a job's start writes. */
interface JobLease {
  readonly job: LeaseJob;
  readonly returned: boolean;
}

/**
 * Writes a lease if there is none yet, or in place of the one with this ETag.
 * @returns its ETag; undefined if another one is there
 */
export async function writeLease(
  s3: S3,
  place: S3Location,
  own: JobLease,
  replaced: string | undefined,
): Promise<string | undefined> {
  const written = await putIf(s3, place, JSON.stringify(own), replaced);
  if (written !== undefined) return written;
  // The answer of an own write may have been lost, and the SDK has sent it again.
  const { lease, etag } = (await readLease(s3, place)) ?? {};
  const { job, returned } = lease ?? {};
  const isOwn = job?.start === own.job.start && job.name === own.job.name;
  return isOwn && returned === own.returned ? etag : undefined;
}

/** Answers of S3 for a condition that does not hold; a conflict is with a write at the same moment. */
const NOT_WRITTEN: ReadonlySet<string> = new Set([
  'PreconditionFailed',
  'ConditionalRequestConflict',
  'NoSuchKey',
]);

/** @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html */
async function putIf(
  s3: S3,
  { bucket: Bucket, key: Key }: S3Location,
  text: string,
  replaced: string | undefined,
): Promise<string | undefined> {
  const condition = replaced === undefined ? { IfNoneMatch: '*' } : { IfMatch: replaced };
  const [Body, ContentType] = [Buffer.from(text), 'application/json'];
  try {
    const put = new PutObjectCommand({ Bucket, Key, Body, ContentType, ...condition });
    return (await s3.send(put)).ETag ?? '';
  } catch (error) {
    if (NOT_WRITTEN.has((error as Error).name)) return undefined;
    throw error;
  }
}
