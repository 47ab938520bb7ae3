/** Reads single objects of S3. */
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { S3Location } from '../s3-uri.ts';
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
  const { Body } = await get(s3, place);
  return (await Body?.transformToString()) ?? '';
}

/** Connections that break while a body comes, which the SDK has handed over by then. */
const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE']);
const FIRST_WAIT = 50;

/** Reads an object as bytes, again where its connection breaks. */
export async function readBytes(s3: S3Client, place: S3Location): Promise<Uint8Array> {
  const most = attempts();
  for (let tries = 1; ; tries++) {
    try {
      const { Body } = await get(s3, place);
      return (await Body?.transformToByteArray()) ?? new Uint8Array();
    } catch (error) {
      const { code = '' } = error as { code?: string };
      if (!BROKEN.has(code) || tries >= most) throw error;
      await sleep(FIRST_WAIT * 2 ** tries);
    }
  }
}

/** Opens an object as a stream. */
export async function openObject(s3: S3Client, place: S3Location): Promise<Readable> {
  const { Body } = await get(s3, place);
  return Body as Readable;
}

function get(s3: S3Client, { bucket, key }: S3Location) {
  return s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
}
