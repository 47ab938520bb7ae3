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
  type ManifestStream,
  type S3Location,
  streamManifest,
} from '@sagemaker-tfs/batch';

/** An object as a listing tells it. */
export interface S3Object {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** A page of objects. */
export interface Page {
  readonly objects: readonly S3Object[];
  /** Returns the next page; undefined after the last. */
  readonly token?: string;
}

/** One page of the objects below a prefix, in S3's order (UTF-8 bytes). */
export async function listPage(
  s3: S3Client,
  { bucket, key }: S3Location,
  options: {
    token?: string | undefined;
    startAfter?: string | undefined;
    maxKeys?: number | undefined;
  } = {},
): Promise<Page> {
  const { Contents = [], NextContinuationToken } = await s3.send(
    new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: key,
      // XML cannot hold every character that a key can.
      EncodingType: 'url',
      ...(options.token && { ContinuationToken: options.token }),
      ...(options.startAfter && { StartAfter: options.startAfter }),
      ...(options.maxKeys && { MaxKeys: options.maxKeys }),
    }),
  );
  const objects = Contents.map(({ Key = '', Size = 0, LastModified }) => ({
    key: decodeURIComponent(Key.replaceAll('+', ' ')),
    size: Size,
    modified: LastModified?.getTime() ?? 0,
  }));
  return { objects, ...(NextContinuationToken && { token: NextContinuationToken }) };
}

/** Every key below a prefix. */
export async function* listKeys(s3: S3Client, place: S3Location): AsyncGenerator<string> {
  let token: string | undefined;
  do {
    const page = await listPage(s3, place, { token });
    for (const { key } of page.objects) yield key;
    token = page.token;
  } while (token);
}

/** The object at a key; undefined if there is none. It takes leave to list only: HEAD would answer 403 for both. */
export async function findObject(s3: S3Client, place: S3Location): Promise<S3Object | undefined> {
  const { objects } = await listPage(s3, place, { maxKeys: 1 });
  const [first] = objects;
  return first?.key === place.key ? first : undefined;
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

/** On what condition an object is written. */
export type WriteCondition = { readonly IfNoneMatch: '*' } | { readonly IfMatch: string };

/** Writes an object. @throws PreconditionFailed where the condition does not hold */
export async function writeObject(
  s3: S3Client,
  { bucket, key }: S3Location,
  Body: Uint8Array,
  ContentType = 'application/octet-stream',
  condition?: WriteCondition,
): Promise<void> {
  await s3.send(
    new PutObjectCommand({ Bucket: bucket, Key: key, Body, ContentType, ...condition }),
  );
}

/** Writes an object, unless the condition does not hold. @returns whether it was written */
export async function writeIf(
  s3: S3Client,
  place: S3Location,
  value: unknown,
  condition: WriteCondition,
): Promise<boolean> {
  try {
    const body = Buffer.from(JSON.stringify(value));
    await writeObject(s3, place, body, 'application/json', condition);
    return true;
  } catch (error) {
    // 409: another one is being written at this moment.
    if (['PreconditionFailed', 'ConditionalRequestConflict'].includes((error as Error).name)) {
      return false;
    }
    throw error;
  }
}
