/** The few S3 calls that the shard function makes. */
import type { Readable } from 'node:stream';
import {
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import {
  formatManifest,
  formatS3Uri,
  type InputList,
  parseManifest,
  type S3Location,
} from '@sagemaker-tfs/batch';

/** A page of keys. */
export interface KeyPage {
  readonly keys: readonly string[];
  /** Gives the next page; undefined after the last. */
  readonly token?: string;
}

/** One page of the keys below a prefix, in S3's order (UTF-8 bytes). */
export async function listPage(
  s3: S3Client,
  { bucket, key }: S3Location,
  options: { token?: string | undefined; startAfter?: string | undefined } = {},
): Promise<KeyPage> {
  const { Contents = [], NextContinuationToken } = await s3.send(
    new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: key,
      // XML cannot hold every character that a key can.
      EncodingType: 'url',
      ...(options.token && { ContinuationToken: options.token }),
      ...(options.startAfter && { StartAfter: options.startAfter }),
    }),
  );
  const keys = Contents.map(({ Key = '' }) => decodeURIComponent(Key.replaceAll('+', ' ')));
  return { keys, ...(NextContinuationToken && { token: NextContinuationToken }) };
}

/** Every key below a prefix. */
export async function* listKeys(s3: S3Client, place: S3Location): AsyncGenerator<string> {
  let token: string | undefined;
  do {
    const page = await listPage(s3, place, { token });
    yield* page.keys;
    token = page.token;
  } while (token);
}

/** Reads an object as text. */
export async function readText(s3: S3Client, { bucket, key }: S3Location): Promise<string> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  return (await Body?.transformToString()) ?? '';
}

/** Reads a JSON object. */
export async function readJson(s3: S3Client, place: S3Location): Promise<unknown> {
  return JSON.parse(await readText(s3, place));
}

/** Reads SageMaker's manifest. @throws BatchError MANIFEST_INVALID */
export async function readManifest(s3: S3Client, place: S3Location): Promise<InputList> {
  return parseManifest(await readText(s3, place), formatS3Uri(place));
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

/** Opens an object as a stream. */
export async function openObject(s3: S3Client, { bucket, key }: S3Location): Promise<Readable> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  return Body as Readable;
}

/** Bytes of one range. */
const RANGE = 128 * 1024;

/** Reads an object range by range, each when it is asked for. */
export async function* readRanges(
  s3: S3Client,
  { bucket, key }: S3Location,
): AsyncGenerator<Uint8Array> {
  let size = 1;
  for (let start = 0; start < size; start += RANGE) {
    const Range = `bytes=${start}-${start + RANGE - 1}`;
    const { Body, ContentRange } = await s3.send(
      new GetObjectCommand({ Bucket: bucket, Key: key, Range }),
    );
    size = Number(ContentRange?.split('/')[1]);
    if (Body) yield await Body.transformToByteArray();
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
