/** `s3://bucket/key` in two, and back. */
import { BatchError } from './errors.ts';

/** A bucket's name, as a part of regular expressions. */
export const BUCKET = '[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]';

/** A place in S3. */
export interface S3Location {
  readonly bucket: string;
  readonly key: string;
}

/**
 * Reads an S3 URI; the key is empty for `s3://bucket` and `s3://bucket/`.
 * @throws BatchError S3_URI_INVALID
 */
export function parseS3Uri(uri: string): S3Location {
  const match = /^s3:\/\/([^/]+)(?:\/(.*))?$/s.exec(uri);
  if (!match) {
    throw new BatchError('S3_URI_INVALID', `'${uri}' is not in S3. Write s3://BUCKET/KEY.`);
  }
  return { bucket: match[1] ?? '', key: match[2] ?? '' };
}

/** The text of a place. */
export function formatS3Uri({ bucket, key }: S3Location): string {
  return `s3://${bucket}/${key}`;
}

/** A prefix that ends in `/`, as SageMaker reads S3OutputPath. */
export function asDirectory({ bucket, key }: S3Location): S3Location {
  return { bucket, key: key === '' || key.endsWith('/') ? key : `${key}/` };
}
