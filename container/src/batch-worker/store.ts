/** What a worker reads from S3 and writes there. */
import {
  DeleteObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { asDirectory, parseS3Uri, type S3Location } from '@sagemaker-tfs/batch';
import {
  boundedConnections,
  forcePathStyle,
  guarded,
  isAbsent,
  listObjects,
  patientRetries,
  putIf,
  readBytes,
} from '@sagemaker-tfs/batch/s3';

/** Below one prefix; keys are relative to it. */
export interface Store {
  /** Names this process. */
  readonly writer: string;
  /** @returns undefined if it is not there */
  read(key: string): Promise<Buffer | undefined>;
  write(key: string, body: Uint8Array, contentType: string): Promise<void>;
  /**
   * Writes what must not be there yet.
   * @returns false if somebody else has written it; the SDK's second try after a lost answer is no one else
   */
  create(key: string, body: Uint8Array, contentType: string): Promise<boolean>;
  remove(key: string): Promise<void>;
  /**
   * Objects whose keys start so, sorted by key; the times are S3's, milliseconds since 1970.
   * @param after lists those whose keys come after this one. Default: all
   */
  list(
    start: string,
    after?: string,
  ): Promise<{ readonly key: string; readonly modified: number }[]>;
}

/** Connections beside those that read inputs. */
const OTHERS = 8;

/** A client that reads many objects at once. Region, credentials and `AWS_ENDPOINT_URL` come from the environment. */
export function s3Client(reads: number): S3Client {
  return guarded(
    new S3Client({
      forcePathStyle: forcePathStyle(),
      retryStrategy: patientRetries(),
      requestHandler: boundedConnections(reads + OTHERS),
    }),
  );
}

/** Reads an object, again where its connection breaks. @returns undefined if it is not there */
export async function readObject(
  s3: S3Client,
  place: S3Location,
  maxBytes?: number,
): Promise<Buffer | undefined> {
  try {
    const bytes = await readBytes(s3, place, maxBytes);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/**
 * @param writer names this process, so that it knows its own objects again
 * @param kmsKeyId encrypts what is written; default: what the bucket is set to
 */
export function storeBelow(s3: S3Client, uri: string, writer: string, kmsKeyId?: string): Store {
  const place = asDirectory(parseS3Uri(uri));
  const at = (key: string): S3Location => ({ bucket: place.bucket, key: place.key + key });
  const named = (key: string) => ({ Bucket: place.bucket, Key: place.key + key });
  const put = (key: string, body: Uint8Array, contentType: string) => ({
    ...named(key),
    Body: body,
    ContentLength: body.byteLength,
    ContentType: contentType,
    Metadata: { writer },
    ...(kmsKeyId && { ServerSideEncryption: 'aws:kms' as const, SSEKMSKeyId: kmsKeyId }),
  });
  return {
    writer,
    read: (key) => readObject(s3, at(key)),
    async write(key, body, contentType) {
      await s3.send(new PutObjectCommand(put(key, body, contentType)));
    },
    async create(key, body, contentType) {
      const object = put(key, body, contentType);
      if ((await putIf(s3, object, { IfNoneMatch: '*' })) !== undefined) return true;
      const there = await s3.send(new HeadObjectCommand(named(key)));
      return there.Metadata?.writer === writer;
    },
    async remove(key) {
      await s3.send(new DeleteObjectCommand(named(key)));
    },
    async list(start, after) {
      const found: { key: string; modified: number }[] = [];
      const listing = listObjects(s3, at(start), after === undefined ? undefined : at(after).key);
      for await (const { key, modified } of listing)
        found.push({ key: key.slice(place.key.length), modified });
      return found;
    },
  };
}
