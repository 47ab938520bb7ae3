/** Listings of S3 as streams of objects, page by page. */
import { ListObjectsV2Command, type ListObjectsV2Output, type S3Client } from '@aws-sdk/client-s3';
import { BatchError } from '../errors.ts';
import { compareKeys } from '../key-order.ts';
import { formatS3Uri, type S3Location } from '../s3-uri.ts';
import { NOT_S3 } from './not-s3.ts';

/** One object of a listing. */
export interface S3Object {
  readonly key: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** Where a listing starts and how much one request brings. */
interface PageOptions {
  /** Puts keys with a `/` after the prefix together, as folders. */
  readonly folders?: boolean;
  readonly startAfter?: string | undefined;
  readonly token?: string | undefined;
  readonly maxKeys?: number;
}

/** One page of a listing. */
interface Page {
  readonly objects: readonly S3Object[];
  /** Their prefixes, each with a `/` at its end. */
  readonly folders: readonly string[];
  readonly token?: string;
}

/** One page of the objects below a prefix, sorted by the bytes of their keys. */
export async function listPage(
  s3: S3Client,
  { bucket, key }: S3Location,
  { folders, startAfter, token, maxKeys }: PageOptions = {},
): Promise<Page> {
  const page: ListObjectsV2Output = await s3.send(
    new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: key,
      // XML cannot hold every character that a key can.
      EncodingType: 'url',
      ...(folders && { Delimiter: '/' }),
      ...(startAfter && { StartAfter: startAfter }),
      ...(token && { ContinuationToken: token }),
      ...(maxKeys && { MaxKeys: maxKeys }),
    }),
  );
  const objects = (page.Contents ?? []).map(({ Key = '', Size = 0, LastModified }) => ({
    key: decoded(Key),
    size: Size,
    modified: LastModified?.getTime() ?? 0,
  }));
  return {
    objects,
    folders: (page.CommonPrefixes ?? []).map(({ Prefix = '' }) => decoded(Prefix)),
    ...(page.NextContinuationToken && { token: page.NextContinuationToken }),
  };
}

/** Most keys have nothing to decode, and there are millions. */
function decoded(key: string): string {
  return /[+%]/.test(key) ? decodeURIComponent(key.replaceAll('+', ' ')) : key;
}

/**
 * Every page below a prefix; the next one is on its way while one is used.
 * @param options `token` is where the first page begins
 * @throws BatchError LISTING_INVALID for a listing that would have no end, or whose keys are not sorted
 */
export async function* listPages(
  s3: S3Client,
  place: S3Location,
  { startAfter, ...options }: PageOptions = {},
): AsyncGenerator<Page> {
  let page = await listPage(s3, place, { ...options, startAfter });
  let last: string | undefined;
  for (;;) {
    last = lastKey(page, last, place);
    const { token } = page;
    const next = token === undefined ? undefined : listPage(s3, place, { ...options, token });
    // Awaited below, unless the caller stops before.
    next?.catch(() => undefined);
    yield page;
    if (!next) return;
    page = await next;
    if (page.token === token) throw invalid(place, 'has the same continuation token again');
  }
}

/** Every object below a prefix. @throws BatchError as {@link listPages} */
export async function* listObjects(
  s3: S3Client,
  place: S3Location,
  startAfter?: string,
): AsyncGenerator<S3Object> {
  for await (const { objects } of listPages(s3, place, { startAfter })) yield* objects;
}

/** Merges of inputs and outputs rest on the order. @returns the last key so far */
function lastKey(
  { objects }: Page,
  before: string | undefined,
  place: S3Location,
): string | undefined {
  let last = before;
  for (const { key } of objects) {
    if (last !== undefined && compareKeys(key, last) <= 0) {
      throw invalid(place, `has ${JSON.stringify(key)} behind ${JSON.stringify(last)}`);
    }
    last = key;
  }
  return last;
}

function invalid(place: S3Location, what: string): BatchError {
  return new BatchError(
    'LISTING_INVALID',
    `the listing of ${formatS3Uri(place)} ${what}. A general purpose bucket of S3 sorts its keys by their bytes. Do not use a directory bucket, which does not. ${NOT_S3}`,
  );
}
