/** Reads single objects of S3. */
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { S3Location } from '../s3-uri.ts';
import { isBrokenConnection } from './errors.ts';
import { listPage, type S3Object } from './listing.ts';
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

/** Reads an object as bytes. */
export async function readBytes(s3: S3Client, place: S3Location): Promise<Uint8Array> {
  return (await receive(s3, place)).bytes;
}

/** Bytes that S3 has sent, and what it said of them. */
export interface Received {
  readonly bytes: Uint8Array;
  /** Of the whole object. */
  readonly ETag?: string | undefined;
  /** Such as `bytes 0-9/120`, if a range was asked for. */
  readonly ContentRange?: string | undefined;
}

const FIRST_WAIT = 50;

/**
 * Reads an object, again where its connection breaks: the SDK has handed the body over by then.
 * @param Range such as `bytes=0-9`; default: the whole object
 */
export async function receive(
  s3: S3Client,
  { bucket, key }: S3Location,
  Range?: string,
): Promise<Received> {
  const most = attempts();
  for (let tries = 1; ; tries++) {
    try {
      const { Body, ETag, ContentRange } = await s3.send(
        new GetObjectCommand({ Bucket: bucket, Key: key, Range }),
      );
      const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
      return { bytes, ETag, ContentRange };
    } catch (error) {
      if (!isBrokenConnection(error) || tries >= most) throw error;
      await sleep(FIRST_WAIT * 2 ** tries);
    }
  }
}

/** Opens an object as a stream. */
export async function openObject(s3: S3Client, place: S3Location): Promise<Readable> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: place.bucket, Key: place.key }));
  return Body as Readable;
}
