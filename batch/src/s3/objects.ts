/** Reads single objects of S3. */
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, type GetObjectCommandOutput, type S3Client } from '@aws-sdk/client-s3';
import { BatchError } from '../errors.ts';
import { formatS3Uri, type S3Location } from '../s3-uri.ts';
import { httpStatusOf, isAbsent, isBrokenConnection } from './errors.ts';
import { listPage, type S3Object } from './listing.ts';
import { withoutLength } from './not-s3.ts';
import { attempts } from './patient-retries.ts';

/** The object at a key; undefined if there is none. It takes leave to list only: HEAD would answer 403 for both. */
export async function findObject(s3: S3Client, place: S3Location): Promise<S3Object | undefined> {
  const { objects } = await listPage(s3, place, { maxKeys: 1 });
  const [first] = objects;
  return first?.key === place.key ? first : undefined;
}

/** Reads an object as text. */
export async function readText(s3: S3Client, place: S3Location): Promise<string> {
  return new TextDecoder().decode(await readBytes(s3, place));
}

/**
 * Reads an object as bytes.
 * @throws BatchError OBJECT_TOO_LARGE above `maxBytes`, as it may have grown since it was listed
 */
export async function readBytes(
  s3: S3Client,
  place: S3Location,
  maxBytes?: number,
): Promise<Uint8Array> {
  return (await receive(s3, place, undefined, maxBytes)).bytes;
}

/** Bytes that S3 has sent, and what it said of them. */
export interface Received {
  readonly bytes: Uint8Array;
  /** Of the whole object. */
  readonly ETag?: string | undefined;
  /** Milliseconds since 1970, by S3's clock. */
  readonly modified: number;
  /** Such as `bytes 0-9/120`, if a range was asked for. */
  readonly ContentRange?: string | undefined;
}

const FIRST_WAIT = 50;

/**
 * Reads an object, again where its connection breaks: the SDK has handed the body over by then.
 * @param Range such as `bytes=0-9`; default: the whole object
 * @throws BatchError OBJECT_TOO_LARGE, OBJECT_WITHOUT_LENGTH
 */
export async function receive(
  s3: S3Client,
  place: S3Location,
  Range?: string,
  maxBytes?: number,
): Promise<Received> {
  const { bucket, key } = place;
  const most = attempts();
  for (let tries = 1; ; tries++) {
    // Up to here the SDK has tried again.
    const answer = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key, Range }));
    try {
      const body = boundedBody(answer, place, maxBytes);
      const bytes = (await body?.transformToByteArray()) ?? new Uint8Array();
      const { ETag, ContentRange, LastModified } = answer;
      return { bytes, ETag, ContentRange, modified: LastModified?.getTime() ?? 0 };
    } catch (error) {
      if (!isBrokenConnection(error) || tries >= most) throw error;
      await sleep(FIRST_WAIT * 2 ** tries);
    }
  }
}

/** Tries to read what is deleted and written again. */
const READS = 3;

/** Reads an object; undefined if there is none, also if it is deleted between the look and the read. */
export async function receiveIfThere(
  s3: S3Client,
  place: S3Location,
): Promise<Received | undefined> {
  for (let tries = 1; ; tries++) {
    const object = await findObject(s3, place);
    if (!object) return undefined;
    try {
      return await receive(s3, place);
    } catch (error) {
      // Who may list some prefixes alone gets 403 for a missing object.
      const mayBeGone = isAbsent(error) || httpStatusOf(error) === 403;
      if (!mayBeGone || tries >= READS) throw error;
    }
  }
}

/**
 * Opens an object as a stream.
 * @throws BatchError OBJECT_WITHOUT_LENGTH
 */
export async function openObject(s3: S3Client, place: S3Location): Promise<Readable> {
  const { bucket, key } = place;
  const answer = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  return boundedBody(answer, place) as Readable;
}

/** The body of an answer that says how long it is: HTTP then ends it there. Without a length it might never end. */
function boundedBody(
  { Body, ContentLength }: GetObjectCommandOutput,
  place: S3Location,
  maxBytes = Number.POSITIVE_INFINITY,
): GetObjectCommandOutput['Body'] {
  if (ContentLength !== undefined && ContentLength <= maxBytes) return Body;
  (Body as Readable | undefined)?.destroy();
  const uri = formatS3Uri(place);
  throw ContentLength === undefined
    ? new BatchError('OBJECT_WITHOUT_LENGTH', withoutLength(uri))
    : new BatchError(
        'OBJECT_TOO_LARGE',
        `${uri} has ${ContentLength} bytes, and at most ${maxBytes} are read. Leave it out, or raise SAGEMAKER_TFS_MAX_REQUEST_BYTES.`,
      );
}
