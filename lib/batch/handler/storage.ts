/** What the shard function reads from S3 and writes there, beyond single objects and listings. */
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import {
  formatManifest,
  formatS3Uri,
  type ManifestStream,
  type S3Location,
  streamManifest,
} from '@sagemaker-tfs/batch';
import { findObject, putIf, readText, receive, type WriteCondition } from '@sagemaker-tfs/batch/s3';
import type * as z from 'zod';

/** Reads JSON of a schema. */
export async function readJson<Schema extends z.ZodType>(
  s3: S3Client,
  place: S3Location,
  schema: Schema,
): Promise<z.output<Schema>> {
  return schema.parse(JSON.parse(await readText(s3, place)));
}

/** The same; undefined if there is no such object. */
export async function findJson<Schema extends z.ZodType>(
  s3: S3Client,
  place: S3Location,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  return (await findObject(s3, place)) && readJson(s3, place, schema);
}

/** Reads SageMaker's manifest, key by key. @throws BatchError MANIFEST_INVALID */
export function readManifest(s3: S3Client, place: S3Location): Promise<ManifestStream> {
  return streamManifest(readRanges(s3, place), formatS3Uri(place));
}

/** Writes SageMaker's manifest. */
export function writeManifest(
  s3: S3Client,
  place: S3Location,
  prefix: string,
  keys: readonly string[],
): Promise<void> {
  const body = Buffer.from(formatManifest(prefix, keys));
  return writeObject(s3, place, body, 'application/json');
}

/** Bytes of one range. */
const RANGE = 128 * 1024;

/** Reads an object range by range, each when it is asked for. */
export async function* readRanges(s3: S3Client, place: S3Location): AsyncGenerator<Uint8Array> {
  let size = 1;
  for (let start = 0; start < size; start += RANGE) {
    const { bytes, ContentRange } = await receive(s3, place, `bytes=${start}-${start + RANGE - 1}`);
    size = Number(ContentRange?.split('/')[1]);
    yield bytes;
  }
}

/** Writes a JSON object. */
export function writeJson(s3: S3Client, place: S3Location, value: unknown): Promise<void> {
  return writeObject(s3, place, Buffer.from(JSON.stringify(value)), 'application/json');
}

/** Writes an object. */
export async function writeObject(
  s3: S3Client,
  { bucket, key }: S3Location,
  Body: Uint8Array,
  ContentType = 'application/octet-stream',
): Promise<void> {
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body, ContentType }));
}

/** Writes JSON, unless the condition does not hold. @returns whether it was written */
export async function writeIf(
  s3: S3Client,
  { bucket, key }: S3Location,
  value: unknown,
  condition: WriteCondition,
): Promise<boolean> {
  const Body = Buffer.from(JSON.stringify(value));
  const object = { Bucket: bucket, Key: key, Body, ContentType: 'application/json' };
  return (await putIf(s3, object, condition)) !== undefined;
}
