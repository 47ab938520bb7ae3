/** Fetches models from S3: an archive or Keras file as an object, or all objects below a prefix. */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { withoutLength } from '@sagemaker-tfs/batch/not-s3';
import { parseS3Uri } from '@sagemaker-tfs/batch/s3-uri';
import { messageOf, PackagingError, throwIfAborted } from '../errors.ts';
import type { OpenOptions } from './open-options.ts';

/** True for `s3://BUCKET/KEY`. */
export function isS3Uri(source: string): boolean {
  return source.startsWith('s3://');
}

/**
 * Fetches what the URI names into `directory` and returns the local path: a file if the key is an object,
 * a directory where it is a prefix. Credentials, region and endpoint are the AWS SDK's usual ones
 * (`AWS_ENDPOINT_URL`, `AWS_ENDPOINT_URL_S3`, profiles).
 * @throws PackagingError S3_FAILED naming the URI; BatchError S3_URI_INVALID
 */
export async function fetchFromS3(
  uri: string,
  directory: string,
  { signal, onStep }: OpenOptions,
): Promise<string> {
  const { bucket, key } = parseS3Uri(uri);
  onStep?.(`fetching ${uri}`);
  const { S3Client } = await import('@aws-sdk/client-s3');
  const endpoint = process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL;
  const client = new S3Client({ followRegionRedirects: true, forcePathStyle: Boolean(endpoint) });
  try {
    const target = join(directory, safeName(basename(key) || bucket, uri));
    if (key !== '' && !key.endsWith('/') && (await isObject(client, bucket, key))) {
      await fetchObject(client, { bucket, key, target, signal });
      return target;
    }
    await fetchPrefix(client, { uri, bucket, key, target, signal });
    return target;
  } catch (error) {
    if (error instanceof PackagingError) throw error;
    throw new PackagingError(
      'S3_FAILED',
      `${uri} cannot be read: ${messageOf(error)}. Check the name, your AWS credentials and region, and that you may s3:GetObject and s3:ListBucket.`,
      { cause: error },
    );
  } finally {
    client.destroy();
  }
}

interface Fetch {
  readonly bucket: string;
  readonly key: string;
  readonly target: string;
  readonly signal: AbortSignal | undefined;
}

async function isObject(client: S3Client, bucket: string, key: string): Promise<boolean> {
  const { HeadObjectCommand } = await import('@aws-sdk/client-s3');
  try {
    await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
    return true;
  } catch (error) {
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata;
    if (status?.httpStatusCode === 404) return false;
    throw error;
  }
}

async function fetchObject(client: S3Client, { bucket, key, target, signal }: Fetch) {
  throwIfAborted(signal);
  const { GetObjectCommand } = await import('@aws-sdk/client-s3');
  const request = new GetObjectCommand({ Bucket: bucket, Key: key });
  const { Body, ContentLength } = await client.send(request);
  if (!(Body instanceof Readable))
    throw new PackagingError('S3_FAILED', `s3://${bucket}/${key} came without a body. Try again.`);
  if (ContentLength === undefined) {
    // It might never end.
    Body.destroy();
    throw new PackagingError('S3_FAILED', withoutLength(`s3://${bucket}/${key}`));
  }
  await mkdir(dirname(target), { recursive: true });
  await pipeline(Body, createWriteStream(target), signal ? { signal } : {});
}

async function fetchPrefix(client: S3Client, fetch: Fetch & { uri: string }): Promise<void> {
  const { paginateListObjectsV2 } = await import('@aws-sdk/client-s3');
  const { bucket, uri } = fetch;
  const prefix = fetch.key === '' || fetch.key.endsWith('/') ? fetch.key : `${fetch.key}/`;
  let found = 0;
  for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix })) {
    for (const { Key } of page.Contents ?? []) {
      if (Key === undefined || Key.endsWith('/')) continue;
      found += 1;
      const path = safeName(Key.slice(prefix.length), uri);
      await fetchObject(client, { ...fetch, key: Key, target: join(fetch.target, path) });
    }
  }
  if (found > 0) return;
  throw new PackagingError(
    'S3_FAILED',
    `${uri} does not exist, neither as an object nor as a prefix. Check the name.`,
  );
}

/** Keys may hold anything; paths must stay below their folder. */
function safeName(key: string, uri: string): string {
  const parts = key.split('/');
  if (key !== '' && !parts.some((part) => part === '' || part === '.' || part === '..')) return key;
  throw new PackagingError(
    'UNSAFE_PATH',
    `${uri}: the key '${key}' cannot be a file name. Copy the object to another key.`,
  );
}
