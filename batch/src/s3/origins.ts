/** Origins as they lie in S3, beside the outputs. */
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { Existing } from '../existing.ts';
import { nextOrigin, type Origin, originKey, parseOrigin } from '../origin.ts';
import { asDirectory, parseS3Uri, type S3Location } from '../s3-uri.ts';
import { findObject, readText } from './objects.ts';

/** What is written down. */
interface FoundOrigin {
  /** Undefined if it cannot be read, which counts as another origin. */
  readonly origin: Origin | undefined;
  /** Outputs that are not older are of it, milliseconds since 1970 by S3's clock. */
  readonly since: number;
}

/** Outputs that an origin claims. */
interface ClaimedOrigin {
  /** Outputs that are not older are of this origin, milliseconds since 1970 by S3's clock. */
  readonly since: number;
  /** What was written down before. */
  readonly before: FoundOrigin | undefined;
  /** False if it was the same. */
  readonly isNew: boolean;
}

/** Where the origin of outputs lies. @param root what the keys of the inputs are relative to */
export function originPlace(outputUri: string, root: string): S3Location {
  const { bucket, key } = asDirectory(parseS3Uri(outputUri));
  return { bucket, key: key + originKey(root) };
}

/** Reads an origin; undefined if nothing is written down. */
export async function readOrigin(
  s3: S3Client,
  place: S3Location,
): Promise<FoundOrigin | undefined> {
  const object = await findObject(s3, place);
  if (!object) return undefined;
  const origin = parseOrigin(await readText(s3, place));
  return { origin, since: origin?.since ?? object.modified };
}

/** Writes an origin down. */
export async function writeOrigin(s3: S3Client, place: S3Location, origin: Origin): Promise<void> {
  await s3.send(
    new PutObjectCommand({
      Bucket: place.bucket,
      Key: place.key,
      Body: Buffer.from(JSON.stringify(origin)),
      ContentType: 'application/json',
    }),
  );
}

/** Writes down what makes the outputs from now on, unless it is what made them before. */
export async function claimOrigin(
  s3: S3Client,
  place: S3Location,
  own: Origin,
  existing: Existing,
): Promise<ClaimedOrigin> {
  const before = await readOrigin(s3, place);
  const next = nextOrigin(before?.origin, own, existing);
  if (!next) return { since: before?.since ?? 0, before, isNew: false };
  await writeOrigin(s3, place, next);
  const { since = 0 } = (await readOrigin(s3, place)) ?? {};
  return { since, before, isNew: true };
}
